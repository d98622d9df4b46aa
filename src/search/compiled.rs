//! The search compiled for each CPU level. The search calls itself through [`Compiled::call`]: this compiles all of it
//! for the level, not only the code that is inlined into one function.

use super::eval::State;
use super::score::Value;
use super::worker::Worker;

/// The window, depth and ply of a node.
#[derive(Copy, Clone)]
pub(super) struct Node {
    pub alpha: Value,
    pub beta: Value,
    /// Plies to search.
    pub depth: i32,
    /// Plies from the root.
    pub ply: usize,
    /// Whether a beta cutoff is expected at this node.
    pub cut_node: bool,
}

/// A kind of node.
pub(super) trait Visit {
    /// The value of the position within the bounds of the node (fail-soft). The search calls itself through `L`.
    fn visit<L: Compiled>(worker: &mut Worker<'_>, state: &State, node: Node) -> Value;
}

/// A CPU level.
pub(super) trait Compiled {
    fn call<V: Visit>(worker: &mut Worker<'_>, state: &State, node: Node) -> Value;
}

macro_rules! compiled {
    ($level:ident $(, $features:literal)?) => {
        pub(super) struct $level;

        impl Compiled for $level {
            #[inline(always)]
            fn call<V: Visit>(worker: &mut Worker<'_>, state: &State, node: Node) -> Value {
                $(#[target_feature(enable = $features)])?
                fn compiled<V: Visit>(worker: &mut Worker<'_>, state: &State, node: Node) -> Value {
                    V::visit::<$level>(worker, state, node)
                }
                // SAFETY: `Worker::root` selects this level only if `CpuLevel::detect` found its features.
                #[allow(unused_unsafe)]
                unsafe {
                    compiled::<V>(worker, state, node)
                }
            }
        }
    };
}

compiled!(Portable);
#[cfg(target_arch = "x86_64")]
compiled!(Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
compiled!(Avx512, "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq");
