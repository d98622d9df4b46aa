//! Conversions by depth, in memory or, if a class has too many, in a temporary file that all ranges of rows share.
//!
//! A range of rows pushes its conversions row by row; an iteration takes them depth by depth. The runs of one depth are
//! read back in the order in which they were pushed, which is the order of rows.

use crate::tablebase::spill::SpillFile;
use bytemuck::{Pod, Zeroable};
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// The positions of one word with a conversion of one depth, or without a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Entry {
    /// 64 times the number of the row in its range, plus the square of the word piece. A class of seven pieces has more than 2^32 words, so the number
    /// within the class would not fit.
    pub word: u32,
    low: u32,
    high: u32,
}

impl Entry {
    /// The most words of one range of rows.
    pub(crate) const WORDS: usize = u32::MAX as usize;

    /// The entry of some positions of a word. `word` is the number within its range, below [`Entry::WORDS`].
    pub(crate) fn new(word: usize, mask: u64) -> Entry {
        let word = u32::try_from(word).expect("a range of rows has no more words than an entry can tell apart");
        Entry { word, low: mask as u32, high: (mask >> 32) as u32 }
    }

    pub(crate) fn mask(self) -> u64 {
        u64::from(self.low) | u64::from(self.high) << 32
    }
}

/// The conversions of a range of rows, by depth in plies: at an odd depth positions that win at this depth, at an even
/// depth positions that can be lost from this depth on.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    by_depth: Vec<Vec<Entry>>,
    spill: Option<Spill>,
}

/// Conversions that are on disk.
#[derive(Debug)]
struct Spill {
    file: Arc<SpillFile>,
    /// By depth: the offset in bytes and the number of entries of each run.
    runs: Vec<Vec<(u64, usize)>>,
    /// The most entries to keep in memory.
    limit: usize,
}

impl Buckets {
    /// Buckets that keep about `limit` entries in memory and the others in a file.
    pub(crate) fn on_disk(file: Arc<SpillFile>, limit: usize) -> Buckets {
        Buckets { by_depth: Vec::new(), spill: Some(Spill { file, runs: Vec::new(), limit }) }
    }

    // Inlined, because an entry passed through memory is read in other pieces than it was written, which stalls the
    // CPU.
    #[inline(always)]
    pub(crate) fn push(&mut self, depth: u16, entry: Entry) {
        let depth = usize::from(depth);
        if self.by_depth.len() <= depth {
            self.add_depths(depth);
        }
        self.by_depth[depth].push(entry);
    }

    #[cold]
    fn add_depths(&mut self, depth: usize) {
        self.by_depth.resize_with(depth + 1, Vec::new);
    }

    /// Moves the conversions to disk if too many are in memory, or, with `all`, in any case.
    ///
    /// # Errors
    /// If they cannot be written, for instance because the disk is full.
    pub(crate) fn spill(&mut self, all: bool) -> io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let count: usize = self.by_depth.iter().map(Vec::len).sum();
        if count == 0 || !all && count < spill.limit {
            return Ok(());
        }
        if spill.runs.len() < self.by_depth.len() {
            spill.runs.resize_with(self.by_depth.len(), Vec::new);
        }
        for (entries, runs) in self.by_depth.iter_mut().zip(&mut spill.runs).filter(|(entries, _)| !entries.is_empty())
        {
            // Only this process reads the file, so entries are written as in memory.
            let at = spill.file.append(bytemuck::cast_slice(entries))?;
            runs.push((at, entries.len()));
            // With `all` the range is complete and needs no space for more entries.
            if all { *entries = Vec::new() } else { entries.clear() }
        }
        Ok(())
    }

    /// Removes and returns the conversions of a depth, in the order in which they were pushed. `buffer` receives them
    /// if some come from disk.
    ///
    /// # Errors
    /// If they cannot be read back.
    pub(crate) fn take<'a>(&mut self, depth: u16, buffer: &'a mut Vec<Entry>) -> io::Result<Cow<'a, [Entry]>> {
        let depth = usize::from(depth);
        let in_memory = self.by_depth.get_mut(depth).map(std::mem::take).unwrap_or_default();
        let runs = match &mut self.spill {
            Some(spill) => spill.runs.get_mut(depth).map(std::mem::take).unwrap_or_default(),
            None => Vec::new(),
        };
        let Some(spill) = self.spill.as_mut().filter(|_| !runs.is_empty()) else { return Ok(Cow::Owned(in_memory)) };
        buffer.clear();
        for (start, count) in runs {
            let before = buffer.len();
            buffer.resize(before + count, Entry::zeroed());
            spill.file.read(bytemuck::cast_slice_mut(&mut buffer[before..]), start)?;
        }
        buffer.extend(in_memory);
        Ok(Cow::Borrowed(buffer))
    }

    /// The greatest depth with a conversion, or 0.
    pub(crate) fn last_depth(&self) -> u16 {
        let in_memory = self.by_depth.iter().rposition(|entries| !entries.is_empty());
        let on_disk = self.spill.as_ref().and_then(|spill| spill.runs.iter().rposition(|runs| !runs.is_empty()));
        in_memory.max(on_disk).unwrap_or(0) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// Buckets on disk return the same entries as buckets in memory, in the same order.
    #[test]
    fn the_disk_gives_back_what_memory_would() {
        let dir = tempfile::tempdir().unwrap();
        let mut random = Pcg64::seed_from_u64(5);
        let mut memory = Buckets::default();
        let file = Arc::new(SpillFile::create(dir.path()).unwrap());
        let mut disk = Buckets::on_disk(file.clone(), 100);
        // Another range of rows that uses the same file.
        let mut other = Buckets::on_disk(file, 50);
        let mut buffer = vec![Entry::new(7, 7)];
        let held = |buckets: &Buckets| buckets.by_depth.iter().map(Vec::len).sum::<usize>();
        for word in 0..5_000 {
            for _ in 0..random.next_u64() % 4 {
                let (depth, mask) = ((random.next_u64() % 90) as u16, random.next_u64());
                memory.push(depth, Entry::new(word, mask));
                disk.push(depth, Entry::new(word, mask));
                other.push(depth, Entry::new(word, !mask));
            }
            let before = held(&disk);
            disk.spill(false).unwrap();
            other.spill(false).unwrap();
            assert_eq!(held(&disk), if before < 100 { before } else { 0 });
        }
        disk.spill(true).unwrap();
        assert!(disk.by_depth.iter().all(Vec::is_empty));
        assert_eq!(disk.last_depth(), memory.last_depth());
        for depth in 0..100 {
            assert_eq!(disk.take(depth, &mut buffer).unwrap(), memory.take(depth, &mut Vec::new()).unwrap());
            assert_eq!(*disk.take(depth, &mut buffer).unwrap(), [], "they are taken once");
        }
        assert_eq!((disk.last_depth(), memory.last_depth()), (0, 0));
    }

    #[test]
    fn an_entry_counts_all_words_of_a_range() {
        assert_eq!(Entry::new(Entry::WORDS - 1, 1).word, u32::MAX - 1);
        assert!(std::panic::catch_unwind(|| Entry::new(Entry::WORDS + 1, 1)).is_err(), "no silent wrap");
    }
}
