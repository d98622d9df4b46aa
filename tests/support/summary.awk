# Summarises the logs of `./test`: first the file of skipped tests, then the output of each stage.
# Exits with 1 if anything failed.

FILENAME == ARGV[1] {
    split($0, parts, "\t")
    if (!(parts[1] in seen)) {
        seen[parts[1]]; reasons[parts[2]]++; skipped++
        # As far as its runner knows, a test of Rust that cannot run has passed. Other names contain a space.
        if (parts[1] !~ / /) passed--
    }
    next
}
# A program of cargo test, and what libtest prints with --report-time.
/^     Running / {
    program = $NF; sub(/^.*deps\//, "", program); sub(/-[0-9a-f]*\)$/, "", program); next
}
/^test [^ ]+ .*<[0-9.]+s>$/ {
    seconds = $NF; gsub(/[<s>]/, "", seconds); seconds += 0
    group = program
    if (split($2, path, "::") > 1) group = program " " path[1]
    sum[group] += seconds; count[group]++
    times[++tests] = seconds; names[tests] = program " " $2
    next
}
/^test result: / {
    for (i = 2; i <= NF; i++) {
        if ($i == "passed;") passed += $(i - 1)
        if ($i == "failed;") failed += $(i - 1)
    }
    next
}
# pytest.
/[0-9]+ (passed|failed|skipped)(,| in )/ {
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^passed,?$/) passed += $(i - 1)
        if ($i ~ /^failed,?$/) failed += $(i - 1)
        if ($i ~ /^skipped,?$/) { skipped += $(i - 1); reasons["pytest gives the reason above"] += $(i - 1) }
    }
}
# A stage that failed, such as a build, although no test did.
/^FAILED: / { stages = stages " " $0 ";" }

function slowest(   i, best) {
    for (i = 1; i <= tests; i++) if (!best || times[i] > times[best]) best = i
    if (best) { printf "%9.1f s  %s\n", times[best], names[best]; times[best] = -1 }
}
END {
    if (tests) {
        print "test: seconds of the tests of each group, and their number"
        for (group in sum) printf "%9.1f s  %4d  %s\n", sum[group], count[group], group | "sort -rn"
        close("sort -rn")
        print "test: the slowest tests"
        for (n = 0; n < 10 && n < tests; n++) slowest()
    }
    for (reason in reasons) printf "test: skipped %d: %s\n", reasons[reason], reason
    if (stages && !failed) failed = 1
    if (stages) print "test:" stages
    printf "tests: %d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}
