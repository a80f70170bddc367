#!/usr/bin/env python3
"""validate.py SCHEMA.json RESULT.json…: whether the results are as the schema says; 77 without python3-jsonschema."""
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0
for path in sys.argv[2:]:
    for error in validator.iter_errors(json.load(open(path))):
        print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
        wrong = 1
sys.exit(wrong)
