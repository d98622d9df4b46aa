// Functions that the 64 invocations of a workgroup compute together. All invocations must call them in uniform control flow.

var<workgroup> sum: atomic<u32>;
var<workgroup> broadcast: u32;

/// Returns the `value` of the invocation `source` to all invocations.
fn group_broadcast(value: u32, source: u32, i: u32) -> u32 {
    if i == source {
        broadcast = value;
    }
    return workgroupUniformLoad(&broadcast);
}

/// The sum of all values. With subgroups, each subgroup adds up its own values first.
fn group_sum(value: u32, i: u32) -> u32 {
    if i == 0u {
        atomicStore(&sum, 0u);
    }
    workgroupBarrier();
#ifdef SUBGROUPS
    let part = subgroupAdd(value);
    if i == subgroupMin(i) {
        atomicAdd(&sum, part);
    }
#else
    if value != 0u {
        atomicAdd(&sum, value);
    }
#endif
    workgroupBarrier();
    return group_broadcast(atomicLoad(&sum), 0u, i);
}
