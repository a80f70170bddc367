#include "corpus/message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DATE_BYTES 48

struct builder {
    struct message *message;
    const struct vocabulary *vocabulary;
    struct random_stream *random;
};

/* Headers are short against the room that the message has beyond its parts. */
__attribute__((format(printf, 2, 3))) static void put(struct builder *builder, const char *format,
                                                      ...)
{
    struct message *message = builder->message;
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf((char *)message->bytes + message->length,
                      sizeof(message->bytes) - message->length, format, arguments);
    va_end(arguments);
    message->length += (size_t)added;
}

static void put_word(struct builder *builder)
{
    struct message *message = builder->message;

    message->length +=
        text_put_word(builder->vocabulary, builder->random, message->bytes + message->length);
}

static void put_words(struct builder *builder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            put(builder, " ");
        put_word(builder);
    }
}

/* Base64 digits folded into header lines. */
static void put_folded_digits(struct builder *builder, size_t count)
{
    struct message *message = builder->message;

    while (count) {
        size_t part = count < 72 ? count : 72;

        put(builder, "\n\t");
        text_put_digits(builder->vocabulary, builder->random, message->bytes + message->length,
                        part);
        message->length += part;
        count -= part;
    }
}

/* RFC 5322, 3.3, in UTC; names of its own, since those of strftime depend on the locale. */
static void format_date(char date[DATE_BYTES], uint32_t seconds)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t when = seconds;
    struct tm tm;

    gmtime_r(&when, &tm);
    snprintf(date, DATE_BYTES, "%s, %d %s %d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday,
             months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void put_headers(struct builder *builder, const struct message_plan *plan)
{
    struct random_stream *random = builder->random;
    uint64_t bits = random_next(random);
    uint32_t host = (uint32_t)(bits & 15);
    uint32_t sender = (uint32_t)(bits >> 4 & 1023);
    char date[DATE_BYTES];

    format_date(date, plan->received);
    put(builder,
        "Return-Path: <sender%" PRIu32 "@host%" PRIu32 ".example>\n"
        "Delivered-To: %s@mail.example\n"
        "Received: from host%" PRIu32 ".example (host%" PRIu32 ".example [192.0.2.%" PRIu32 "])\n"
        "\tby mail.example (Postfix) with ESMTPS id %016" PRIX64 "\n"
        "\tfor <%s@mail.example>; %s\n",
        sender, host, plan->recipient, host, host, host + 1, random_next(random), plan->recipient,
        date);
    put(builder,
        "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=host%" PRIu32 ".example;\n"
        "\ts=mail; t=%" PRIu32 "; h=from:to:subject:date:message-id; b=",
        host, plan->received);
    put_folded_digits(builder, 344);
    put(builder, "\nFrom: ");
    put_words(builder, 2);
    put(builder,
        " <sender%" PRIu32 "@host%" PRIu32 ".example>\nTo: %s@mail.example\nSubject: ", sender,
        host, plan->recipient);
    put_words(builder, random_between(random, 2, 7));
    put(builder, "\nDate: %s\nMessage-ID: <%016" PRIx64 ".%" PRIx32 "@host%" PRIu32 ".example>\n",
        date, random_next(random), plan->received, host);
    put(builder, "MIME-Version: 1.0\n");
}

/* The new text first, what it answers below. */
static void put_prose(struct builder *builder, const struct message_plan *plan)
{
    struct message *message = builder->message;
    const struct message *quoted = plan->reply_to;
    const uint8_t *line;
    const uint8_t *end;

    text_put_prose(builder->vocabulary, builder->random, message->bytes + message->length,
                   plan->prose);
    message->prose_start = message->length;
    message->prose_length = plan->prose;
    message->length += plan->prose;
    if (!quoted)
        return;
    put(builder, "\n");
    put_words(builder, 2);
    put(builder, " wrote:\n");
    line = quoted->bytes + quoted->prose_start;
    end = line + quoted->prose_length;
    while (line < end) {
        const uint8_t *stop = memchr(line, '\n', (size_t)(end - line));
        const uint8_t *next = stop ? stop + 1 : end;

        put(builder, "> ");
        memcpy(message->bytes + message->length, line, (size_t)(next - line));
        message->length += (size_t)(next - line);
        line = next;
    }
}

static void put_attachment_headers(struct builder *builder, const char *encoding,
                                   const char *suffix)
{
    put(builder,
        "Content-Type: application/octet-stream\nContent-Transfer-Encoding: %s\n"
        "Content-Disposition: attachment; filename=\"",
        encoding);
    put_word(builder);
    put(builder, ".%s\"\n\n", suffix);
}

static void put_parts(struct builder *builder, const struct message_plan *plan)
{
    struct message *message = builder->message;
    char boundary[24];

    snprintf(boundary, sizeof(boundary), "=_%016" PRIx64, random_next(builder->random));
    put(builder,
        "Content-Type: multipart/mixed; boundary=\"%s\"\n\n--%s\n"
        "Content-Type: text/plain; charset=us-ascii\n\n",
        boundary, boundary);
    put_prose(builder, plan);
    if (plan->base64) {
        put(builder, "--%s\n", boundary);
        put_attachment_headers(builder, "base64", "zip");
        message->base64 =
            text_put_base64(builder->vocabulary, builder->random, message->bytes + message->length,
                            plan->base64 / BASE64_LINE_BYTES);
        message->length += message->base64;
    }
    if (plan->eight_bit) {
        put(builder, "--%s\n", boundary);
        put_attachment_headers(builder, "8bit", "bin");
        message->eight_bit = text_put_eight_bit(builder->random, message->bytes + message->length,
                                                plan->eight_bit / EIGHT_BIT_LINE_BYTES);
        message->length += message->eight_bit;
    }
    put(builder, "--%s--\n", boundary);
}

static size_t count_lines(const uint8_t *bytes, size_t length)
{
    size_t lines = 0;

    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    return lines;
}

void message_build(struct message *message, const struct vocabulary *vocabulary,
                   struct random_stream *random, const struct message_plan *plan)
{
    struct builder builder = {message, vocabulary, random};

    message->length = 0;
    message->base64 = 0;
    message->eight_bit = 0;
    put_headers(&builder, plan);
    if (plan->base64 || plan->eight_bit) {
        put_parts(&builder, plan);
    } else {
        put(&builder, "Content-Type: text/plain; charset=us-ascii\n\n");
        put_prose(&builder, plan);
    }
    message->lines = count_lines(message->bytes, message->length);
}
