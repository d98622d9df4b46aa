//! A pool of large buffers, kept from one class to the next. The system clears memory before it hands it out, and a
//! virtual machine may first have to reclaim it from its host, at nearly a second a gigabyte. Together this would take
//! a tenth to a fifth of the CPU time of a class of six pieces.

use crate::memory::Memory;
use crate::tablebase::solve::error::SolveError;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pool of buffers that are not in use. Clones share the pool; dropping the last clone returns the memory to the
/// system.
#[derive(Clone, Debug, Default)]
pub struct BufferPool(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The buffers that are not in use.
    buffers: Vec<Buffer>,
    /// The most bytes by which a buffer may be larger than the block that it is used for.
    spare: usize,
}

/// A buffer of the system's memory.
#[derive(Debug)]
struct Buffer {
    /// Larger than requested, so that later larger requests fit.
    memory: Memory,
    /// The number of bytes that were touched.
    touched: usize,
}

impl BufferPool {
    /// A block of `bytes` bytes with any contents. A kept buffer is used if it is large enough, but not much larger. The pool
    /// returns as many bytes to the system as it takes, as far as it has them.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, SolveError> {
        let mut buffer = match self.fitting(bytes) {
            Some(buffer) => buffer,
            None => Buffer::new(bytes)?,
        };
        buffer.touched = buffer.touched.max(bytes);
        // No test may depend on the contents.
        #[cfg(test)]
        buffer.memory[..bytes].fill(0xa5);
        Ok(Block { buffer: Some(buffer), bytes, pool: self.clone() })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the buffers that are not in use to the system.
    pub(crate) fn clear(&self) {
        self.kept().buffers.clear();
    }

    /// Keeps the pool within a memory limit of `bytes`, of which at least `spare` remain when a block is in use: a larger buffer is
    /// used for the block only if it is larger by no more.
    pub(crate) fn limit(&self, bytes: usize, spare: usize) {
        let mut kept = self.kept();
        kept.spare = spare;
        while kept.bytes() > bytes {
            kept.buffers.pop();
        }
    }

    /// Touched bytes of the buffers that are not in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kept().bytes()
    }

    /// Removes the best fitting kept buffer: large enough, with a touched size nearest to `bytes`; `None` if none fits. Gives
    /// the bytes that it lacks back to the system from other buffers.
    fn fitting(&self, bytes: usize) -> Option<Buffer> {
        let Kept { buffers, spare } = &mut *self.kept();
        let most = bytes.saturating_add((bytes / 2).min(*spare));
        let fits = |buffer: &Buffer| buffer.memory.len() >= bytes && buffer.touched <= most;
        let best =
            (0..buffers.len()).filter(|&i| fits(&buffers[i])).min_by_key(|&i| buffers[i].touched.abs_diff(bytes));
        let best = best.map(|best| buffers.swap_remove(best));
        let mut missing = bytes.saturating_sub(best.as_ref().map_or(0, |buffer| buffer.touched));
        while missing > 0
            && let Some(buffer) = buffers.pop()
        {
            missing = missing.saturating_sub(buffer.touched);
        }
        best
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        self.buffers.iter().map(|buffer| buffer.touched).sum()
    }
}

impl Buffer {
    fn new(bytes: usize) -> Result<Buffer, SolveError> {
        let roomy = bytes.max(1).checked_next_power_of_two().unwrap_or(bytes);
        // A system without overcommit may refuse the larger block.
        let memory = Memory::zeroed(roomy).or_else(|| Memory::zeroed(bytes)).ok_or(SolveError::Memory { bytes })?;
        Ok(Buffer { memory, touched: 0 })
    }
}

/// A buffer in use. Dropping it returns the memory to its pool.
#[derive(Debug)]
pub(crate) struct Block {
    /// `Some` until the block is dropped.
    buffer: Option<Buffer>,
    bytes: usize,
    pool: BufferPool,
}

impl Deref for Block {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.buffer.as_ref().map_or(&[], |buffer| &buffer.memory[..self.bytes])
    }
}

impl DerefMut for Block {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.buffer.as_mut().map_or(&mut [], |buffer| &mut buffer.memory[..bytes])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.pool.kept().buffers.extend(self.buffer.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The touched bytes of each kept buffer.
    fn kept(pool: &BufferPool) -> Vec<usize> {
        pool.kept().buffers.iter().map(|buffer| buffer.touched).collect()
    }

    #[test]
    fn what_was_used_comes_back() {
        let pool = BufferPool::default();
        pool.limit(usize::MAX, 1000);
        let block = pool.block(3005).unwrap();
        assert!(kept(&pool).is_empty());
        let first = block.as_ptr();
        drop(block);
        assert_eq!(kept(&pool), [3005]);
        for bytes in [3000, 4000] {
            let block = pool.clone().block(bytes).unwrap();
            assert_eq!((block.as_ptr(), block.len()), (first, bytes), "the same memory");
            assert!(kept(&pool).is_empty());
        }
        assert_eq!(kept(&pool), [4000]);
        assert_eq!(pool.block(0).unwrap().len(), 0);
    }

    #[test]
    fn the_nearest_that_suffices_is_taken() {
        let pool = BufferPool::default();
        drop([1200, 600, 900].map(|bytes| pool.block(bytes).unwrap()));
        let block = pool.block(1000).unwrap();
        assert_eq!(kept(&pool), [1200], "1,024 bytes are there, of which 900 were touched: 100 more are given back");
        drop(block);
        assert_eq!(kept(&pool), [1200, 1000]);
        assert_eq!(pool.bytes(), 2200);
    }

    /// A buffer is larger than its block only by what the memory limit spares.
    #[test]
    fn what_is_used_again_stays_within_the_limit() {
        let pool = BufferPool::default();
        for (spare, again) in [(0, false), (199, false), (200, true), (usize::MAX, true)] {
            pool.clear();
            drop(pool.block(1200).unwrap());
            pool.limit(1200, spare);
            let block = pool.block(1000).unwrap();
            assert_eq!(block.buffer.as_ref().unwrap().touched, if again { 1200 } else { 1000 }, "{spare}");
            assert!(kept(&pool).is_empty());
        }
        drop([100; 4].map(|bytes| pool.block(bytes).unwrap()));
        pool.limit(250, 0);
        assert!(pool.bytes() <= 250 && pool.bytes() > 0);
    }

    /// The pool holds no more than the peak use.
    #[test]
    fn what_does_not_fit_goes_back_to_the_system() {
        let pool = BufferPool::default();
        pool.limit(usize::MAX, usize::MAX);
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
