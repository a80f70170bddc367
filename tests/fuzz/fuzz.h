/* What the fuzz targets share. */
#ifndef TALLY_TESTS_FUZZ_H
#define TALLY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs: making one takes longer than most of them. Chunks of 16 KiB, no workers. */
struct store *fuzz_store(void);

/*
 * Makes the checksums right of all that looks like a frame's header, its payload or a trailer, so that changed fields get
 * past them.
 */
void fuzz_fix_checksums(uint8_t *data, size_t size);

#endif
