/* Runs a fuzz target over the files given, each also cut and with bytes changed: the ordinary test of the corpus. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
        if (variant % 3 == 0)
            length = (seed >> 4) % (size + 1);
        LLVMFuzzerTestOneInput(copy, length);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[LARGEST];

    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

        if (got < 0) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
        close(fd);
        LLVMFuzzerTestOneInput(bytes, (size_t)got);
        run_variants(bytes, (size_t)got, (uint32_t)i);
    }
    return EXIT_SUCCESS;
}
