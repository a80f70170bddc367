#!/usr/bin/env bash
# Usage: build.sh OPTIONS
# A part of this repository, copied onto the mount, configured, compiled and linked there with CMake, Ninja and gcc; its
# unit tests run from there. After a remount nothing is to be built again, and only what depends on a changed file.
. "$(dirname "$0")/lib.sh"
need cmake ninja gcc
top=$(cd "$here/../.." && pwd)

targets=(test_util test_hist)
[ ! "$long" ] || targets+=(test_codec test_frame test_map test_store)

build() { ninja -C "$mount/build" -j 2 "${targets[@]}"; }
run_tests() {
    local target
    for target in "${targets[@]}"; do
        quietly "$mount/build/tests/unit/$target"
    done
}

mount_it "$options"
mkdir "$mount/source"
tar -C "$top" -cf - CMakeLists.txt fuse bench include tests contrib/man | tar -C "$mount/source" -xf -
quietly cmake -S "$mount/source" -B "$mount/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug
quietly build
run_tests
remount
run_tests
build >"$work/again" || fail "$(cat "$work/again")"
grep -q 'no work to do' "$work/again" || fail "built again: $(cat "$work/again")"
echo '/* changed */' >>"$mount/source/fuse/util/parse.c"
build >"$work/again" || fail "$(cat "$work/again")"
grep -q 'parse.c' "$work/again" || fail "a changed file was not compiled again: $(cat "$work/again")"
! grep -q 'strbuf.c' "$work/again" || fail "more than the changed file was compiled: $(cat "$work/again")"
run_tests

# Link-time optimization, a shared library that is loaded, stripping, and a debugger's view: other ways to write.
cd "$mount"
cat >library.c <<'SOURCE'
int answer(int by);
int answer(int by) { return 6 * by; }
SOURCE
cat >program.c <<'SOURCE'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    int (*answer)(int) = library ? (int (*)(int))dlsym(library, "answer") : 0;
    return answer ? answer(7) : 1;
}
SOURCE
quietly gcc -O2 -flto -g -shared -fPIC library.c -o library.so
quietly gcc -O2 -flto -g program.c -o program -ldl
quietly objcopy --only-keep-debug program program.debug
quietly strip program library.so
ar rcs library.a "$mount"/build/fuse/util/CMakeFiles/tally_util.dir/*.o
[ "$(ar t library.a | wc -l)" -gt 2 ] || fail "ar"
cd "$work"
remount
status=0
"$mount/program" "$mount/library.so" || status=$?
[ "$status" -eq 42 ] || fail "the program ended with $status"
quietly readelf --all "$mount/program.debug"
unmount_it
