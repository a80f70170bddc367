#include "environment.h"

#include <inttypes.h>
#include <lz4.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "util/cleanup.h"

/* The value of the first line of /proc/cpuinfo that begins with the key. */
static void read_cpu_model(char *model, size_t size)
{
    FILE *file AUTO_FCLOSE = fopen("/proc/cpuinfo", "re");
    char line[256];

    snprintf(model, size, "unknown");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && colon) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(model, size, "%s", colon + 2);
            return;
        }
    }
}

/* The first line that `tallyfs -V` prints; NULL when there is none. */
static json_t *tallyfs_version(const char *tallyfs)
{
    char line[200] = "";
    FILE *pipe;

    /* The path goes through the environment, so that the shell does not read it. */
    if (!tallyfs || setenv("TALLYFS_PROGRAM", tallyfs, 1) < 0)
        return json_null();
    pipe = popen("exec \"$TALLYFS_PROGRAM\" -V 2>/dev/null </dev/null", "re");
    unsetenv("TALLYFS_PROGRAM");
    if (!pipe)
        return json_null();
    if (!fgets(line, sizeof(line), pipe))
        line[0] = '\0';
    pclose(pipe);
    line[strcspn(line, "\n")] = '\0';
    return line[0] ? json_string(line) : json_null();
}

json_t *environment_json(const char *tallyfs)
{
    char xxhash[32], model[128];
    unsigned int version = XXH_versionNumber();
    struct utsname name;

    uname(&name);
    read_cpu_model(model, sizeof(model));
    snprintf(xxhash, sizeof(xxhash), "%u.%u.%u", version / 10000, version / 100 % 100,
             version % 100);
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:b, s:o, s:{s:s, s:s, s:s, s:s, s:s}}",
                     "kernel", name.release, "kernel_build", name.version, "machine", name.machine,
                     "cpu", model, "cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "ram_bytes",
                     (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), "root",
                     geteuid() == 0, "tallyfs", tallyfs_version(tallyfs), "libraries", "lz4",
                     LZ4_versionString(), "zstd", ZSTD_versionString(), "zlib", zlibVersion(),
                     "xxhash", xxhash, "jansson", JANSSON_VERSION);
}

/* The mount that the directory is on: the last one listed with its device number hides the others. */
static json_t *mount_json(const char *directory)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct stat wanted, st;
    struct mntent *entry;
    json_t *found = NULL;

    if (!mounts || stat(directory, &wanted) < 0)
        wanted.st_dev = 0;
    while (mounts && (entry = getmntent(mounts))) {
        size_t length = strlen(entry->mnt_dir);

        if (strncmp(entry->mnt_dir, directory, length) != 0 || stat(entry->mnt_dir, &st) < 0 ||
            st.st_dev != wanted.st_dev)
            continue;
        json_decref(found);
        found = json_pack("{s:s, s:s, s:s}", "type", entry->mnt_type, "device", entry->mnt_fsname,
                          "options", entry->mnt_opts);
    }
    if (mounts)
        endmntent(mounts);
    return found ? found : json_null();
}

json_t *environment_target_json(const struct target *target)
{
    struct statvfs st = {0};

    statvfs(target->directory, &st);
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", target->name, "directory",
                     target->directory, "size_bytes", (json_int_t)(st.f_blocks * st.f_frsize),
                     "free_bytes", (json_int_t)(st.f_bfree * st.f_frsize), "mount",
                     mount_json(target->directory));
}

static json_t *ratio_json(const struct corpus_ratios *ratios, double ratio)
{
    return ratios->sampled_blocks ? json_real(ratio) : json_null();
}

json_t *environment_corpus_json(const struct workload *workload, const char *source,
                                const struct corpus_result *figures)
{
    json_t *sets = json_array();
    char hash[24];

    for (unsigned int i = 0; i < figures->set_count; i++) {
        const struct corpus_set *set = &figures->sets[i];
        const struct corpus_ratios *ratios = &set->ratios;

        json_array_append_new(sets, json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:I}", "name",
                                              set->name, "files", (json_int_t)set->files, "bytes",
                                              (json_int_t)set->bytes, "lz4_ratio",
                                              ratio_json(ratios, ratios->lz4), "zlib6_ratio",
                                              ratio_json(ratios, ratios->zlib6), "zstd3_ratio",
                                              ratio_json(ratios, ratios->zstd3), "sampled_blocks",
                                              (json_int_t)ratios->sampled_blocks));
    }
    snprintf(hash, sizeof(hash), "%016" PRIx64, figures->hash);
    return json_pack("{s:s, s:s?, s:I, s:I, s:s, s:I, s:o}", "workload", workload->name, "source",
                     source, "files", (json_int_t)figures->files, "bytes",
                     (json_int_t)figures->bytes, "hash_xxh3_64", hash, "ratio_block_bytes",
                     (json_int_t)CORPUS_BLOCK_BYTES, "sets", sets);
}
