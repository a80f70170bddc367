/* Little-endian fields at any address, for formats on disk. */
#ifndef TALLY_UTIL_ENDIAN_H
#define TALLY_UTIL_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define LE_FIELD(bits)                                                                             \
    static inline uint##bits##_t load_le##bits(const void *from)                                   \
    {                                                                                              \
        uint##bits##_t value;                                                                      \
                                                                                                   \
        memcpy(&value, from, sizeof(value));                                                       \
        return le##bits##toh(value);                                                               \
    }                                                                                              \
                                                                                                   \
    static inline void store_le##bits(void *to, uint##bits##_t value)                              \
    {                                                                                              \
        value = htole##bits(value);                                                                \
        memcpy(to, &value, sizeof(value));                                                         \
    }

LE_FIELD(16)
LE_FIELD(32)
LE_FIELD(64)

#undef LE_FIELD

#endif
