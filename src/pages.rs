//! Tables that threads share without locks.

use crate::memory::Memory;
use std::marker::PhantomData;
use std::ops::Deref;

/// A type that consists of atomic words only, so that zeroed memory is a valid value and threads may share it.
///
/// # Safety
/// The type must be an array of `AtomicU64`, of any shape, aligned to at most 64 bytes.
pub(crate) unsafe trait Words {}

/// A table of initially zero words.
pub(crate) struct Pages<T: Words> {
    memory: Memory,
    len: usize,
    kind: PhantomData<[T]>,
}

impl<T: Words> Pages<T> {
    /// A table of `len` elements; `None` if the memory cannot be allocated.
    pub(crate) fn new(len: usize) -> Option<Pages<T>> {
        let memory = Memory::zeroed(len.checked_mul(size_of::<T>())?)?;
        Some(Pages { memory, len, kind: PhantomData })
    }
}

impl<T: Words> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the memory contains `len` elements and begins at a cache line. Zeroed bytes are valid values of `T` (see
        // `Words`), which change only through their atomic words.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<T>(), self.len) }
    }
}

/// Prefetches a cache line.
#[inline(always)]
pub(crate) fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes nothing that the program sees, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast()) }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch changes nothing that the program sees.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = at;
}
