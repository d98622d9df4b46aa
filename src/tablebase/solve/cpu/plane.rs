//! The memory of a plane.

use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::solve::cpu::quiet::Row;
use crate::tablebase::solve::cpu::room::{Block, Room};
use std::ops::{Deref, DerefMut};

/// From here on a plane has memory of its own instead of the allocator's: for five pieces and more.
const LARGE: usize = 16 << 20;

/// A set of positions of a class: a row for each row that is solved.
pub(crate) struct Plane(Memory);

enum Memory {
    Small(Vec<Row>),
    Large(Block),
}

impl Plane {
    /// A plane without a position.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn empty(rows: usize, room: &Room) -> Result<Plane, SolveError> {
        let bytes = rows.saturating_mul(size_of::<Row>());
        let small = bytes < LARGE;
        Ok(Plane(if small { Memory::Small(try_vec(rows, Row::EMPTY)?) } else { Memory::Large(room.block(bytes)?) }))
    }
}

impl Deref for Plane {
    type Target = [Row];

    #[inline(always)]
    fn deref(&self) -> &[Row] {
        match &self.0 {
            Memory::Small(rows) => rows,
            Memory::Large(block) => bytemuck::cast_slice(block),
        }
    }
}

impl DerefMut for Plane {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Row] {
        match &mut self.0 {
            Memory::Small(rows) => rows,
            Memory::Large(block) => bytemuck::cast_slice_mut(block),
        }
    }
}

/// A vector of `len` times `value`, or an error if there is no memory for it.
pub(crate) fn try_vec<T: Clone>(len: usize, value: T) -> Result<Vec<T>, SolveError> {
    let mut vec = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    vec.try_reserve_exact(len).map_err(|_| SolveError::Memory { bytes })?;
    vec.resize(len, value);
    Ok(vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_planes_begin_empty_and_keep_what_is_written() {
        let large = LARGE / size_of::<Row>();
        for rows in [0, 1, large - 1, large, large + 1] {
            let mut plane = Plane::empty(rows, &Room::default()).unwrap();
            assert_eq!(plane.len(), rows);
            assert!(plane.iter().all(|row| *row == Row::EMPTY));
            assert_eq!(matches!(plane.0, Memory::Large(_)), rows >= large);
            if let Some(row) = plane.last_mut() {
                row.0[63] = 1 << 62;
                assert_eq!(plane[rows - 1].0[63], 1 << 62);
            }
        }
    }

    #[test]
    fn what_no_machine_has_is_an_error() {
        for rows in [usize::MAX, usize::MAX / size_of::<Row>()] {
            assert!(matches!(Plane::empty(rows, &Room::default()), Err(SolveError::Memory { .. })), "{rows}");
        }
    }
}
