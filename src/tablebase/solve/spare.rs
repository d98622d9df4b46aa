//! Memory of values that are written to disk and not needed any more. The next class uses it again: the system clears memory
//! before it hands it out, which takes a tenth of the CPU time of writing five pieces.

use crate::tablebase::value::{Cells, Table};
use std::sync::{Mutex, PoisonError};

/// Cells that are not in use, with any codes.
#[derive(Default)]
pub(crate) struct SpareCells(Mutex<Vec<Vec<u8>>>);

impl SpareCells {
    /// Adds the memory of a table.
    pub(crate) fn put(&self, table: Table) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for cells in [table.cells.white, table.cells.black] {
            // Cells of two bytes are rare, and no class begins with them.
            if let Cells::Byte(cells) = cells {
                spare.push(cells);
            }
        }
    }

    /// `len` cells with any codes, if there are any that are not much larger. Otherwise it frees as many cells as the
    /// caller will allocate, so that all together they take little more than the peak use.
    pub(crate) fn take(&self, len: usize) -> Option<Vec<u8>> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |cells: &Vec<u8>| (len..=len + len / 2).contains(&cells.len());
        let best = (0..spare.len()).filter(|&i| fits(&spare[i])).min_by_key(|&i| spare[i].len());
        if let Some(best) = best {
            let mut cells = spare.swap_remove(best);
            cells.truncate(len);
            return Some(cells);
        }
        let mut freed = 0;
        while freed < len
            && let Some(cells) = spare.pop()
        {
            freed += cells.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::ByColor;

    fn sizes(spare: &SpareCells) -> Vec<usize> {
        spare.0.lock().unwrap().iter().map(Vec::len).collect()
    }

    #[test]
    fn the_smallest_that_suffices_is_taken() {
        let spare = SpareCells::default();
        let table = |white, black| Table { cells: ByColor { white: Cells::Byte(vec![7; white]), black } };
        spare.put(table(140, Cells::Byte(vec![7; 110])));
        spare.put(table(90, Cells::Wide(vec![7; 100])));
        assert_eq!(sizes(&spare), [140, 110, 90], "wide cells are freed");
        assert_eq!(spare.take(100).map(|cells| cells.len()), Some(100));
        assert_eq!(sizes(&spare), [140, 90]);
        assert_eq!(spare.take(91), None, "140 is more than half as much again");
        assert_eq!(sizes(&spare), [] as [usize; 0], "as much as will be allocated is freed");
    }
}
