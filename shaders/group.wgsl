// Functions that all invocations of a workgroup compute together. They must call them in uniform control flow.

/// Sums of values of all invocations.
var<workgroup> sums: array<atomic<u32>, 4>;
var<workgroup> broadcast: u32;

/// Waits for all invocations of the workgroup.
fn barrier() {
    count_barriers(1u);
    workgroupBarrier();
}

/// Returns the `value` of the invocation `source` to all invocations.
fn group_broadcast(value: u32, source: u32, i: u32) -> u32 {
    if i == source {
        broadcast = value;
    }
    count_barriers(2u);
    return workgroupUniformLoad(&broadcast);
}

/// Adds all values to a sum. With subgroups, each subgroup adds up its own values first.
fn add_up(which: u32, value: u32, i: u32) {
#ifdef SUBGROUPS
    let part = subgroupAdd(value);
    if i == subgroupMin(i) && part != 0u {
        atomicAdd(&sums[which], part);
    }
#else
    if value != 0u {
        atomicAdd(&sums[which], value);
    }
#endif
}

/// The sum of all values.
fn group_sum(value: u32, i: u32) -> u32 {
    if i == 0u {
        atomicStore(&sums[0], 0u);
    }
    barrier();
    add_up(0u, value, i);
    barrier();
    return group_broadcast(atomicLoad(&sums[0]), 0u, i);
}
