/*
 * Dovecot's transaction logs (dovecot.map.index.log, dovecot.index.log): the records by which a
 * real Dovecot finds the mails of an mdbox store without a rebuild. Format: version 1.3 as
 * Dovecot 2.3 writes it; all fields little-endian.
 *
 *   header, 40 bytes: u8 major 1, u8 minor 3, u16 header size, u32 index id, u32 file sequence, u32
 * previous sequence and offset, u32 creation time, u64 initial modseq, u8 flags 1 (little-endian),
 * padding records: u32 size with this header, as four bytes of seven bits under 0x80, most
 * significant first, of size / 4; u32 type; the data, a multiple of four bytes
 */
#ifndef TALLY_CORPUS_DOVECOT_LOG_H
#define TALLY_CORPUS_DOVECOT_LOG_H

#include <stdint.h>

#include "corpus/output.h"

#define DOVECOT_GUID_BYTES 16

/* A stored mail. */
struct stored_mail {
    uint32_t file;   /* N of storage/m.N, from 1 */
    uint32_t offset; /* of its header in the file */
    uint32_t size;   /* from the header to the blank line that ends its metadata */
    uint32_t received;
    uint32_t mailbox; /* index of the mailbox that it is in */
    uint8_t guid[DOVECOT_GUID_BYTES];
};

/* What the two logs of a mail take in them, for reckoning a store's size beforehand. */
#define DOVECOT_LOG_BYTES_PER_MAIL (8 + 16 + 8 + 8 + 12 + 20)

/* Writes storage/dovecot.map.index.log into the open file: the places of all mails. 0; the errors
 * of output_write. */
int dovecot_write_map_log(struct corpus_output *output, uint32_t created,
                          const struct stored_mail *mails, uint32_t count);

/*
 * Writes a mailbox's dovecot.index.log into the open file: those of all mails that are in it, with
 * their map numbers. 0; the errors of output_write.
 */
int dovecot_write_mailbox_log(struct corpus_output *output, uint32_t created,
                              const uint8_t mailbox_guid[DOVECOT_GUID_BYTES], uint32_t mailbox,
                              const struct stored_mail *mails, uint32_t count);

#endif
