#define_import_path dsq::group

// What the 64 invocations of a workgroup find out together. All of them call these at the same time.

var<workgroup> sum: atomic<u32>;
var<workgroup> votes: array<atomic<u32>, 2>;
var<workgroup> told: u32;

/// What one invocation says.
fn group_tell(value: u32, speaker: u32, i: u32) -> u32 {
    if i == speaker {
        told = value;
    }
    return workgroupUniformLoad(&told);
}

/// The sum of all values.
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
    return group_tell(atomicLoad(&sum), 0u, i);
}

/// The invocations that say yes.
fn group_ballot(yes: bool, i: u32) -> vec2<u32> {
    if i < 2u {
        atomicStore(&votes[i], 0u);
    }
    workgroupBarrier();
    if yes {
        atomicOr(&votes[i / 32u], 1u << (i % 32u));
    }
    workgroupBarrier();
    let ballot = vec2<u32>(atomicLoad(&votes[0]), atomicLoad(&votes[1]));
    workgroupBarrier();
    return ballot;
}
