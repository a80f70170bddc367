#include "corpus/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/endian.h"

/* Everyday words, the most frequent first. */
static const char common_words[] =
    "the to and of a in is you for we that it on this with be as are have not will can if your at "
    "from or by our "
    "please was but all an me so has would there they any do my what when no about more which one "
    "time new their "
    "just out know up get us need like been them should here some other also now how work only "
    "could he then thanks "
    "let than good think who see after back make two may these into her want over had next his "
    "last first week use "
    "very day send were still before meeting where today file because she way him between sure "
    "does look call team "
    "list data right same help take change each those being such group did both think working year "
    "down report "
    "problem might since part off come through tomorrow most many another test until point system "
    "much found again "
    "message number order better without people office version run plan made say something every "
    "days put project "
    "while issue under tell question long great set give current once end full own used morning "
    "office check best "
    "date server doing going getting three second local below above already always attached agree "
    "answer around "
    "available away big book box budget build busy case cause city class clear close code comment "
    "common complete "
    "contact copy correct cost course customer deal decide delay delivery department design detail "
    "different "
    "directory discuss document draft during early easy email enough error event example expect "
    "explain fact few "
    "field final fine fix follow form forward friday general hand happen hard hear high hope hour "
    "house idea "
    "important include information inside instead interest invoice item join keep kind late later "
    "leave left less "
    "letter level line link little load machine manager mark matter mean member minute mistake "
    "monday money month "
    "move name near never nice note notice number offer old open option page paper pass past pay "
    "phone place "
    "possible power present price print probably process program provide public quick quite rate "
    "read ready real "
    "reason receive record reply request rest result return review room rule sample save schedule "
    "search section "
    "seem service share short show side sign simple size small soon sort space special staff start "
    "state step stop "
    "store story study subject support table talk task thing thursday together total travel "
    "tuesday turn type "
    "update user usual view visit wait watch wednesday weekend whole window word world write wrong";

/* What is rarer is made of two or three of these: names, places, terms of a trade. */
static const char syllables[] =
    "ar ben cor dal el fen gar hol im jun kel lor mar nov or pel quin ros sal tor ul ven "
    "wil xan yor zel bra cla dri fro gle kra pli sto tri vla";

#define MADE_WORDS 1600
#define ZIPF_OFFSET                                                                                \
    4 /* flattens the top of the list: weight 1 / (rank + offset), as Mandelbrot's form of Zipf's  \
         law */

static size_t count_words(const char *list)
{
    size_t count = 1;

    for (; *list; list++)
        count += *list == ' ';
    return count;
}

/* The word that starts at `list`; returns the start of the next one, or the end. */
static const char *next_word(const char *list, size_t *ret_length)
{
    *ret_length = strcspn(list, " ");
    list += *ret_length;
    return *list ? list + 1 : list;
}

static void add_word(struct vocabulary *vocabulary, const char *word, size_t length)
{
    memcpy(vocabulary->words[vocabulary->count], word, length);
    vocabulary->lengths[vocabulary->count] = (uint8_t)length;
    vocabulary->count++;
}

static void make_word(struct vocabulary *vocabulary, struct random_stream *random, size_t parts)
{
    char word[WORD_BYTES];
    size_t length = 0;

    for (uint32_t count = random_between(random, 2, 3); count > 0; count--) {
        const char *at = syllables;
        size_t part;

        for (uint32_t skip = random_below(random, (uint32_t)parts); skip > 0; skip--)
            at = next_word(at, &part);
        next_word(at, &part);
        memcpy(word + length, at, part);
        length += part;
    }
    add_word(vocabulary, word, length);
}

/* Gives each word a share of the slots by its rank; the rest of the rounding goes to the first. */
static void deal_slots(struct vocabulary *vocabulary)
{
    uint64_t weights = 0;
    size_t slot = 0;

    for (uint32_t i = 0; i < vocabulary->count; i++)
        weights += (UINT64_C(1) << 32) / (i + ZIPF_OFFSET);
    for (uint32_t i = 0; i < vocabulary->count; i++) {
        uint64_t share = (UINT64_C(1) << 32) / (i + ZIPF_OFFSET) * WORD_SLOTS / weights;

        for (uint64_t k = 0; k < share; k++)
            vocabulary->slots[slot++] = (uint16_t)i;
    }
    memset(vocabulary->slots + slot, 0, (WORD_SLOTS - slot) * sizeof(vocabulary->slots[0]));
}

int vocabulary_init(struct vocabulary *vocabulary)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = count_words(common_words) + MADE_WORDS;
    struct random_stream random = random_stream(0, 0); /* the words are the same for all seeds */
    size_t length;

    vocabulary->count = 0;
    vocabulary->words = calloc(count, sizeof(*vocabulary->words));
    vocabulary->lengths = calloc(count, sizeof(*vocabulary->lengths));
    if (!vocabulary->words || !vocabulary->lengths) {
        vocabulary_free(vocabulary);
        return -ENOMEM;
    }
    for (const char *word = common_words; *word;) {
        const char *next = next_word(word, &length);

        add_word(vocabulary, word, length);
        word = next;
    }
    while (vocabulary->count < count)
        make_word(vocabulary, &random, count_words(syllables));
    deal_slots(vocabulary);
    for (unsigned int i = 0; i < 4096; i++)
        vocabulary->base64_pairs[i] =
            (uint16_t)((unsigned char)digits[i & 63] | (unsigned char)digits[i >> 6] << 8);
    return 0;
}

void vocabulary_free(struct vocabulary *vocabulary)
{
    free(vocabulary->words);
    free(vocabulary->lengths);
    vocabulary->words = NULL;
    vocabulary->lengths = NULL;
}

static size_t put_word(const struct vocabulary *vocabulary, uint16_t slot, uint8_t *to)
{
    uint16_t word = vocabulary->slots[slot];

    /* Copied whole: the rest is written over by what comes next. */
    memcpy(to, vocabulary->words[word], WORD_BYTES);
    return vocabulary->lengths[word];
}

size_t text_put_word(const struct vocabulary *vocabulary, struct random_stream *random, uint8_t *to)
{
    return put_word(vocabulary, (uint16_t)random_next(random), to);
}

void text_put_prose(const struct vocabulary *vocabulary, struct random_stream *random, uint8_t *to,
                    size_t length)
{
    size_t at = 0;
    size_t line = 0; /* where the line began */
    bool capital = true;

    while (at + 1 < length) {
        uint64_t bits = random_next(random);
        size_t start = at;
        uint8_t ending = (uint8_t)(bits >> 16); /* what follows the word */

        at += put_word(vocabulary, (uint16_t)bits, to + at);
        if (capital)
            to[start] = (uint8_t)(to[start] - 'a' + 'A');
        capital = ending < 22;
        if (capital)
            to[at++] = ending == 0 ? '?' : '.';
        else if (ending < 36)
            to[at++] = ',';
        if (capital && (bits >> 24 & 7) == 0) {
            to[at++] = '\n';
            to[at++] = '\n';
            line = at;
        } else if (at - line > 68) {
            to[at++] = '\n';
            line = at;
        } else {
            to[at++] = ' ';
        }
    }
    if (length > 0)
        to[length - 1] = '\n';
}

void text_put_digits(const struct vocabulary *vocabulary, struct random_stream *random, uint8_t *to,
                     size_t length)
{
    while (length) {
        uint64_t bits = random_next(random);
        uint8_t digits[10];
        size_t part = length < sizeof(digits) ? length : sizeof(digits);

        for (size_t i = 0; i < 5; i++)
            store_le16(digits + 2 * i, vocabulary->base64_pairs[bits >> 12 * i & 4095]);
        memcpy(to, digits, part);
        to += part;
        length -= part;
    }
}

size_t text_put_base64(const struct vocabulary *vocabulary, struct random_stream *random,
                       uint8_t *to, size_t lines)
{
    for (size_t i = 0; i < lines; i++, to += BASE64_LINE_BYTES) {
        text_put_digits(vocabulary, random, to, BASE64_LINE_BYTES - 1);
        to[BASE64_LINE_BYTES - 1] = '\n';
    }
    return lines * BASE64_LINE_BYTES;
}

size_t text_put_eight_bit(struct random_stream *random, uint8_t *to, size_t lines)
{
    for (size_t i = 0; i < lines; i++, to += EIGHT_BIT_LINE_BYTES) {
        for (size_t k = 0; k < EIGHT_BIT_LINE_BYTES; k += 8)
            store_le64(to + k, random_next(random));
        for (size_t k = 0; k < EIGHT_BIT_LINE_BYTES; k++)
            to[k] = to[k] == 0 || to[k] == '\n' || to[k] == '\r' ? to[k] | 0x80 : to[k];
        to[EIGHT_BIT_LINE_BYTES - 1] = '\n';
    }
    return lines * EIGHT_BIT_LINE_BYTES;
}
