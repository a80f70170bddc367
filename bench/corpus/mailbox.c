#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/dovecot_log.h"
#include "corpus/generators.h"
#include "corpus/message.h"
#include "util/cleanup.h"
#include "util/endian.h"

/*
 * Shares of the stored bytes in 1/1000, set by measuring at 128 KiB blocks. lz4 keeps attachments
 * whole and half of the prose, which quotes; zstd and zlib keep three quarters of base64 (six bits
 * in eight) and less of the prose. What is then wanting to the published zstd is 8-bit data, in
 * pieces that fill whole blocks: zstd has one Huffman code for the literals of 128 KiB and would
 * suffer from a mixture more than zlib, which has several.
 */
#define BASE64_SHARE 610
#define EIGHT_BIT_SHARE 70

#define BASE64_LOW 2048 /* an attachment, before a random factor up to 2^BASE64_DOUBLINGS */
#define BASE64_DOUBLINGS 5
#define EIGHT_BIT_LOW (128 * 1024)
#define EIGHT_BIT_HIGH (256 * 1024)
#define PROSE_LOW 400
#define PROSE_DOUBLINGS 4

#define USER_BYTES (UINT64_C(16) << 20) /* one more user for each of these ... */
#define MAX_USERS 50                    /* ... up to the published number */
#define ROTATE_BYTES (10 * 1024 * 1024) /* mdbox_rotate_size as Dovecot has it */
#define LAST_MAIL_BYTES 6144            /* what is left is filled by one mail */
#define SHORTEST_LAST_MAIL 2048         /* less is left unfilled */
#define LOGS_BYTES 1536                 /* of a user, without what each mail takes */
#define FIRST_RECEIVED 1546300800       /* 2019-01-01 */

static const struct {
    const char *name;
    uint32_t share; /* of 16 mails */
} mailboxes[] = {{"INBOX", 9}, {"Archive", 4}, {"Sent", 2}, {"Projects", 1}};

#define MAILBOX_COUNT (sizeof(mailboxes) / sizeof(mailboxes[0]))

/* One user's store while it is being written. */
struct store {
    struct corpus_output *output;
    const struct vocabulary *vocabulary;
    struct random_stream random;
    char user[16];
    uint64_t budget;
    uint64_t used; /* of the budget */
    uint64_t base64, eight_bit;
    uint32_t received; /* of the last mail */
    uint32_t file;     /* N of the open m.N; 0 before the first */
    uint32_t file_bytes;
    struct stored_mail *mails;
    uint32_t count, capacity;
    struct message *message, *previous;
};

static int add_mail(struct store *store, struct stored_mail mail)
{
    if (store->count == store->capacity) {
        uint32_t capacity = store->capacity ? 2 * store->capacity : 256;
        struct stored_mail *mails = reallocarray(store->mails, capacity, sizeof(*mails));

        if (!mails)
            return -ENOMEM;
        store->mails = mails;
        store->capacity = capacity;
    }
    store->mails[store->count++] = mail;
    return 0;
}

/* Starts the next m.N with its header line: version, length of a mail's header, creation time. */
static int rotate(struct store *store)
{
    char text[64];
    int r = store->file ? output_end_file(store->output) : 0;

    if (r < 0)
        return r;
    snprintf(text, sizeof(text), "%s/storage/m.%" PRIu32, store->user, ++store->file);
    r = output_begin_file(store->output, text);
    if (r < 0)
        return r;
    store->file_bytes =
        (uint32_t)snprintf(text, sizeof(text), "2 M1e C%08" PRIx32 "\n", store->received);
    store->used += store->file_bytes;
    return output_write(store->output, text, store->file_bytes);
}

/*
 * What stands around a mail in m.N: a header of 30 bytes, and after it, behind a magic line, its
 * metadata: received time, size with CRLF, GUID, mailbox; a blank line ends them. The numbers are
 * hexadecimal.
 */
struct envelope {
    char header[32];
    char trailer[128];
    uint32_t trailer_length;
};

#define MAIL_HEADER_BYTES 30

static struct envelope make_envelope(const struct store *store, const struct stored_mail *mail)
{
    const struct message *message = store->message;
    struct envelope envelope;
    char guid[2 * DOVECOT_GUID_BYTES + 1];

    for (size_t i = 0; i < DOVECOT_GUID_BYTES; i++)
        snprintf(guid + 2 * i, 3, "%02x", mail->guid[i]);
    snprintf(envelope.header, sizeof(envelope.header), "\001\002N          %016zX\n",
             message->length);
    envelope.trailer_length =
        (uint32_t)snprintf(envelope.trailer, sizeof(envelope.trailer),
                           "\n\001\003\nR%08" PRIx32 "\nV%zx\nG%s\nB%s\n\n", mail->received,
                           message->length + message->lines, guid, mailboxes[mail->mailbox].name);
    return envelope;
}

static uint32_t choose_mailbox(struct random_stream *random)
{
    uint32_t ticket = random_below(random, 16);
    uint32_t mailbox = 0;

    while (ticket >= mailboxes[mailbox].share)
        ticket -= mailboxes[mailbox++].share;
    return mailbox;
}

static void fill_guid(struct random_stream *random, uint8_t guid[DOVECOT_GUID_BYTES])
{
    for (size_t i = 0; i < DOVECOT_GUID_BYTES; i += 8)
        store_le64(guid + i, random_next(random));
}

/* Appends store->message to the store. */
static int store_message(struct store *store)
{
    struct stored_mail mail = {
        .received = store->received,
        .mailbox = choose_mailbox(&store->random),
    };
    struct envelope envelope;
    int r;

    fill_guid(&store->random, mail.guid);
    envelope = make_envelope(store, &mail);
    mail.size = MAIL_HEADER_BYTES + (uint32_t)store->message->length + envelope.trailer_length;
    if (store->file == 0 || store->file_bytes + mail.size > ROTATE_BYTES) {
        r = rotate(store);
        if (r < 0)
            return r;
    }
    mail.file = store->file;
    mail.offset = store->file_bytes;
    r = add_mail(store, mail);
    if (r == 0)
        r = output_write(store->output, envelope.header, MAIL_HEADER_BYTES);
    if (r == 0)
        r = output_write(store->output, store->message->bytes, store->message->length);
    if (r == 0)
        r = output_write(store->output, envelope.trailer, envelope.trailer_length);
    store->file_bytes += mail.size;
    store->used += mail.size + DOVECOT_LOG_BYTES_PER_MAIL;
    return r;
}

/* Between `low` and `low` times 2^doublings; every doubling is as likely as the next. */
static uint32_t random_size(struct random_stream *random, uint32_t low, uint32_t doublings)
{
    uint32_t base = low << random_below(random, doublings);

    return base + random_below(random, base);
}

/*
 * `size`, or less in a small store, if that much of a kind is to be attached to the next mail; else
 * 0. What the store has of the kind follows its share closely, so that every file compresses alike:
 * an attachment comes when half of it is missing.
 */
static size_t choose_attachment(const struct store *store, uint32_t share, uint64_t present,
                                uint64_t size)
{
    uint64_t wanted = store->used * share / 1000;

    if (size > store->budget / 16)
        size = store->budget / 16;
    if (size > (store->budget - store->used) / 4)
        size = (store->budget - store->used) / 4;
    return wanted >= present + size / 2 ? (size_t)size : 0;
}

static int write_mail(struct store *store)
{
    struct random_stream *random = &store->random;
    uint64_t left = store->budget - store->used;
    struct message_plan plan = {.recipient = store->user};
    struct message *message = store->previous;

    plan.prose = random_size(random, PROSE_LOW, PROSE_DOUBLINGS);
    if (plan.prose > left / 4)
        plan.prose = (size_t)left / 4;
    if (random_below(random, 2) && store->count)
        plan.reply_to = store->message;
    plan.base64 = choose_attachment(store, BASE64_SHARE, store->base64,
                                    random_size(random, BASE64_LOW, BASE64_DOUBLINGS));
    plan.eight_bit = choose_attachment(store, EIGHT_BIT_SHARE, store->eight_bit,
                                       random_between(random, EIGHT_BIT_LOW, EIGHT_BIT_HIGH));
    store->received += random_between(random, 60, 1800);
    plan.received = store->received;
    store->previous = store->message;
    store->message = message;
    message_build(message, store->vocabulary, random, &plan);
    store->base64 += message->base64;
    store->eight_bit += message->eight_bit;
    return store_message(store);
}

/* One plain mail that fills what is left: built once for its headers, then again with the prose
 * that fits. */
static int write_last_mail(struct store *store)
{
    uint64_t left = store->budget - store->used;
    struct random_stream start = store->random;
    struct message_plan plan = {.recipient = store->user, .received = store->received + 60};
    uint64_t around;

    store->received = plan.received;
    message_build(store->message, store->vocabulary, &store->random, &plan);
    around = store->message->length + MAIL_HEADER_BYTES + 64 + DOVECOT_LOG_BYTES_PER_MAIL;
    if (left > around) {
        plan.prose = (size_t)(left - around);
        store->random = start;
        message_build(store->message, store->vocabulary, &store->random, &plan);
    }
    return store_message(store);
}

static int write_logs(struct store *store)
{
    char path[96];
    int r;

    snprintf(path, sizeof(path), "%s/storage/dovecot.map.index.log", store->user);
    r = output_begin_file(store->output, path);
    if (r == 0)
        r = dovecot_write_map_log(store->output, FIRST_RECEIVED, store->mails, store->count);
    if (r == 0)
        r = output_end_file(store->output);
    for (uint32_t i = 0; r == 0 && i < MAILBOX_COUNT; i++) {
        uint8_t guid[DOVECOT_GUID_BYTES];

        fill_guid(&store->random, guid);
        snprintf(path, sizeof(path), "%s/mailboxes/%s/dbox-Mails/dovecot.index.log", store->user,
                 mailboxes[i].name);
        r = output_begin_file(store->output, path);
        if (r == 0)
            r = dovecot_write_mailbox_log(store->output, FIRST_RECEIVED, guid, i, store->mails,
                                          store->count);
        if (r == 0)
            r = output_end_file(store->output);
    }
    return r;
}

static int make_directories(struct store *store)
{
    static const char *const parts[] = {"", "/storage", "/mailboxes"};
    char path[96];
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", store->user, parts[i]);
        r = output_make_directory(store->output, path);
    }
    for (size_t i = 0; r == 0 && i < 2 * MAILBOX_COUNT; i++) {
        snprintf(path, sizeof(path), "%s/mailboxes/%s%s", store->user, mailboxes[i / 2].name,
                 i % 2 ? "/dbox-Mails" : "");
        r = output_make_directory(store->output, path);
    }
    return r;
}

/* Fills a store that has its output, budget and buffers. */
static int write_store(struct store *store)
{
    int r = make_directories(store);

    store->used = LOGS_BYTES;
    store->received = FIRST_RECEIVED;
    while (r == 0 && store->used + LAST_MAIL_BYTES < store->budget)
        r = write_mail(store);
    if (r == 0 && (store->count == 0 || store->used + SHORTEST_LAST_MAIL < store->budget))
        r = write_last_mail(store);
    if (r == 0)
        r = output_end_file(store->output);
    if (r == 0)
        r = write_logs(store);
    return r;
}

int generate_mailbox(const struct corpus_config *config, struct corpus_output *output)
{
    struct vocabulary *vocabulary AUTO_FREE = calloc(1, sizeof(*vocabulary));
    struct message *messages AUTO_FREE = calloc(2, sizeof(*messages));
    uint64_t users = config->total_bytes / USER_BYTES;
    int r;

    if (!vocabulary || !messages)
        return -ENOMEM;
    users = users == 0 ? 1 : users < MAX_USERS ? users : MAX_USERS;
    r = vocabulary_init(vocabulary);
    if (r < 0)
        return r;
    r = output_begin_set(output, "mailbox", config->total_bytes);
    for (uint64_t i = 0; r == 0 && i < users; i++) {
        struct store store = {
            .output = output,
            .vocabulary = vocabulary,
            .random = random_stream(config->seed, i),
            .budget = config->total_bytes / users + (i < config->total_bytes % users),
            .message = &messages[0],
            .previous = &messages[1],
        };

        snprintf(store.user, sizeof(store.user), "user%02u", (unsigned int)i + 1);
        r = write_store(&store);
        free(store.mails);
    }
    vocabulary_free(vocabulary);
    return r;
}
