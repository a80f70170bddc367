# One result of tallybench from two, of the same job on two machines: the first's, then the second's targets, rows and
# trials. What is said of the machine is the first's; each target of the second has its own.
# Use: jq -n -f lab-merge.jq FIRST SECOND

[inputs] as [$a, $b]
| ($a.configurations | length) as $shift
| if $a.seed != $b.seed or $a.corpora != $b.corpora then error("not of the same job") else . end
| $a
| .arguments.targets += $b.arguments.targets
| .targets += [$b.targets[] | . + {environment: $b.environment}]
| .configurations += [$b.configurations[] | if .twin_of == null then . else .twin_of += $shift end]
| .block_order = [range([$a.block_order, $b.block_order] | map(length) | max)
    | $a.block_order[.] + [($b.block_order[.] // [])[] + $shift]]
| .trials += [$b.trials[] | .configuration += $shift]
