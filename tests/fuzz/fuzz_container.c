/* Any bytes as a lower file: opening, reading, writing on and opening again must end, and leak or overrun nothing. */
#include <errno.h>

#include "fault.h"
#include "fuzz.h"
#include "store_model.h"

#define LOOK_BYTES (64u << 10)

static void look_around(struct backend *file)
{
    uint8_t *bytes = malloc(LOOK_BYTES);
    off_t size = 0, at;

    backend_size(file, NULL, &size);
    at = backend_seek(file, NULL, 0, SEEK_DATA);
    for (unsigned i = 0; i < 16 && at >= 0 && bytes; i++) {
        backend_pread(file, NULL, bytes, LOOK_BYTES, at);
        at = at > INT64_MAX - LOOK_BYTES ? -1 : backend_seek(file, NULL, at + LOOK_BYTES, SEEK_DATA);
    }
    if (size > 100 && bytes)
        backend_pread(file, NULL, bytes, LOOK_BYTES, size - 100);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tally_codec_choice none = {0};
    struct medium *medium = medium_create(1);
    struct backend *lower = medium_open(medium), *file;
    struct store *store = fuzz_store();

    backend_pwrite(lower, NULL, data, size, 0, false);
    backend_close(lower, NULL);
    for (unsigned pass = 0; pass < 2; pass++) {
        lower = medium_open(medium);
        if (store_file_open(store, NULL, lower, &none, false, &file) < 0) {
            backend_close(lower, NULL);
            break;
        }
        look_around(file);
        backend_pwrite(file, NULL, "written on", 10, 20000, false);
        backend_allocate(file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, 40000);
        backend_close(file, NULL);
    }
    medium_destroy(medium);
    return 0;
}
