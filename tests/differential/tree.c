#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "layout.h"
#include "listing.h"
#include "util/cleanup.h"
#include "xattr_names.h"

#define VALUE_BYTES_MAX 65536

/* Which file of the right a file of the left was found to be. */
struct link {
    ino_t left, right;
};

struct walk {
    const struct traits *traits;
    struct strbuf *text;
    const char **field; /* the caller's */
    bool differs;
    struct link *links;
    size_t link_count;
    char *values[2]; /* VALUE_BYTES_MAX each */
};

/* One file on both sides. */
struct pair {
    const char *relative, *left, *right;
    struct stat attributes[2];
};

static bool compare_outcomes(struct walk *walk, const struct pair *pair, const struct outcome *left,
                             const struct outcome *right)
{
    const struct comparison comparison = {.traits = walk->traits};
    const char *field;

    if (!rules_compare(&comparison, pair->relative, left, right, walk->text, &field))
        return true;
    if (!walk->differs)
        *walk->field = field;
    walk->differs = true;
    return false;
}

static void differs(struct walk *walk, const struct pair *pair, const char *field)
{
    if (!walk->differs)
        *walk->field = field;
    walk->differs = true;
    strbuf_printf(walk->text, "    %s: %s: ", pair->relative, field);
}

/* Two names are of one file on the left where they are on the right. */
static void compare_identity(struct walk *walk, const struct pair *pair)
{
    ino_t left = pair->attributes[0].st_ino, right = pair->attributes[1].st_ino;
    struct link *larger;

    for (size_t i = 0; i < walk->link_count; i++) {
        if ((walk->links[i].left == left) != (walk->links[i].right == right)) {
            differs(walk, pair, "identity");
            strbuf_puts(walk->text, "a hard link on one side only\n");
            return;
        }
    }
    larger = realloc(walk->links, (walk->link_count + 1) * sizeof(*larger));
    if (!larger)
        return;
    walk->links = larger;
    larger[walk->link_count++] = (struct link){left, right};
}

static void compare_xattrs(struct walk *walk, const struct pair *pair)
{
    struct outcome outcomes[2] = {{0}, {0}};
    const char *const paths[2] = {pair->left, pair->right};
    char *saved, *name;

    for (unsigned side = 0; side < 2; side++) {
        int r = xattr_names(paths[side], false, &outcomes[side].text);

        errno = -r;
        outcome_result(&outcomes[side], r < 0 ? -1 : 0);
    }
    if (compare_outcomes(walk, pair, &outcomes[0], &outcomes[1]) && outcomes[0].text.length > 0) {
        for (name = strtok_r(outcomes[0].text.data, "\n", &saved); name;
             name = strtok_r(NULL, "\n", &saved)) {
            struct outcome values[2] = {{0}, {0}};

            for (unsigned side = 0; side < 2; side++) {
                ssize_t size = lgetxattr(paths[side], name, walk->values[side], VALUE_BYTES_MAX);

                outcome_result(&values[side], size);
                values[side].data = (unsigned char *)walk->values[side];
                values[side].size = size < 0 ? 0 : (size_t)size;
            }
            if (!compare_outcomes(walk, pair, &values[0], &values[1]))
                strbuf_printf(walk->text, "    of the attribute %s\n", name);
        }
    }
    strbuf_free(&outcomes[0].text);
    strbuf_free(&outcomes[1].text);
}

static void compare_open_files(struct walk *walk, const struct pair *pair, int left, int right)
{
    AUTO_SEGMENTS struct segments ours = {.all = NULL};
    AUTO_LAYOUT struct layout theirs = {.data.all = NULL};
    bool has_bytes;
    off_t at;
    int r = segments_read(left, &ours), s = layout_read(right, walk->traits, &theirs);

    if (r < 0 || s < 0) {
        differs(walk, pair, "holes");
        strbuf_printf(walk->text, "cannot be read: %s\n", strerror(r < 0 ? -r : -s));
        return;
    }
    r = segments_compare_bytes(left, &ours, right, &theirs.data, &at, &has_bytes);
    if (r < 0) {
        differs(walk, pair, "contents");
        strbuf_printf(walk->text, "cannot be read: %s\n", strerror(-r));
    } else if (at >= 0) {
        differs(walk, pair, "contents");
        strbuf_printf(walk->text, "the first difference is at %lld\n", (long long)at);
    }
    if (!layout_allows(&theirs, &ours)) {
        differs(walk, pair, "holes");
        strbuf_puts(walk->text, "data on the left at");
        segments_print(&ours, walk->text);
        strbuf_puts(walk->text, ", on the right at");
        segments_print(&theirs.data, walk->text);
        strbuf_puts(walk->text, "\n");
    }
    /* Programs that copy take a file without blocks for one hole. */
    if (has_bytes && pair->attributes[0].st_blocks == 0) {
        differs(walk, pair, "has blocks");
        strbuf_puts(walk->text, "none on the left although there is data\n");
    }
}

static void compare_files(struct walk *walk, const struct pair *pair)
{
    struct outcome outcomes[2] = {{0}, {0}};
    AUTO_CLOSE int left = open(pair->left, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    AUTO_CLOSE int right = -1;

    outcome_result(&outcomes[0], left < 0 ? -1 : 0);
    right = open(pair->right, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    outcome_result(&outcomes[1], right < 0 ? -1 : 0);
    if (compare_outcomes(walk, pair, &outcomes[0], &outcomes[1]) && left >= 0)
        compare_open_files(walk, pair, left, right);
}

static void compare_targets(struct walk *walk, const struct pair *pair)
{
    struct outcome outcomes[2] = {{0}, {0}};
    const char *const paths[2] = {pair->left, pair->right};

    for (unsigned side = 0; side < 2; side++) {
        ssize_t length = readlink(paths[side], walk->values[side], VALUE_BYTES_MAX);

        outcome_result(&outcomes[side], length);
        outcomes[side].data = (unsigned char *)walk->values[side];
        outcomes[side].size = length < 0 ? 0 : (size_t)length;
    }
    compare_outcomes(walk, pair, &outcomes[0], &outcomes[1]);
}

static void compare_path(struct walk *walk, const char *relative, const char *left,
                         const char *right);

static int list(const char *path, struct listing *ret_listing, struct outcome *outcome)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : listing_read(fd, LISTING_BUFFER_BYTES, ret_listing);

    errno = -r;
    outcome_result(outcome, r < 0 ? -1 : 0);
    if (r < 0)
        return r;
    listing_sort(ret_listing);
    for (size_t i = 0; i < ret_listing->count; i++)
        strbuf_printf(&outcome->text, "%s type %u\n", ret_listing->entries[i].name,
                      ret_listing->entries[i].type);
    return 0;
}

static void compare_directories(struct walk *walk, const struct pair *pair)
{
    AUTO_LISTING struct listing ours = {.entries = NULL};
    AUTO_LISTING struct listing theirs = {.entries = NULL};
    struct outcome outcomes[2] = {{0}, {0}};
    int r = list(pair->left, &ours, &outcomes[0]), s = list(pair->right, &theirs, &outcomes[1]);

    if (compare_outcomes(walk, pair, &outcomes[0], &outcomes[1]) && r == 0 && s == 0) {
        for (size_t i = 0; i < ours.count; i++) {
            const char *name = ours.entries[i].name;
            struct strbuf paths[3] = {STRBUF_INIT, STRBUF_INIT, STRBUF_INIT};

            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                continue;
            strbuf_printf(&paths[0], "%s/%s", pair->relative, name);
            strbuf_printf(&paths[1], "%s/%s", pair->left, name);
            strbuf_printf(&paths[2], "%s/%s", pair->right, name);
            compare_path(walk, paths[0].data, paths[1].data, paths[2].data);
            strbuf_free(&paths[0]);
            strbuf_free(&paths[1]);
            strbuf_free(&paths[2]);
        }
    }
    strbuf_free(&outcomes[0].text);
    strbuf_free(&outcomes[1].text);
}

static void compare_path(struct walk *walk, const char *relative, const char *left,
                         const char *right)
{
    struct pair pair = {.relative = relative, .left = left, .right = right};
    struct outcome outcomes[2] = {{0}, {0}};
    const char *const paths[2] = {left, right};

    for (unsigned side = 0; side < 2; side++) {
        if (outcome_result(&outcomes[side], lstat(paths[side], &pair.attributes[side])))
            outcome_attributes(&outcomes[side], &pair.attributes[side]);
    }
    if (!compare_outcomes(walk, &pair, &outcomes[0], &outcomes[1]) || outcomes[0].result < 0)
        return;
    compare_identity(walk, &pair);
    compare_xattrs(walk, &pair);
    if (S_ISREG(pair.attributes[0].st_mode))
        compare_files(walk, &pair);
    else if (S_ISLNK(pair.attributes[0].st_mode))
        compare_targets(walk, &pair);
    else if (S_ISDIR(pair.attributes[0].st_mode))
        compare_directories(walk, &pair);
}

bool tree_compare(const struct traits *traits, const char *left, const char *right,
                  struct strbuf *text, const char **ret_field)
{
    AUTO_FREE char *ours = malloc(VALUE_BYTES_MAX);
    AUTO_FREE char *theirs = malloc(VALUE_BYTES_MAX);
    struct walk walk = {
        .traits = traits, .text = text, .field = ret_field, .values = {ours, theirs}};

    if (!ours || !theirs)
        abort();
    compare_path(&walk, ".", left, right);
    free(walk.links);
    return walk.differs;
}
