#!/bin/sh
# Measures `dsq serve`: benches/serve.sh target/release/dsq [REQUESTS]. Needs wrk and curl (Debian: apt install wrk curl).
# Probes of random four-piece positions, all moves with values; the page; and memory before and after many requests.
set -eu
dsq=$1
requests=${2:-1000000}
work=$(mktemp -d)
port=18763
"$dsq" serve --listen "$port" > "$work/out" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$work"' EXIT
url=http://127.0.0.1:$port
until curl -s "$url/api/v1/status" | grep -q '"pieces":4'; do sleep 1; done

# 20,000 positions of four pieces, drawn with a seed.
awk 'BEGIN {
    srand(4); letters = "RCWDPTLE";
    while (n < 20000) {
        split("", board); ok = 1;
        for (i = 0; i < 4 && ok; i++) {
            do { square = int(rand() * 63); rank = int(square / 7); file = square % 7;
            } while ((square in board) || square == 3 || square == 59 || (rank > 2 && rank < 6 && file != 0 && file != 3 && file != 6));
            do { letter = substr(letters, int(rand() * 8) + 1, 1); if (i == 1 || (i > 1 && rand() < 0.5)) letter = tolower(letter); ok = 1;
                for (s in board) if (board[s] == letter) ok = 0;
            } while (!ok);
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
cat > "$work/probe.lua" << LUA
local targets = {}
for line in io.lines("$work/targets") do targets[#targets + 1] = line end
math.randomseed(7)
request = function() return wrk.format("GET", targets[math.random(#targets)]) end
done = function(summary, latency, requests)
    io.write(string.format("%d requests, %.0f/s, p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, max %.2f ms, %d errors\n",
        summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(90) / 1000,
        latency:percentile(99) / 1000, latency:percentile(99.9) / 1000, latency.max / 1000,
        summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
LUA
memory() { awk '/VmRSS|VmHWM/ { printf "%s %d MiB  ", $1, $2 / 1024 } END { print "" }' "/proc/$server/status"; }
echo "memory: $(memory)"
wrk -t1 -c16 -d2s "$url/healthz" > /dev/null
for run in 1 2 3; do
    echo "healthz: $(wrk -t1 -c16 -d5s "$url/healthz" | awk '/Requests\/sec/ { print $2 "/s" }')"
    echo "probe:   $(wrk -t1 -c16 -d5s -s "$work/probe.lua" "$url/" | tail -1)"
done
for path in / "/api/v1/whatif?fen=7/7/3e3/7/7/7/3E3/2L4/3r3_w&piece=d3" "/api/v1/mainline?fen=1r4l/7/7/6P/7/7/7/7/E6_w"; do
    echo "$path: $(wrk -t1 -c4 -d3s --latency "$url$path" | awk '/50%|99%|Requests\/sec/ { printf "%s %s  ", $1, $2 }')"
done
size() { curl -s -H 'Accept-Encoding: gzip' -o /dev/null -w '%{size_download}' "$1"; }
total=0
for file in / $(curl -s "$url/" | grep -oE '(src|href)="[^"?#]+\.(js|css|svg)"' | sed 's/.*"\(.*\)"/\1/'); do
    total=$((total + $(size "$url/${file#/}")))
done
echo "page: $total bytes compressed, scripts that scripts import not counted"
done_so_far=0
while [ "$done_so_far" -lt "$requests" ]; do
    n=$(wrk -t1 -c16 -d10s -s "$work/probe.lua" "$url/" | awk '/requests,/ { print $1 }')
    done_so_far=$((done_so_far + n))
    echo "after $done_so_far requests: $(memory)"
done
kill -TERM $server
wait $server && echo "ended with exit code 0"
