#!/usr/bin/env bash
# The rooms' benchmarks beside those of the last recorded run, with benchstat.
# Whatever became more than 10 % slower or bigger is named, and the exit status
# is 1. Absolute times wander on shared machines: record and compare on one.
#
#   internal/bench/compare.sh record    measures, and records it
#   internal/bench/compare.sh           measures, and compares it with the record
set -euo pipefail
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
record=internal/bench/recorded.txt
packages=${BENCH_PACKAGES:-./storage ./blob ./jsonl ./scope ./migrations ./history ./session/... ./index}
now=$(mktemp)
trap 'rm -f "$now" "$now.csv"' EXIT

# shellcheck disable=SC2086 # several packages, and several flags
go test -run '^$' -bench "${BENCH:-.}" -benchtime "${BENCH_TIME:-200ms}" -count "${BENCH_COUNT:-6}" -benchmem $packages | tee "$now"
if [ "${1:-}" = record ]; then
  cp "$now" "$record"
  exit
fi
go run "$benchstat" "$record" "$now"
go run "$benchstat" -format csv "$record" "$now" >"$now.csv" 2>/dev/null
awk -F, '
  $2 ~ /\/op$|B\/s$/ { unit = $2 }
  $1 != "geomean" && $6 ~ /^[+-]/ {
    change = $6 + 0
    if (unit == "B/s" ? change < -10 : change > 10) { print "worse by more than 10 %: " $1 " " $6 " " unit; worse = 1 }
  }
  END { exit worse }' "$now.csv"
