#!/usr/bin/env bash
# Runs all measurements of a GPU in less than ten minutes: the adapters and their limits, the comparison with the values of
# the CPU, five pieces, each kernel by depth, four pieces, perft, and as many classes of six pieces as the time allows.
#
#   benches/gpu.sh PROGRAM OUT
#
# PROGRAM is a built dsq, OUT a directory. The results are OUT/gpu.jsonl: one JSON object on each line, with the name of its
# step, and after each step a line with its exit code and seconds. OUT/six contains the counts of six pieces; with the
# same OUT the next run continues from there, so that several runs add up to the whole level.
#
# MINUTES=9 is the total time. BANDWIDTH=4.3e12 is the memory bandwidth of the GPU in bytes per second: "floor_seconds" is
# the least time for the bytes that a step has to move. MEMORY=100 is the memory of this machine to use, in GiB.
# PIECES=5 is the largest level that is solved completely; the level above it is counted class by class.
set -uo pipefail

if [[ $# -ne 2 ]]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
fi
dsq=$1 out=$2
minutes=${MINUTES:-9} bandwidth=${BANDWIDTH:-4.3e12} memory=${MEMORY:-100} pieces=${PIECES:-5}
# A software driver takes minutes for four pieces; PIECES=3, the least value, skips them.
four=$((pieces < 4 ? pieces : 4))
mkdir -p "$out"
log=$out/gpu.jsonl
end=$(awk -v now="$EPOCHSECONDS" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes }')

left() { echo $((end - $(date +%s))); }

# Runs one step and adds what it prints to the log, each line with the step's name and the floor of its time.
step() {
    local name=$1 start=$EPOCHREALTIME code
    shift
    if (($(left) < 5)); then
        printf '{"step":"%s","skipped":"no time left"}\n' "$name" >>"$log"
        return
    fi
    timeout "$(left)" "$@" 2>>"$out/stderr.txt" | awk -v step="$name" -v bandwidth="$bandwidth" '{
        floor = ""
        if (match($0, /"bytes_moved":[0-9]+/))
            floor = sprintf("\"floor_seconds\":%.6f,", substr($0, RSTART + 14, RLENGTH - 14) / bandwidth)
        sub(/^\{/, "{\"step\":\"" step "\"," floor)
        print
        fflush()
    }' >>"$log"
    code=${PIPESTATUS[0]}
    awk -v step="$name" -v code="$code" -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN {
        printf "{\"step\":\"%s\",\"exit\":%d,\"seconds\":%.3f}\n", step, code, to - from
    }' >>"$log"
}

printf '{"step":"begin","date":"%s","version":"%s","cores":%d,"bandwidth":%s}\n' \
    "$(date -u +%FT%TZ)" "$("$dsq" --version)" "$(nproc)" "$bandwidth" >>"$log"
step devices "$dsq" bench devices --json
# The plan and the predicted time, to compare with the following measurements.
step "plan-$pieces" "$dsq" solve --pieces "$pieces" --backend gpu --dry-run \
    --bandwidth "$(awk -v bytes="$bandwidth" 'BEGIN { printf "%.3fGiB", bytes / 2 ^ 30 }')" --json
# The most valuable steps first.
step compare-3 "$dsq" bench compare --pieces 3 --json
# The first run of a process compiles the kernels; drivers keep them for the next.
for run in 1 2 3; do
    step "solve-$pieces-run-$run" "$dsq" solve --pieces "$pieces" --backend gpu --json
done
step "kernels-$pieces" "$dsq" bench kernels --pieces "$pieces" --json
((pieces > 4)) && step "compare-$pieces-sample" "$dsq" bench compare --pieces "$pieces" --classes 3 --json
step "solve-$four" "$dsq" solve --pieces "$four" --backend gpu --json
step "solve-$four-cpu" "$dsq" solve --pieces "$four" --backend cpu --json
((four > 3)) && step "compare-$four" "$dsq" bench compare --pieces "$four" --json
for depth in 6 7 8 9; do
    ((depth <= pieces + 4)) && step "perft-$depth" "$dsq" perft "$depth" --backend gpu --json
done
step "perft-7-cpu" "$dsq" perft 7 --method bulk --json
if (($(left) > 30)); then
    step "count-$((pieces + 1))" "$dsq" generate --pieces $((pieces + 1)) --stats-only --backend gpu \
        --memory "${memory}GiB" --minutes "$(awk -v s="$(left)" 'BEGIN { print (s - 15) / 60 }')" \
        --out "$out/six" --json
    step "stats" "$dsq" stats "$out/six" --json
fi
# Tables can be generated again; the next run continues from the counts.
rm -f "$out"/six/*.dsq
grep -c '"exit":0' "$log" | sed 's/$/ steps went well/'
grep '"exit":[1-9]' "$log"
exit 0
