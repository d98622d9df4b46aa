//! Large pieces of memory, kept from one class to the next. The system clears memory before it gives it, and a virtual
//! machine may first have to have it back from its host, at a second or more a gigabyte: as long as a tenth to a fifth of
//! the time that a class of six pieces takes.

use crate::tablebase::solve::backend::SolveError;
use memmap2::MmapMut;
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a thread clears at a time.
const PART: usize = 1 << 21;

/// Memory that nothing is in at the moment. Clones share it; with the last of them it goes back to the system.
#[derive(Clone, Debug, Default)]
pub struct Room(Arc<Mutex<Vec<MmapMut>>>);

impl Room {
    /// That many bytes, all zero. What is kept already is used if it is large enough, but not much larger. Otherwise as much
    /// of it is given back as is had anew, so that in all no more is held than what was in use at one time.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, SolveError> {
        if let Some(map) = self.fitting(bytes) {
            let mut block = Block { map: Some(map), bytes, room: self.clone() };
            block.par_chunks_mut(PART).for_each(|part| part.fill(0));
            return Ok(block);
        }
        // The system gives the pages of it when they are first touched: by the thread that then works there.
        let map = MmapMut::map_anon(bytes.max(1)).map_err(|_| SolveError::Memory { bytes })?;
        // Large ones, since a pass reads many rows that lie far apart. Where there are none, it works with small ones.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Block { map: Some(map), bytes, room: self.clone() })
    }

    /// The smallest piece that is kept and suffices. If there is none, others are given back instead.
    fn fitting(&self, bytes: usize) -> Option<MmapMut> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |map: &MmapMut| (bytes..=bytes.saturating_add(bytes / 2)).contains(&map.len());
        let best = (0..kept.len()).filter(|&i| fits(&kept[i])).min_by_key(|&i| kept[i].len());
        if let Some(best) = best {
            return Some(kept.swap_remove(best));
        }
        let mut given_back = 0;
        while given_back < bytes
            && let Some(map) = kept.pop()
        {
            given_back += map.len();
        }
        None
    }
}

/// A piece of memory in use. Its room keeps it when it is dropped.
#[derive(Debug)]
pub(crate) struct Block {
    /// There until it is dropped.
    map: Option<MmapMut>,
    bytes: usize,
    room: Room,
}

impl Deref for Block {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |map| &map[..self.bytes])
    }
}

impl DerefMut for Block {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.map.as_mut().map_or(&mut [], |map| &mut map[..bytes])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.room.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.map.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(room: &Room) -> Vec<usize> {
        room.0.lock().unwrap().iter().map(|map| map.len()).collect()
    }

    #[test]
    fn what_was_used_comes_back_empty() {
        let room = Room::default();
        let mut block = room.block(3 * PART + 5).unwrap();
        let first = block.as_ptr();
        assert!(kept(&room).is_empty());
        block.fill(7);
        drop(block);
        assert_eq!(kept(&room), [3 * PART + 5]);
        let block = room.clone().block(3 * PART).unwrap();
        assert_eq!((block.as_ptr(), block.len()), (first, 3 * PART), "the same memory");
        assert!(block.iter().all(|&byte| byte == 0));
        assert!(kept(&room).is_empty());
        assert_eq!(room.block(0).unwrap().len(), 0);
    }

    #[test]
    fn the_smallest_that_suffices_is_taken() {
        let room = Room::default();
        let blocks = [120, 100, 140].map(|bytes| room.block(bytes).unwrap());
        drop(blocks);
        let block = room.block(110).unwrap();
        assert_eq!(kept(&room), [140, 100]);
        drop(block);
        assert_eq!(kept(&room), [140, 100, 120]);
    }

    /// No more is held than what was in use at one time.
    #[test]
    fn what_does_not_fit_goes_back_to_the_system() {
        let room = Room::default();
        drop([100, 100, 100, 100].map(|bytes| room.block(bytes).unwrap()));
        let larger = room.block(150).unwrap();
        assert_eq!(kept(&room), [100, 100]);
        drop(larger);
        let much_smaller = room.block(66).unwrap();
        assert_eq!(kept(&room), [100], "150 is more than half again as much, 100 is not; the last one went first");
        drop(much_smaller);
    }

    #[test]
    fn what_no_machine_has_is_an_error() {
        assert!(matches!(Room::default().block(usize::MAX), Err(SolveError::Memory { .. })));
    }
}
