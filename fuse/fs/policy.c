#include "fs/policy.h"

#include <string.h>
#include <sys/xattr.h>

#include "fs/handlers.h"

/* A node's choice in one word, so that it can be read without a lock: not known, none, or codec and level. */
#define NOT_KNOWN UINT32_C(0)
#define SAYS_NOTHING UINT32_C(1)
#define SAYS UINT32_C(2)
#define CODEC_SHIFT 8
#define LEVEL_SHIFT 16
#define LEVEL_BIAS 1024

/* The codec's place in the list of codecs, from 1; 0 for none. */
static uint32_t codec_place(const struct tally_codec *codec)
{
    const struct tally_codec *at;

    for (uint32_t i = 0; codec && (at = tally_codec_at(i)); i++)
        if (at == codec)
            return i + 1;
    return 0;
}

static uint32_t pack(const struct tally_codec_choice *choice)
{
    uint32_t level = (uint32_t)(choice->level + LEVEL_BIAS);

    return SAYS | codec_place(choice->codec) << CODEC_SHIFT | level << LEVEL_SHIFT;
}

static struct tally_codec_choice unpack(uint32_t packed)
{
    uint32_t place = packed >> CODEC_SHIFT & 0xff;

    return (struct tally_codec_choice){
        .codec = place ? tally_codec_at(place - 1) : NULL,
        .level = (int)(packed >> LEVEL_SHIFT) - LEVEL_BIAS,
    };
}

static int parse(const char *value, size_t size, struct tally_codec_choice *ret_choice)
{
    char text[TALLY_CODEC_TEXT_BYTES + 1];

    if (size == 0 || size >= sizeof(text) || memchr(value, '\0', size))
        return -EINVAL;
    memcpy(text, value, size);
    text[size] = '\0';
    return tally_codec_parse(text, ret_choice) < 0 ? -EINVAL : 0;
}

static uint32_t read_own(struct call *call, int fd)
{
    struct tally_codec_choice choice;
    char value[TALLY_CODEC_TEXT_BYTES];
    char path[PROC_PATH_BYTES];
    ssize_t size;

    proc_path(fd, path);
    size = LOWER(call->split, getxattr(path, POLICY_ATTRIBUTE, value, sizeof(value)));
    return size > 0 && parse(value, (size_t)size, &choice) == 0 ? pack(&choice) : SAYS_NOTHING;
}

int policy_own(struct call *call, struct node *node, int fd, struct tally_codec_choice *ret_choice)
{
    uint32_t packed = atomic_load(&node->policy);

    if (packed == NOT_KNOWN) {
        uint32_t read = read_own(call, fd);

        /* Unless it was set meanwhile; then `packed` becomes that. */
        if (atomic_compare_exchange_strong(&node->policy, &packed, read))
            packed = read;
    }
    if (packed == SAYS_NOTHING)
        return 0;
    *ret_choice = unpack(packed);
    return 1;
}

struct tally_codec_choice policy_for(struct call *call, struct node *node, int fd)
{
    struct tally_codec_choice choice = call->fs->compress;

    policy_own(call, node, fd, &choice);
    return choice;
}

static int set_on_lower(struct call *call, int fd, const struct tally_codec_choice *choice, int flags)
{
    char text[TALLY_CODEC_TEXT_BYTES];
    char path[PROC_PATH_BYTES];

    tally_codec_format(choice, text);
    proc_path(fd, path);
    return LOWER(call->split, setxattr(path, POLICY_ATTRIBUTE, text, strlen(text), flags));
}

void policy_inherit(struct call *call, const struct pin *directory, struct node *made, int fd)
{
    struct tally_codec_choice choice;
    uint32_t packed = SAYS_NOTHING;

    if (policy_own(call, directory->node, directory->fd, &choice)) {
        packed = pack(&choice);
        /* Without space for it the file is as good, and keeps its codec until it is forgotten. */
        set_on_lower(call, fd, &choice, 0);
    }
    atomic_store(&made->policy, packed);
}

int policy_set(struct call *call, const struct pin *pin, const char *value, size_t size, int flags)
{
    struct tally_codec_choice choice;
    int r = parse(value, size, &choice);

    if (r == 0)
        r = set_on_lower(call, pin->fd, &choice, flags);
    if (r == 0)
        atomic_store(&pin->node->policy, pack(&choice));
    return r;
}

int policy_remove(struct call *call, const struct pin *pin)
{
    char path[PROC_PATH_BYTES];
    int r;

    proc_path(pin->fd, path);
    r = LOWER(call->split, removexattr(path, POLICY_ATTRIBUTE));
    if (r == 0)
        atomic_store(&pin->node->policy, SAYS_NOTHING);
    return r;
}
