/* Mails as a server stores them: RFC 5322 headers and a MIME body, lines ended by LF. */
#ifndef TALLY_CORPUS_MESSAGE_H
#define TALLY_CORPUS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "corpus/text.h"

#define MESSAGE_MAX_PROSE ((size_t)16 * 1024)
#define MESSAGE_MAX_ATTACHMENT                                                                     \
    ((size_t)256 * 1024) /* as it stands in the mail, each of the two kinds */

/* With headers, and a quotation that has two characters more for each line. */
#define MESSAGE_MAX_BYTES (4 * MESSAGE_MAX_PROSE + 2 * MESSAGE_MAX_ATTACHMENT + 8192)

/* What a mail is to be made of, in bytes. */
struct message_plan {
    const char *recipient;          /* local part */
    uint32_t received;              /* seconds since 1970 */
    size_t prose;                   /* at most MESSAGE_MAX_PROSE, written exactly */
    const struct message *reply_to; /* its prose is quoted; NULL when the mail is no reply */
    size_t base64;    /* at most MESSAGE_MAX_ATTACHMENT, cut to whole lines; 0 is none */
    size_t eight_bit; /* the same */
};

struct message {
    size_t length;
    size_t lines;
    size_t prose_start, prose_length; /* without what it quotes */
    size_t base64, eight_bit;         /* bytes of each kind that it really has */
    uint8_t bytes[MESSAGE_MAX_BYTES + TEXT_SLACK_BYTES];
};

/* Random numbers from `random`, so that equal streams and plans give equal mails. */
void message_build(struct message *message, const struct vocabulary *vocabulary,
                   struct random_stream *random, const struct message_plan *plan);

#endif
