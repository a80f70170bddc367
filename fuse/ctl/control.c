/* tallyctl reset, tallyctl sync */
#include <string.h>

#include "ctl/command.h"
#include "ctl/mount.h"

static int send_command(const char *path, const char *name, const struct log *log)
{
    const char *problem = mount_problem(path);

    if (!problem) {
        int r = mount_command(path, name);

        problem = r < 0 ? strerrordesc_np(-r) : NULL;
    }
    if (problem)
        log_error(log, "%s: %s", path, problem);
    return problem ? EXIT_FAILED : EXIT_DONE;
}

int command_reset(const struct options *options, const struct log *log)
{
    return send_command(options->operands[0], "cmd.reset", log);
}

int command_sync(const struct options *options, const struct log *log)
{
    return send_command(options->operands[0], "cmd.sync", log);
}
