/* Text and attachments of mails: words by Zipf's law from a fixed list, base64 and 8-bit blocks of
 * random bytes. */
#ifndef TALLY_CORPUS_TEXT_H
#define TALLY_CORPUS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "statistics/random.h"

#define WORD_BYTES 16 /* the longest word is shorter */
#define WORD_SLOTS 65536

struct vocabulary {
    uint32_t count;
    uint8_t (*words)[WORD_BYTES];
    uint8_t *lengths;
    uint16_t slots[WORD_SLOTS];  /* a uniform 16-bit number picks a word with its frequency */
    uint16_t base64_pairs[4096]; /* two digits each, the first in the low byte */
};

/* 0; -ENOMEM. */
int vocabulary_init(struct vocabulary *vocabulary);
void vocabulary_free(struct vocabulary *vocabulary);

/* Room that text_put_* may write beyond what they add. */
#define TEXT_SLACK_BYTES 32

/* One word, without a blank. Returns the bytes added. */
size_t text_put_word(const struct vocabulary *vocabulary, struct random_stream *random,
                     uint8_t *to);

/* Sentences and paragraphs in lines of about 72 characters, `length` bytes in all, ending in LF (if
 * length > 0). */
void text_put_prose(const struct vocabulary *vocabulary, struct random_stream *random, uint8_t *to,
                    size_t length);

/* `length` base64 digits without a line feed. */
void text_put_digits(const struct vocabulary *vocabulary, struct random_stream *random, uint8_t *to,
                     size_t length);

#define BASE64_LINE_BYTES 77 /* 76 digits and LF: RFC 2045, 6.8 */

/* `lines` full lines of base64. Returns the bytes added. */
size_t text_put_base64(const struct vocabulary *vocabulary, struct random_stream *random,
                       uint8_t *to, size_t lines);

#define EIGHT_BIT_LINE_BYTES 512 /* within the 998 of RFC 5322, 2.1.1 */

/* `lines` lines of random bytes without NUL, CR and LF (8-bit data of RFC 2045, 2.8). Returns the
 * bytes added. */
size_t text_put_eight_bit(struct random_stream *random, uint8_t *to, size_t lines);

#endif
