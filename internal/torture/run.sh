#!/usr/bin/env bash
# What tests can't do by themselves: SQLite's own operations fail, the disk is
# full, the home can't be written, many processes begin at once. After each, the
# index must agree with the files, and meanwhile no session may be missing.
#
#   internal/torture/run.sh bin/gjc-index
#
# What needs root, strace or sqlite3 is passed over without them.
set -uo pipefail
bin=$(realpath "${1:-bin/gjc-index}")
step=${TORTURE_STEP:-7} # every so many operations one fails
work=$(mktemp -d)
mounts=()
failed=0

cleanup() {
  for m in "${mounts[@]:-}"; do [ -n "$m" ] && umount "$m" 2>/dev/null; done
  rm -rf "$work"
}
trap cleanup EXIT

ok() { echo "ok    $1"; }
bad() { echo "FAIL  $1"; failed=1; }
skip() { echo "skip  $1: $2"; }
root() { [ "$(id -u)" = 0 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

# sessions N DIR: so many small sessions in a home.
sessions() {
  local i n=$1 dir=$2/sessions/--work--
  mkdir -p "$dir"
  for ((i = 0; i < n; i++)); do
    printf '%s\n' \
      "{\"type\":\"session\",\"version\":5,\"id\":\"s$i\",\"timestamp\":\"2026-02-01T00:00:00.000Z\",\"cwd\":\"/w\"}" \
      "{\"type\":\"message\",\"id\":\"a$i\",\"parentId\":null,\"timestamp\":\"2026-02-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"prompt $i\"}}" \
      >"$dir/2026-02-01T00-00-00-000Z_s$i.jsonl"
  done
}

# listed HOME: how many sessions are listed; nothing else is allowed to stop it.
listed() { timeout 60 "${as[@]}" "$bin" --home "$1" --json list 2>/dev/null | grep -c '"id"'; }
as=()

# agrees HOME: the index is as the files are, once it may be written again.
agrees() {
  "$bin" --home "$1" --quiet reindex >/dev/null 2>&1
  "$bin" --home "$1" verify >/dev/null 2>&1
}

# Each of SQLite's operations fails in turn, once and from then on.
inject() {
  local call=$1 error=$2 max=$3 home n more got
  for more in "" "+"; do
    home=$work/inject
    for ((n = 1; n <= max; n += step)); do
      rm -rf "$home"
      sessions 20 "$home"
      timeout 60 strace -f -qq -o /dev/null -e trace="$call" -e inject="$call:error=$error:when=$n$more" \
        "$bin" --home "$home" --quiet reindex --full >/dev/null 2>&1
      [ $? -ge 124 ] && bad "$call $error at $n$more: it hung or crashed" && return
      got=$(listed "$home")
      [ "$got" = 20 ] || { bad "$call $error at $n$more: $got of 20 sessions listed afterwards"; return; }
      agrees "$home" || { bad "$call $error at $n$more: the index differs from the files"; return; }
    done
  done
  ok "$call fails with $error"
}

if has strace && strace -qq -o /dev/null true 2>/dev/null; then
  inject pwrite64 EIO 60
  inject pwrite64 ENOSPC 60
  inject fdatasync EIO 12
  inject fsync EIO 12
  inject ftruncate EIO 8
else
  skip "operations of SQLite that fail" "no strace"
fi

full() {
  local m=$work/full got
  mkdir -p "$m"
  mount -t tmpfs -o size=2m tmpfs "$m" 2>/dev/null || { skip "full disk" "no mount"; return; }
  mounts+=("$m")
  sessions 200 "$m/home"
  head -c 4m /dev/zero >"$m/fill" 2>/dev/null
  got=$(listed "$m/home")
  [ "$got" = 200 ] || bad "full disk: $got of 200 sessions listed"
  truncate -s -200k "$m/fill" # room for the beginning of an index
  got=$(listed "$m/home")
  [ "$got" = 200 ] || bad "nearly full disk: $got of 200 sessions listed"
  rm "$m/fill"
  agrees "$m/home" && ok "full disk" || bad "full disk: the index differs from the files once there is room"
}

# As somebody who may not write: without an index, with one, with an old one.
readonly_home() {
  local home=$work/ro m=$work/mnt got
  chmod 755 "$work"
  cp "$bin" "$work/gjc-index" && chmod 755 "$work/gjc-index"
  sessions 20 "$home"
  chmod -R a+rX "$home"
  as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  bin=$work/gjc-index
  got=$(listed "$home")
  [ "$got" = 20 ] || bad "home of somebody else, no index: $got of 20 listed"
  as=()
  agrees "$home"
  chmod a+r "$home"/index.db*
  sessions 22 "$home"
  chmod -R a+rX "$home"
  as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  got=$(listed "$home")
  [ "$got" = 22 ] || bad "home of somebody else, old index: $got of 22 listed"
  mkdir -p "$m"
  if mount --bind "$home" "$m" 2>/dev/null && mounts+=("$m") && mount -o remount,ro,bind "$m" 2>/dev/null; then
    got=$(listed "$m")
    [ "$got" = 22 ] || bad "mounted read-only: $got of 22 listed"
    as=()
    got=$(listed "$m")
    [ "$got" = 22 ] || bad "mounted read-only, as root: $got of 22 listed"
  else
    skip "read-only mount" "no mount"
  fi
  as=()
  agrees "$home" && ok "homes that can't be written" || bad "home of somebody else: the index differs from the files"
}

if root; then
  full
  if has setpriv; then readonly_home; else skip "homes that can't be written" "no setpriv"; fi
else
  skip "full disk, homes that can't be written" "not root"
fi

# Sixteen processes find a home without an index, or with one of another time.
together() {
  local what=$1 home=$2 i bad16=0
  for ((i = 0; i < 16; i++)); do
    (listed "$home" >"$work/out$i") &
  done
  wait
  for ((i = 0; i < 16; i++)); do
    [ "$(cat "$work/out$i")" = 50 ] || bad16=$((bad16 + 1))
  done
  [ $bad16 = 0 ] || { bad "16 processes, $what: $bad16 didn't list 50 sessions"; return; }
  ok "16 processes, $what"
}

home=$work/many
sessions 50 "$home"
together "no index" "$home"
agrees "$home" || bad "16 processes: the index differs from the files"
head -c 8192 /dev/urandom >"$home/index.db"
rm -f "$home"/index.db-*
together "damaged index" "$home"
agrees "$home" || bad "16 processes: the index differs from the files"
: >"$home/index.db"
together "empty index" "$home"
agrees "$home" || bad "16 processes: the index differs from the files"
if has sqlite3; then
  sqlite3 "$home/index.db" "DELETE FROM goose_db_version WHERE version_id > 0"
  together "half migrated index" "$home"
  agrees "$home" || bad "16 processes: the index differs from the files"
  sqlite3 "$home/index.db" "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)"
  before=$(sha256sum <"$home/index.db")
  together "index of a newer program" "$home"
  [ "$before" = "$(sha256sum <"$home/index.db")" ] || bad "an index of a newer program was written to"
else
  skip "half migrated and newer indexes" "no sqlite3"
fi
exit $failed
