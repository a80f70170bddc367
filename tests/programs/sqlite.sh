#!/usr/bin/env bash
# Usage: sqlite.sh OPTIONS
# SQLite on the mount: several writing and reading processes at once for each kind of journal, a writer killed in the
# middle, a remount, and the same database as one that did the same on the plain file system.
. "$(dirname "$0")/lib.sh"
need sqlite3

rounds=$(amount 12 300)
sql() { sqlite3 -batch -bail -cmd '.timeout 60000' "$@"; }

# check DATABASE: whole, and money was moved, neither made nor lost.
check() {
    local found
    found=$(sql "$1" 'PRAGMA integrity_check; PRAGMA foreign_key_check; SELECT sum(amount) FROM account;')
    [ "$found" = $'ok\n100000' ] || fail "$1: $found"
}

writer() {
    local i
    for ((i = 0; i < rounds; i++)); do
        echo "BEGIN IMMEDIATE;
              UPDATE account SET amount = amount - 7 WHERE id = $(((i + $2) % 100));
              INSERT INTO moved(writer, round, note) VALUES ($2, $i, hex(zeroblob($((i * 37 % 5000)))));
              UPDATE account SET amount = amount + 7 WHERE id = $(((i * 3 + $2) % 100));
              COMMIT;"
    done | sql "$1"
}

reader() {
    local i
    for ((i = 0; i < rounds; i++)); do
        echo 'SELECT CASE WHEN sum(amount) = 100000 THEN NULL ELSE sum(amount) END FROM account;'
        echo 'SELECT count(*) FROM moved WHERE length(note) % 2 != 0;'
    done | sql "$1" | grep -vx 0 | grep . && return 1
    return 0
}

# build DIRECTORY JOURNAL MAPPED_BYTES
build() {
    local database=$1/$2.db i jobs=() job
    sql "$database" "PRAGMA journal_mode = $2; PRAGMA page_size = 4096;
        CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
        CREATE TABLE moved(writer INTEGER, round INTEGER, note TEXT, PRIMARY KEY (writer, round)) WITHOUT ROWID;
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
        INSERT INTO account SELECT i, 1000 FROM n;
        CREATE INDEX by_note ON moved(note);" >/dev/null
    for i in 1 2; do
        writer "$database" "$i" &
        jobs+=($!)
        reader "$database" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        wait "$job" || fail "a process on $database"
    done
    sql "$database" "PRAGMA mmap_size = 16777216; DELETE FROM moved WHERE round % 5 = 0; VACUUM;
        UPDATE moved SET note = note || 'x' WHERE round % 3 = 0; PRAGMA wal_checkpoint(TRUNCATE);" >/dev/null
}

# Ends in the middle of a transaction that has spilled into the database or its log.
killed_writer() {
    sql "$1" "PRAGMA cache_size = 10; PRAGMA cache_spill = 5; BEGIN IMMEDIATE; UPDATE account SET amount = 0;
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO moved SELECT 9, i, hex(randomblob(500)) FROM n;
        SELECT 'here';" '.shell kill -9 $PPID' >/dev/null 2>&1 && fail "the writer was not killed"
    return 0
}

journals=(wal delete truncate)
[ ! "$long" ] || journals+=(persist)
mkdir "$work/plain"
mount_it "$options"
for journal in "${journals[@]}"; do
    for directory in "$mount" "$work/plain"; do
        build "$directory" "$journal"
    done
    killed_writer "$mount/$journal.db"
done
# The journals of the killed writers are there to be played back after the remount.
remount
for journal in "${journals[@]}"; do
    check "$mount/$journal.db"
    dump='SELECT * FROM account ORDER BY id; SELECT * FROM moved ORDER BY writer, round;'
    diff <(sql "$work/plain/$journal.db" "$dump") <(sql "$mount/$journal.db" "$dump") >"$work/difference" ||
        fail "$journal: other rows than on the plain file system: $(head -n 5 "$work/difference")"
    quietly sql "$mount/$journal.db" VACUUM ".backup $mount/$journal.copy"
done
remount
for journal in "${journals[@]}"; do
    check "$mount/$journal.db"
    check "$mount/$journal.copy"
done
unmount_it
