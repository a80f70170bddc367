/* The running kernel's boot, to tell whether the power may have failed since an index was written. */
#ifndef TALLY_STORE_BOOT_H
#define TALLY_STORE_BOOT_H

#include <stdint.h>

/* Zero where the kernel does not say. */
void boot_id_read(uint8_t ret_id[static 16]);

#endif
