#include "corpus/dovecot_log.h"

#include <string.h>

#include "util/endian.h"

#define HEADER_BYTES 40
#define RECORD_HEADER_BYTES 8

/* Record types; EXTERNAL marks what the mailbox and not a synchronisation changed. */
#define TYPE_APPEND 0x0002U
#define TYPE_HEADER_UPDATE 0x0020U
#define TYPE_EXTENSION_INTRO 0x0040U
#define TYPE_EXTENSION_HEADER 0x0100U
#define TYPE_EXTENSION_RECORD 0x0200U
#define TYPE_EXTERNAL 0x10000000U

/* Fields of the index header that header updates set. */
#define FIELD_UID_VALIDITY 24
#define FIELD_LOG_FILE_TAIL_OFFSET 64

#define NEW_EXTENSION 0xffffffffU
#define NO_SHRINK 1 /* flag of an extension: its sizes only grow */

struct log {
    struct corpus_output *output;
    uint32_t type_flags; /* TYPE_EXTERNAL or 0 */
    uint32_t offset;
};

static int put(struct log *log, const void *bytes, uint32_t length)
{
    log->offset += length;
    return output_write(log->output, bytes, length);
}

static int put_header(struct log *log, uint32_t created)
{
    uint8_t header[HEADER_BYTES] = {1, 3, HEADER_BYTES, 0};

    store_le32(header + 4, created);
    store_le32(header + 8, 2); /* the file sequence that a new log begins with */
    store_le32(header + 20, created);
    store_le64(header + 24, 1);
    header[32] = 1;
    return put(log, header, sizeof(header));
}

static int put_record_header(struct log *log, uint32_t type, uint32_t data_bytes)
{
    uint8_t header[RECORD_HEADER_BYTES];
    uint32_t words = (data_bytes + RECORD_HEADER_BYTES) / 4;

    for (int i = 0; i < 4; i++)
        header[i] = (uint8_t)(0x80 | (words >> (21 - 7 * i) & 0x7f));
    store_le32(header + 4, type | log->type_flags);
    return put(log, header, sizeof(header));
}

static int put_record(struct log *log, uint32_t type, const void *data, uint32_t data_bytes)
{
    int r = put_record_header(log, type, data_bytes);

    return r < 0 ? r : put(log, data, data_bytes);
}

static int put_header_update(struct log *log, uint16_t field, uint32_t value)
{
    uint8_t data[8];

    store_le16(data, field);
    store_le16(data + 2, 4);
    store_le32(data + 4, value);
    return put_record(log, TYPE_HEADER_UPDATE, data, sizeof(data));
}

/* Starts an extension, whose header or records follow; the sizes in bytes. */
static int put_extension(struct log *log, const char *name, uint32_t header_bytes,
                         uint16_t record_bytes, uint16_t align, uint16_t flags)
{
    uint8_t data[40] = {0};
    size_t length = strlen(name);

    store_le32(data, NEW_EXTENSION);
    store_le32(data + 8, header_bytes);
    store_le16(data + 12, record_bytes);
    store_le16(data + 14, align);
    store_le16(data + 16, flags);
    store_le16(data + 18, (uint16_t)length);
    memcpy(data + 20, name, length);
    return put_record(log, TYPE_EXTENSION_INTRO, data, (uint32_t)(20 + (length + 3) / 4 * 4));
}

static int put_extension_header(struct log *log, const void *header, uint16_t length)
{
    uint8_t data[32] = {0};

    store_le16(data + 2, length);
    memcpy(data + 4, header, length);
    return put_record(log, TYPE_EXTENSION_HEADER, data, 4U + length);
}

static int put_extension_record(struct log *log, uint32_t uid, const void *record, uint32_t length)
{
    uint8_t data[32] = {0};

    store_le32(data, uid);
    memcpy(data + 4, record, length);
    return put(log, data, 4 + (length + 3) / 4 * 4);
}

/* The mails 1 ... count, without flags. */
static int put_appends(struct log *log, uint32_t count)
{
    int r = count ? put_record_header(log, TYPE_APPEND, 8 * count) : 0;

    for (uint32_t uid = 1; r == 0 && uid <= count; uid++) {
        uint8_t data[8] = {0};

        store_le32(data, uid);
        r = put(log, data, sizeof(data));
    }
    return r;
}

int dovecot_write_map_log(struct corpus_output *output, uint32_t created,
                          const struct stored_mail *mails, uint32_t count)
{
    struct log log = {.output = output, .type_flags = TYPE_EXTERNAL};
    uint8_t highest_file[4] = {0};
    uint8_t record[12];
    int r;

    if (count)
        store_le32(highest_file, mails[count - 1].file);
    r = put_header(&log, created);
    if (r == 0)
        r = put_header_update(&log, FIELD_UID_VALIDITY, created);
    /* Changes of the map are made by synchronisations. */
    log.type_flags = 0;
    if (r == 0)
        r = put_appends(&log, count);
    if (r == 0)
        r = put_extension(&log, "map", 8, 12, 4, NO_SHRINK);
    if (r == 0)
        r = put_extension_header(&log, highest_file, sizeof(highest_file));
    if (r == 0 && count)
        r = put_record_header(&log, TYPE_EXTENSION_RECORD, 16 * count);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        store_le32(record, mails[i].file);
        store_le32(record + 4, mails[i].offset);
        store_le32(record + 8, mails[i].size);
        r = put_extension_record(&log, i + 1, record, 12);
    }
    if (r == 0)
        r = put_extension(&log, "ref", 0, 2, 2, NO_SHRINK);
    if (r == 0 && count)
        r = put_record_header(&log, TYPE_EXTENSION_RECORD, 8 * count);
    store_le16(record, 1); /* each mail is in one mailbox */
    for (uint32_t i = 0; r == 0 && i < count; i++)
        r = put_extension_record(&log, i + 1, record, 2);
    if (r < 0)
        return r;
    /* Synchronised up to the end of this very record. */
    log.type_flags = TYPE_EXTERNAL;
    return put_header_update(&log, FIELD_LOG_FILE_TAIL_OFFSET, log.offset + 16);
}

int dovecot_write_mailbox_log(struct corpus_output *output, uint32_t created,
                              const uint8_t mailbox_guid[DOVECOT_GUID_BYTES], uint32_t mailbox,
                              const struct stored_mail *mails, uint32_t count)
{
    struct log log = {.output = output, .type_flags = TYPE_EXTERNAL};
    uint8_t header[24] = {0};
    uint8_t record[8];
    uint32_t inside = 0;
    uint32_t uid = 0;
    int r;

    for (uint32_t i = 0; i < count; i++)
        inside += mails[i].mailbox == mailbox;
    store_le32(header, created); /* the map's uid validity */
    memcpy(header + 4, mailbox_guid, DOVECOT_GUID_BYTES);

    r = put_header(&log, created);
    if (r == 0)
        r = put_extension(&log, "mdbox-hdr", sizeof(header), 0, 0, 0);
    if (r == 0)
        r = put_extension_header(&log, header, sizeof(header));
    if (r == 0)
        r = put_header_update(&log, FIELD_UID_VALIDITY, created);
    if (r == 0)
        r = put_appends(&log, inside);
    if (r == 0)
        r = put_extension(&log, "mdbox", 0, 8, 4, NO_SHRINK);
    if (r == 0 && inside)
        r = put_record_header(&log, TYPE_EXTENSION_RECORD, 12 * inside);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        if (mails[i].mailbox != mailbox)
            continue;
        store_le32(record, i + 1);
        store_le32(record + 4, mails[i].received);
        r = put_extension_record(&log, ++uid, record, 8);
    }
    if (r == 0)
        r = put_extension(&log, "guid", 0, DOVECOT_GUID_BYTES, 1, NO_SHRINK);
    if (r == 0 && inside)
        r = put_record_header(&log, TYPE_EXTENSION_RECORD, 20 * inside);
    uid = 0;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        if (mails[i].mailbox == mailbox)
            r = put_extension_record(&log, ++uid, mails[i].guid, DOVECOT_GUID_BYTES);
    return r;
}
