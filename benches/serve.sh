#!/bin/sh
# Measures `dsq serve` and writes results/serve.md: benches/serve.sh target/release/dsq [TABLES] > results/serve.md
# TABLES is a directory with tables of five pieces, of all or of MATERIALS. Needs wrk and curl (Debian: apt install wrk curl).
#
#   MATERIALS="EPvPDR"  the materials of the five-piece positions; any if not given
#   NOTE="..."          a note on the page about other load of the machine
#   REQUESTS=1000000    requests of each measurement of memory; 0 leaves it out
#   PAINT="87 ms"       first paint, as `./test light -- --nocapture` reports it
set -eu
dsq=$1
tables=${2:-}
requests=${REQUESTS:-1000000}
work=$(mktemp -d)
port=18763
url=http://127.0.0.1:$port
server=
trap 'if [ -n "$server" ]; then kill "$server" 2> /dev/null || true; fi; rm -rf "$work"' EXIT

# Starts a server and waits until it has the tables of $1 pieces; further arguments are its own.
start() {
    pieces=$1
    shift
    "$dsq" serve --listen "$port" --pieces "$pieces" "$@" > "$work/out" &
    server=$!
    until curl -s "$url/api/v1/status" | grep -q "\"pieces\":$pieces"; do sleep 1; done
}
stop() {
    kill -TERM "$server"
    wait "$server"
    server=
}
# 20,000 random positions of $1 pieces (with seed $2, of the materials $3), one on each line, as targets. Both sides have
# at least one piece, and no piece stands in a den.
targets() {
    awk -v pieces="$1" -v materials="${3:-}" 'BEGIN {
        srand(4); letters = "RCWDPTLE"; kinds = split(materials, kind, " ");
        while (n < 20000) {
            split("", board); drawn = "";
            if (kinds) { split(kind[int(rand() * kinds) + 1], side, "v"); drawn = side[1] tolower(side[2]) }
            for (i = 0; i < pieces; i++) {
                do { square = int(rand() * 63); rank = int(square / 7); file = square % 7;
                } while ((square in board) || square == 3 || square == 59 || (rank > 2 && rank < 6 && file != 0 && file != 3 && file != 6));
                if (drawn) letter = substr(drawn, i + 1, 1);
                else do { letter = substr(letters, int(rand() * 8) + 1, 1); if (i == 1 || (i > 1 && rand() < 0.5)) letter = tolower(letter); fresh = 1;
                    for (s in board) if (board[s] == letter) fresh = 0;
                } while (!fresh);
                board[square] = letter;
            }
            fen = "";
            for (rank = 8; rank >= 0; rank--) {
                empty = 0;
                for (file = 0; file < 7; file++) {
                    s = rank * 7 + file;
                    if (s in board) { if (empty) fen = fen empty; fen = fen board[s]; empty = 0 } else empty++;
                }
                fen = fen (empty ? empty : "") (rank ? "/" : "");
            }
            print "/api/v1/probe?fen=" fen "_" (rand() < 0.5 ? "w" : "b"); n++;
        }
    }' > "$work/targets"
    script "$2"
}
# Requests of every kind for a server with three pieces: 19,000 probes in memory, and 1,000 others, of which 60 need rules
# that may have to be solved, and 40 four-piece classes.
mixed() {
    targets 3 5
    head -19000 "$work/targets" > "$work/mixed"
    awk 'BEGIN {
        split("paper chinese quadibloc bell cazaux bodlaender bell,traps=any paper,shore=none paper,no-move=loss", rules, " ");
        fen = "fen=7/7/3e3/7/7/7/3E3/2L4/7_w"; api = "/api/v1/";
        for (i = 0; i < 60; i++) print api "probe?" fen "&rules=" rules[i % 9 + 1];
        for (i = 0; i < 30; i++) print api "random?material=EPvL" substr("RCWDPT", i % 6 + 1, 1) "&seed=" i "&rules=" rules[i % 9 + 1];
        for (i = 0; i < 10; i++) print api "stats/LTvE" substr("RCWDP", i % 5 + 1, 1);
        for (i = 0; i < 150; i++) { print api "whatif?" fen "&piece=d3"; print api "mainline?" fen; print api "race?" fen; }
        for (i = 0; i < 100; i++) { print api "state?moves=a3b3,g7f7"; print api "random?seed=" i; print api "stats/EvL"; }
        for (i = 0; i < 20; i++) { print api "fortress?" fen; print api "rulesets?" fen; print api "tree?" fen; }
        for (i = 0; i < 30; i++) { print api "bestmove?movetime=5&strength=10"; print api "analyze?depth=3&hash=256&tables=0"; }
        for (i = 0; i < 15; i++) { print api "matrix?white=1&black=2"; print api "longest?count=20"; }
    }' >> "$work/mixed"
    mv "$work/mixed" "$work/targets"
    script 3
}
# A script for wrk that requests the targets at random, and prints the measurements in one line.
script() {
    cat > "$work/probe.lua" << LUA
local targets = {}
for line in io.lines("$work/targets") do targets[#targets + 1] = line end
math.randomseed($1)
request = function() return wrk.format("GET", targets[math.random(#targets)]) end
done = function(summary, latency, requests)
    io.write(string.format("%d %.0f %.2f %.2f %.2f %.2f %d\n", summary.requests, summary.requests / summary.duration * 1e6,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000, latency.max / 1000,
        summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
LUA
}
# CPU time of the server so far, in hundredths of a second.
spent() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
# The run with the median rate: rate, p50, p99, p99.9, the server's CPU time for a request, errors of all runs.
# Each run is a line "requests rate p50 p99 p99.9 max errors".
median() {
    sort -k 2 -n | awk -v before="$1" '{ line[NR] = $0; requests += $1; errors += $7 } END {
        getline after < "/dev/fd/3"; split(line[int((NR + 1) / 2)], f);
        printf "%d a second | %s ms | %s ms | %s ms | %.0f µs | %d |\n", f[2], f[3], f[4], f[5], (after - before) * 1e4 / requests, errors }' 3< "$work/spent"
}
probes() {
    before=$(spent)
    for run in 1 2 3 4 5; do wrk -t1 -c"$1" -d5s -s "$work/probe.lua" "$url/" | tail -1; done > "$work/runs"
    spent > "$work/spent"
    median "$before" < "$work/runs"
}
plain() {
    echo "$1" | sed 's/ *$//' > "$work/targets"
    script 1
    before=$(spent)
    for run in 1 2 3; do wrk -t1 -c16 -d3s -s "$work/probe.lua" "$url/" | tail -1; done > "$work/runs"
    spent > "$work/spent"
    median "$before" < "$work/runs"
}
memory() { awk '/VmRSS/ { printf "%d MiB", $2 / 1024 }' "/proc/$server/status"; }
load() { cut -d ' ' -f 1 /proc/loadavg; }
size() { curl -s -H 'Accept-Encoding: gzip' -o /dev/null -w '%{size_download}' "$1"; }

echo "# Measurements of \`dsq serve\`"
echo
echo "$(date -u +%F), by \`benches/serve.sh\`: $(nproc) cores of $(awk -F ': ' '/model name/ { print $2; exit }' /proc/cpuinfo), which wrk shares with the"
echo "server; medians of five runs, 16 connections. Load before: $(load). ${NOTE:-}"
echo
start 4
echo "| request | rate | p50 | p99 | p99.9 | CPU time of a request | errors |"
echo "|---|---|---|---|---|---|---|"
wrk -t1 -c16 -d2s "$url/healthz" > /dev/null
echo "| \`/healthz\`, without computation | $(plain /healthz)"
targets 4 7
wrk -t1 -c16 -d2s -s "$work/probe.lua" "$url/" > /dev/null
echo "| \`probe\`, random positions of four pieces, all moves with values | $(probes 16)"
echo "| the same, one connection | $(probes 1)"
echo "| \`whatif\`, three pieces | $(plain "/api/v1/whatif?fen=7/7/3e3/7/7/7/3E3/2L4/7_w&piece=d3")"
echo "| \`mainline\`, 67 plies | $(plain "/api/v1/mainline?fen=6l/7/7/6P/7/7/7/7/E6_w")"
echo "| the page with its position | $(plain /)"
before=$(memory)
total=$(size "$url/")
for file in $(curl -s "$url/" | grep -oE '(src|href)="/[a-zA-Z.-]+\.(js|css|svg)"' | sed 's/.*"\(.*\)"/\1/' | sort -u); do
    total=$((total + $(size "$url$file")))
done
rows="| the page, all files compressed | $((total / 1000)) kB |"
[ -z "${PAINT:-}" ] || rows="$rows
| its first paint, in headless Chromium | $PAINT |"
rows="$rows
| memory with the tables of four pieces | $before |"
# Sends $requests requests and prints their number and the memory in MiB, every ten seconds.
under_load() {
    answered=0
    sizes=
    while [ "$answered" -lt "$requests" ]; do
        n=$(wrk -t1 -c16 -d10s --timeout 30s -s "$work/probe.lua" "$url/" | tail -1 | cut -d ' ' -f 1)
        answered=$((answered + n))
        sizes="$sizes $(memory | cut -d ' ' -f 1)"
    done
    echo "$answered:$sizes"
}
if [ "$requests" -gt 0 ]; then
    targets 4 7
    rows="$rows
| requests, then memory in MiB every ten seconds, four pieces in memory | $(under_load) |"
fi
stop
if [ "$requests" -gt 0 ]; then
    start 3
    mixed
    rows="$rows
| memory with the tables of three pieces | $(memory) |
| mixed requests, then memory in MiB every ten seconds, three pieces in memory | $(under_load) |"
    stop
fi
if [ -n "$tables" ]; then
    start 3 --tables "$tables"
    targets 5 11 "${MATERIALS:-}"
    echo "| \`probe\`, random positions of five pieces (${MATERIALS:-all materials}), tables on disk, the first 5 s | $(wrk -t1 -c16 -d5s -s "$work/probe.lua" "$url/" | tail -1 | awk '{ printf "%d a second | %s ms | %s ms | %s ms | | %d", $2, $3, $4, $5, $7 }') |"
    echo "| the same, afterwards | $(probes 16)"
    echo "| the same, one connection | $(probes 1)"
    rows="$rows
| memory with tables of five pieces on disk, afterwards | $(memory) |"
    if [ "$requests" -gt 0 ]; then
        rows="$rows
| requests for positions of five pieces, then memory in MiB every ten seconds | $(under_load) |"
    fi
    stop
fi
echo
echo "| quantity | value |"
echo "|---|---|"
echo "$rows"
