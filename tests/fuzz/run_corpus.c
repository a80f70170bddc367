/*
 * Runs a fuzz target over the files of the directories given, each also cut and with bytes changed, with and without right
 * checksums: the ordinary test of the corpus.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define LARGEST (1u << 20)
#define VARIANTS 200

static void run_variants(const uint8_t *bytes, size_t size, uint32_t seed)
{
    uint8_t *copy = malloc(size);

    if (!copy)
        abort();
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        size_t length = size;

        memcpy(copy, bytes, size);
        for (unsigned i = 0; i <= variant % 8 && size; i++) {
            seed = seed * 1664525 + 1013904223; /* Numerical Recipes' linear congruential generator */
            copy[(seed >> 8) % size] ^= (uint8_t)(1u << (seed & 7));
        }
        if (variant % 2)
            fuzz_fix_checksums(copy, size);
        if (variant % 3 == 0)
            length = (seed >> 4) % (size + 1);
        LLVMFuzzerTestOneInput(copy, length);
    }
    free(copy);
}

static int run_file(const char *path, uint32_t seed)
{
    static uint8_t bytes[LARGEST];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

    if (got < 0) {
        perror(path);
        return -1;
    }
    close(fd);
    LLVMFuzzerTestOneInput(bytes, (size_t)got);
    run_variants(bytes, (size_t)got, seed);
    return 0;
}

static int run_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), r = 0;

    if (count < 0) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char *full;

        if (r == 0 && entries[i]->d_type == DT_REG && asprintf(&full, "%s/%s", path, entries[i]->d_name) >= 0) {
            r = run_file(full, (uint32_t)i);
            free(full);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (run_directory(argv[i]) < 0)
            return EXIT_FAILURE;
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
