#!/bin/sh
# Shows the main job on a copy of the store in testdata/demo.
set -u
bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cp -R "$(dirname "$0")/demo" "$dir/home" || exit 1
show() {
	printf '\n$ gjc-index %s\n' "$*"
	"$bin" --home "$dir/home" "$@"
	status=$?
	# 3 means: done, and some lines or files were left out, which was said.
	case $status in 0 | 3) ;; *) printf 'exit status %s\n' "$status"; exit "$status" ;; esac
}
echo "A home with $(find "$dir/home/sessions" -name '*.jsonl' | wc -l | tr -d ' ') session files of 2 projects; one is damaged, one has a torn last line."
show list
show list --project /src/ledger --json
show search retry
show search 온도
show search --role any 'rounds half up'
show tree gh-irr
show show gh-irr --entry a0000004
show context gh-sensors
show status
