//! Large blocks of memory in large pages: most of the cost of a random look-up is a TLB miss.

use std::ops::{Deref, DerefMut};

/// The memory that large blocks leave for everything else: a small allocation that fails ends the process.
const LEFT: usize = 16 << 20;
/// The least bytes of a large block.
const LARGE: usize = 1 << 20;

/// Whether the limits of the process (`ulimit -v`, `ulimit -d`) leave `bytes` bytes of memory, and some more for everything
/// else. Other threads may take it before the caller does.
#[must_use]
pub fn has_memory(bytes: usize) -> bool {
    if !is_limited() && bytes < LEFT {
        return true;
    }
    bytes.checked_add(LEFT).is_some_and(can_map)
}

#[cfg(unix)]
fn is_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    [Resource::As, Resource::Data].into_iter().any(|limit| getrlimit(limit).current.is_some())
}
#[cfg(not(unix))]
fn is_limited() -> bool {
    cfg!(not(target_family = "wasm"))
}

#[cfg(not(target_family = "wasm"))]
fn can_map(bytes: usize) -> bool {
    Map::map_anon(bytes).is_ok()
}
/// The memory of WebAssembly cannot be returned, so only the allocation itself finds its limit.
#[cfg(target_family = "wasm")]
fn can_map(_bytes: usize) -> bool {
    true
}

/// A block of initially zero bytes that begins at a cache line.
#[derive(Debug)]
pub(crate) struct Memory(Map);

/// Memory of the system, which clears it when it is first used: what is never touched costs nothing.
#[cfg(not(target_family = "wasm"))]
type Map = memmap2::MmapMut;
#[cfg(target_family = "wasm")]
type Map = lines::Lines;

impl Memory {
    /// A block of at least `len` bytes; `None` if the memory cannot be allocated, or a large block would leave none.
    pub(crate) fn zeroed(len: usize) -> Option<Memory> {
        if len >= LARGE && !has_memory(len) {
            return None;
        }
        let map = Map::map_anon(len.max(1)).ok()?;
        // Large pages are optional, so a failure is ignored.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Memory(map))
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Memory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// The heap in place of the system's pages, which WebAssembly does not have.
#[cfg(target_family = "wasm")]
mod lines {
    use std::collections::TryReserveError;
    use std::ops::{Deref, DerefMut};

    #[derive(Copy, Clone, Debug)]
    #[repr(align(64))]
    struct Line(#[expect(dead_code, reason = "the lines are read as bytes")] [u8; 64]);

    #[derive(Debug)]
    pub(crate) struct Lines(Vec<Line>);

    impl Lines {
        pub(super) fn map_anon(len: usize) -> Result<Lines, TryReserveError> {
            let (mut lines, len) = (Vec::new(), len.div_ceil(size_of::<Line>()));
            lines.try_reserve_exact(len)?;
            lines.resize(len, Line([0; 64]));
            Ok(Lines(lines))
        }
    }

    impl Deref for Lines {
        type Target = [u8];

        #[inline(always)]
        fn deref(&self) -> &[u8] {
            // SAFETY: a line is 64 bytes without padding.
            unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of_val(&*self.0)) }
        }
    }

    impl DerefMut for Lines {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [u8] {
            // SAFETY: a line is 64 bytes without padding.
            unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of_val(&*self.0)) }
        }
    }
}
