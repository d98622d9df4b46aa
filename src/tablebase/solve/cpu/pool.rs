//! Large pieces of memory, kept from one class to the next. The system clears memory before it gives it, and a virtual
//! machine may first have to have it back from its host, at nearly a second a gigabyte: together a tenth to a
//! fifth of the CPU time that a class of six pieces takes.

use crate::tablebase::solve::backend::SolveError;
use memmap2::MmapMut;
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a thread clears at a time.
const PART: usize = 1 << 21;

/// Memory that nothing is in at the moment. Clones share it; with the last of them it goes back to the system.
#[derive(Clone, Debug, Default)]
pub struct BufferPool(Arc<Mutex<Vec<Memory>>>);

/// A piece of the system's memory.
#[derive(Debug)]
struct Memory {
    /// More of it than is requested, so that it can be kept for what takes more. What is never touched costs nothing.
    map: MmapMut,
    /// How much of it was touched.
    touched: usize,
}

impl BufferPool {
    /// That many bytes, all zero. What is kept already is used if it is large enough, but not much larger. Otherwise as much
    /// of it is given back as is had anew, so that in all little more is held than what was in use at one time.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, SolveError> {
        let mut memory = match self.fitting(bytes) {
            Some(memory) => memory,
            None => Memory::new(bytes)?,
        };
        memory.touched = memory.touched.max(bytes);
        memory.map[..bytes].par_chunks_mut(PART).for_each(|part| part.fill(0));
        Ok(Block { memory: Some(memory), bytes, pool: self.clone() })
    }

    /// Bytes that are kept and that nothing is in.
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|memory| memory.touched).sum()
    }

    /// Of the pieces that suffice the one of which most nearly as much was touched. If there is none, others are given back.
    fn fitting(&self, bytes: usize) -> Option<Memory> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |memory: &Memory| memory.map.len() >= bytes && memory.touched <= bytes.saturating_add(bytes / 2);
        let best = (0..kept.len()).filter(|&i| fits(&kept[i])).min_by_key(|&i| kept[i].touched.abs_diff(bytes));
        if let Some(best) = best {
            return Some(kept.swap_remove(best));
        }
        let mut given_back = 0;
        while given_back < bytes
            && let Some(memory) = kept.pop()
        {
            given_back += memory.touched;
        }
        None
    }
}

impl Memory {
    fn new(bytes: usize) -> Result<Memory, SolveError> {
        let roomy = bytes.max(1).checked_next_power_of_two().unwrap_or(bytes);
        // A system that promises no more than it has may refuse the larger piece.
        let map = MmapMut::map_anon(roomy).or_else(|_| MmapMut::map_anon(bytes.max(1)));
        let map = map.map_err(|_| SolveError::Memory { bytes })?;
        // In large pages, since a pass reads many rows that lie far apart. Where there are none, it works with small ones.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Memory { map, touched: 0 })
    }
}

/// A piece of memory in use. Its pool keeps it when it is dropped.
#[derive(Debug)]
pub(crate) struct Block {
    /// There until it is dropped.
    memory: Option<Memory>,
    bytes: usize,
    pool: BufferPool,
}

impl Deref for Block {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &memory.map[..self.bytes])
    }
}

impl DerefMut for Block {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.memory.as_mut().map_or(&mut [], |memory| &mut memory.map[..bytes])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.pool.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.memory.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was touched of the pieces that are kept.
    fn kept(pool: &BufferPool) -> Vec<usize> {
        pool.0.lock().unwrap().iter().map(|memory| memory.touched).collect()
    }

    #[test]
    fn what_was_used_comes_back_empty() {
        let pool = BufferPool::default();
        let mut block = pool.block(3 * PART + 5).unwrap();
        assert!(block.iter().all(|&byte| byte == 0) && kept(&pool).is_empty());
        let first = block.as_ptr();
        block.fill(7);
        drop(block);
        assert_eq!(kept(&pool), [3 * PART + 5]);
        for bytes in [3 * PART, 4 * PART] {
            let mut block = pool.clone().block(bytes).unwrap();
            assert_eq!((block.as_ptr(), block.len()), (first, bytes), "the same memory");
            assert!(block.iter().all(|&byte| byte == 0));
            assert!(kept(&pool).is_empty());
            block.fill(8);
        }
        assert_eq!(kept(&pool), [4 * PART]);
        assert_eq!(pool.block(0).unwrap().len(), 0);
    }

    #[test]
    fn the_nearest_that_suffices_is_taken() {
        let pool = BufferPool::default();
        drop([1200, 600, 900].map(|bytes| pool.block(bytes).unwrap()));
        let block = pool.block(1000).unwrap();
        assert_eq!(kept(&pool), [1200, 600], "1,024 bytes are there, of which 900 were touched");
        drop(block);
        assert_eq!(kept(&pool), [1200, 600, 1000]);
        assert_eq!(pool.bytes(), 2800);
    }

    /// Little more is held than what was in use at one time.
    #[test]
    fn what_does_not_fit_goes_back_to_the_system() {
        let pool = BufferPool::default();
        drop([100; 4].map(|bytes| pool.block(bytes).unwrap()));
        drop(pool.block(150).unwrap());
        assert_eq!(kept(&pool), [100, 100, 150]);
        drop(pool.block(66).unwrap());
        assert_eq!(kept(&pool), [100, 100, 66], "100 is more than half again as much");
    }

    #[test]
    fn what_no_machine_has_is_an_error() {
        for bytes in [usize::MAX, usize::MAX / 4] {
            assert!(matches!(BufferPool::default().block(bytes), Err(SolveError::Memory { .. })));
        }
    }
}
