//! A pool of large buffers, kept from one class to the next. The system clears memory before it hands it out, and a
//! virtual machine may first have to reclaim it from its host, at nearly a second a gigabyte. Together this would take
//! a tenth to a fifth of the CPU time of a class of six pieces.

use crate::memory::Memory;
use crate::tablebase::solve::backend::SolveError;
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of bytes that a thread clears at a time.
const PART: usize = 1 << 21;

/// A pool of buffers that are not in use. Clones share the pool; dropping the last clone returns the memory to the
/// system.
#[derive(Clone, Debug, Default)]
pub struct BufferPool(Arc<Mutex<Vec<Buffer>>>);

/// A buffer of the system's memory.
#[derive(Debug)]
struct Buffer {
    /// Larger than requested, so that later larger requests fit.
    memory: Memory,
    /// The number of bytes that were touched.
    touched: usize,
}

impl BufferPool {
    /// A block of `bytes` bytes, all zero. A kept buffer is used if it is large enough, but not much larger. Otherwise
    /// the pool returns as many bytes to the system as it allocates, so that in total it holds little more than the
    /// peak use.
    ///
    /// # Errors
    /// If the memory cannot be allocated.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, SolveError> {
        let mut buffer = match self.fitting(bytes) {
            Some(buffer) => buffer,
            None => Buffer::new(bytes)?,
        };
        buffer.touched = buffer.touched.max(bytes);
        buffer.memory[..bytes].par_chunks_mut(PART).for_each(|part| part.fill(0));
        Ok(Block { buffer: Some(buffer), bytes, pool: self.clone() })
    }

    /// Returns the buffers that are not in use to the system.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Touched bytes of the buffers that are not in use.
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|buffer| buffer.touched).sum()
    }

    /// Removes the best fitting kept buffer: large enough, with a touched size nearest to `bytes`. If none fits,
    /// returns `None` and gives at least `bytes` bytes of other buffers back to the system, as far as there are any.
    fn fitting(&self, bytes: usize) -> Option<Buffer> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Buffer| buffer.memory.len() >= bytes && buffer.touched <= bytes.saturating_add(bytes / 2);
        let best = (0..kept.len()).filter(|&i| fits(&kept[i])).min_by_key(|&i| kept[i].touched.abs_diff(bytes));
        if let Some(best) = best {
            return Some(kept.swap_remove(best));
        }
        let mut given_back = 0;
        while given_back < bytes
            && let Some(buffer) = kept.pop()
        {
            given_back += buffer.touched;
        }
        None
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
        self.pool.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.buffer.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The touched bytes of each kept buffer.
    fn kept(pool: &BufferPool) -> Vec<usize> {
        pool.0.lock().unwrap().iter().map(|buffer| buffer.touched).collect()
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

    /// The pool holds little more than the peak use.
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
