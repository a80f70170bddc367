#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fresh.h"
#include "tree.h"
#include "view.h"
#include "watch.h"

#define HANG_S 240 /* without one finished call: far more than any load explains */

struct run {
    struct trial *trial;
    const struct script *script;
    char roots[2][VIEW_PATH_BYTES];
    struct view views[THREADS_MAX][2]; /* left, right */
    atomic_size_t finished;            /* calls, for the watchdog */
    atomic_bool stop;
    pthread_mutex_t lock; /* of what follows */
    struct difference difference;
    bool found;
};

struct worker {
    struct run *run;
    unsigned threads; /* bit mask of the script's threads whose calls it makes */
    size_t begin, end;
    pthread_t thread;
    _Atomic size_t current; /* the call that is being made */
};

/* Takes the text. */
static void report(struct run *run, size_t index, const char *field, struct strbuf *text)
{
    pthread_mutex_lock(&run->lock);
    if (!run->found) {
        run->found = true;
        run->difference.index = index;
        run->difference.call =
            index < run->script->count ? run->script->ops[index].call : CALL_REMOUNT;
        run->difference.field = field;
        run->difference.text = *text;
        *text = (struct strbuf)STRBUF_INIT;
    }
    pthread_mutex_unlock(&run->lock);
    strbuf_free(text);
    atomic_store(&run->stop, true);
}

/* Raw system calls, which are about this thread only. */
static void become(uid_t user)
{
    if (geteuid() != 0)
        return;
    syscall(SYS_setfsgid, user);
    syscall(SYS_setfsuid, user);
}

static void make_call(struct view *view, const struct op *op, struct outcome *outcome)
{
    outcome_reset(outcome);
    umask(view->umask);
    become(view->user);
    call_functions[op->call](view, op->arguments, outcome);
    become(0);
}

/* A path of the file that the call's first argument means. Opening it would be a close too, which drops locks. */
static void first_argument(const struct view *view, const struct op *op, char ret_path[VIEW_PATH_BYTES])
{
    if (call_types[op->call].arguments[0].kind == ARGUMENT_SLOT)
        snprintf(ret_path, VIEW_PATH_BYTES, "/proc/self/fd/%d", view->slots[op->arguments[0]]);
    else
        view_path(view, op->arguments[0], ret_path);
}

/* A modification time that the left alone has moved is moved on the right as well. */
static void catch_up(const struct op *op, const struct view *left, const struct view *right)
{
    const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    char paths[2][VIEW_PATH_BYTES];
    struct stat attributes[2];

    first_argument(left, op, paths[0]);
    first_argument(right, op, paths[1]);
    if (stat(paths[0], &attributes[0]) == 0 && stat(paths[1], &attributes[1]) == 0 &&
        outcome_time(attributes[0].st_mtim) == INT64_MAX && outcome_time(attributes[1].st_mtim) != INT64_MAX)
        utimensat(AT_FDCWD, paths[1], now, 0);
}

/* Where the two sides may end up differently, the left goes on from where the right is, or the right from the left. */
static void settle(const struct op *op, const struct view *left, const struct view *right)
{
    switch (op->call) {
    case CALL_lseek:
        lseek(left->slots[op->arguments[0]], lseek(right->slots[op->arguments[0]], 0, SEEK_CUR),
              SEEK_SET);
        break;
    case CALL_fallocate:
    case CALL_truncate:
    case CALL_ftruncate:
        catch_up(op, left, right);
        break;
    default:
        break;
    }
}

static void run_op(struct worker *worker, size_t index, struct outcome *left, struct outcome *right)
{
    struct run *run = worker->run;
    const struct op *op = &run->script->ops[index];
    struct view *views = run->views[op->thread];
    const struct comparison comparison = {&run->trial->traits, op, &views[0], &views[1]};
    struct strbuf text = STRBUF_INIT;
    struct watch watches[2];
    const char *field;

    if (op->watched) {
        watch_begin(&views[0], op, &watches[0]);
        watch_begin(&views[1], op, &watches[1]);
        watch_wait();
    }
    if (op->call != run->trial->left_out)
        make_call(&views[0], op, left);
    if (op->call != run->trial->left_out && rules_left_refuses(&comparison, left))
        return;
    make_call(&views[1], op, right);
    atomic_fetch_add(&run->trial->statistics[op->call].made, 1);
    atomic_fetch_add(&run->trial->statistics[op->call].failed, right->result < 0);
    if (op->call == run->trial->left_out)
        return;
    if (op->watched) {
        watch_end(&views[0], op, &watches[0], left);
        watch_end(&views[1], op, &watches[1], right);
    }
    if (rules_compare(&comparison, NULL, left, right, &text, &field)) {
        report(run, index, field, &text);
        return;
    }
    settle(op, &views[0], &views[1]);
    if (op->call == CALL_tree) {
        char paths[2][VIEW_PATH_BYTES + 16];

        snprintf(paths[0], sizeof(paths[0]), "%s/%u", run->roots[0], op->thread);
        snprintf(paths[1], sizeof(paths[1]), "%s/%u", run->roots[1], op->thread);
        if (tree_compare(&run->trial->traits, paths[0], paths[1], &text, &field))
            report(run, index, field, &text);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct outcome left = {0}, right = {0};

    /* A umask of its own. */
    unshare(CLONE_FS);
    for (size_t i = worker->begin; i < worker->end && !atomic_load(&worker->run->stop); i++) {
        if (!(worker->threads & 1u << worker->run->script->ops[i].thread))
            continue;
        atomic_store(&worker->current, i);
        run_op(worker, i, &left, &right);
        atomic_fetch_add(&worker->run->finished, 1);
    }
    strbuf_free(&left.text);
    strbuf_free(&right.text);
    return NULL;
}

/* Nothing can be cleaned up while calls hang: says which do and ends the program and the daemon with them. */
static void die_hanging(const struct run *run, const struct worker *workers, unsigned count)
{
    fprintf(
        stderr,
        "differential: nothing has finished for %d seconds; mounted with \"%s\"; the last calls:\n",
        HANG_S, place_options(&run->trial->place));
    for (unsigned i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;

        script_print_op(&run->script->ops[atomic_load(&workers[i].current)], &line);
        fprintf(stderr, "    %s\n", line.data);
    }
    fprintf(stderr, "the whole script:\n");
    script_write(run->script, stderr);
    place_kill(&run->trial->place);
    _exit(EXIT_FAILURE);
}

static void join(struct run *run, struct worker *workers, unsigned count)
{
    size_t finished = 0;
    unsigned idle_s = 0;

    for (unsigned i = 0; i < count;) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (pthread_timedjoin_np(workers[i].thread, NULL, &until) == 0) {
            i++;
            continue;
        }
        idle_s = atomic_load(&run->finished) == finished ? idle_s + 1 : 0;
        finished = atomic_load(&run->finished);
        if (idle_s == HANG_S)
            die_hanging(run, workers, count);
    }
}

static void compare_all(struct run *run, size_t index, const char *when)
{
    struct strbuf text = STRBUF_INIT;
    const char *field;

    if (atomic_load(&run->stop))
        return;
    strbuf_printf(&text, "    %s:\n", when);
    if (tree_compare(&run->trial->traits, run->roots[0], run->roots[1], &text, &field))
        report(run, index, field, &text);
    else
        strbuf_free(&text);
}

static void close_files(struct run *run)
{
    for (unsigned thread = 0; thread < run->script->threads; thread++) {
        view_close_files(&run->views[thread][0]);
        view_close_files(&run->views[thread][1]);
    }
}

static void remount(struct run *run, size_t index)
{
    struct place *place = &run->trial->place;
    struct strbuf text = STRBUF_INIT;

    if (!place->tallyfs || atomic_load(&run->stop))
        return;
    if (place_unmount(place, &text) < 0) {
        report(run, index, "unmounting", &text);
        return;
    }
    strbuf_free(&text);
    if (place_mount(place, &text) < 0)
        report(run, index, "mounting", &text);
    compare_all(run, index, "after mounting again");
}

static void run_phase(struct run *run, size_t begin, size_t end, bool is_sequential)
{
    struct worker workers[THREADS_MAX];
    unsigned count = is_sequential ? 1 : run->script->threads;

    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.run = run,
                                     .threads = is_sequential ? ~0u : 1u << i,
                                     .begin = begin,
                                     .end = end,
                                     .current = begin};
        if (begin < end && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            abort();
    }
    if (begin < end)
        join(run, workers, count);
    compare_all(run, end, "with files open");
    close_files(run);
    compare_all(run, end, "with all files closed");
    remount(run, end);
}

static int prepare(struct run *run)
{
    struct trial *trial = run->trial;
    int r = 0;

    if (trial->place.tallyfs && !trial->place.daemon &&
        place_mount(&trial->place, &run->difference.text) < 0)
        return -1;
    snprintf(run->roots[0], sizeof(run->roots[0]), "%s/run%u", trial->left, trial->runs);
    snprintf(run->roots[1], sizeof(run->roots[1]), "%s/run%u", trial->right, trial->runs);
    trial->runs++;
    for (unsigned side = 0; side < 2 && r == 0; side++) {
        r = fresh_make(run->roots[side], run->script->threads);
        for (unsigned thread = 0; thread < run->script->threads && r == 0; thread++) {
            struct view *view = &run->views[thread][side];

            *view = (struct view){
                .root = run->roots[side], .thread = thread, .is_left = side == 0, .umask = 022};
            view->mountpoint = trial->place.tallyfs ? trial->place.mountpoint : NULL;
            r = view_open(view);
        }
    }
    if (r < 0)
        strbuf_printf(&run->difference.text, "    the directories of a run cannot be made: %s\n",
                      strerror(-r));
    return r < 0 ? -1 : 0;
}

/* The daemon may have died: then a new one is mounted, and what is left over is removed through that. */
static void clean_up(struct run *run)
{
    struct trial *trial = run->trial;
    struct strbuf text = STRBUF_INIT;
    struct stat attributes;
    int r = 0;

    close_files(run);
    for (unsigned thread = 0; thread < run->script->threads; thread++) {
        view_close(&run->views[thread][0]);
        view_close(&run->views[thread][1]);
    }
    if (trial->place.tallyfs && (!trial->place.daemon || stat(trial->left, &attributes) < 0)) {
        place_kill(&trial->place);
        r = place_mount(&trial->place, &text);
    }
    if (r == 0)
        r = fresh_remove(run->roots[0]);
    if (r < 0) {
        strbuf_printf(&text, "    the left directory cannot be removed: %s\n", strerror(-r));
        report(run, run->script->count, "removal", &text);
    }
    fresh_remove(run->roots[1]);
    strbuf_free(&text);
}

int run_script(struct trial *trial, const struct script *script, bool is_sequential,
               struct difference *ret_difference)
{
    struct run *run = calloc(1, sizeof(*run));
    size_t begin = 0;
    int r;

    if (!run)
        return -1;
    run->trial = trial;
    run->script = script;
    pthread_mutex_init(&run->lock, NULL);
    r = prepare(run);
    for (size_t i = 0; i <= script->count && r == 0; i++) {
        if (i < script->count && script->ops[i].call != CALL_REMOUNT)
            continue;
        if (!atomic_load(&run->stop))
            run_phase(run, begin, i, is_sequential);
        begin = i + 1;
    }
    if (r == 0) {
        clean_up(run);
        r = run->found ? 1 : 0;
    }
    if (r != 0)
        *ret_difference = run->difference;
    pthread_mutex_destroy(&run->lock);
    free(run);
    return r;
}
