#include <fcntl.h>

#include "fs/content.h"
#include "harness.h"

static void translates_every_flag_for_the_lower_file(void)
{
    static const struct {
        int program, lower;
    } rows[] = {
        {O_RDONLY, O_RDONLY},
        {O_RDWR, O_RDWR},
        {O_WRONLY, O_RDWR},
        {O_WRONLY | O_APPEND, O_RDWR},
        {O_RDWR | O_APPEND, O_RDWR},
        {O_WRONLY | O_CREAT | O_EXCL, O_RDWR},
        {O_WRONLY | O_CREAT | O_TRUNC, O_RDWR},
        {O_RDONLY | O_TRUNC, O_RDWR},
        {O_RDONLY | O_DIRECT, O_RDONLY},
        {O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, O_RDONLY},
        {O_WRONLY | O_SYNC, O_RDWR},
        {O_WRONLY | O_DSYNC, O_RDWR},
        {O_RDONLY | O_NOATIME, O_RDONLY | O_NOATIME},
        {O_RDWR | O_NONBLOCK, O_RDWR | O_NONBLOCK},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQ(content_lower_flags(rows[i].program), rows[i].lower);
}

int main(void)
{
    static const struct test_case cases[] = {CASE(translates_every_flag_for_the_lower_file)};

    return RUN_CASES(cases);
}
