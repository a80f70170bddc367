/* Numbers as people read them, three digits and a unit. */
#ifndef TALLY_CTL_FORMAT_H
#define TALLY_CTL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* Holds any of them. */
#define FORMAT_BYTES 24

/* All digits where they fit into `width` characters, else "1.23M" (powers of 1000). */
void format_count(uint64_t count, int width, char ret_text[static FORMAT_BYTES]);

/* "0.12", "12.3", "1.23k" … (powers of 1000). */
void format_rate(double per_second, char ret_text[static FORMAT_BYTES]);

/* "512", "1.50Ki", "12.3Mi" … (powers of 1024). */
void format_bytes(uint64_t bytes, char ret_text[static FORMAT_BYTES]);

/* "0", "12ns", "1.23us", "12.3ms", "123s". */
void format_ns(double ns, char ret_text[static FORMAT_BYTES]);

/* "12%", "<1%" for what is little but not nothing. */
void format_share(double share, char ret_text[static FORMAT_BYTES]);

#endif
