//! Proves every stored value of a class from the values of its successors, limited by the memory bandwidth: [`Prover`].
//!
//! The values are decoded into scores (`score`): numbers ordered by the value of a move to the position.
//! For each word of 64 positions, a sweep (`sweep`) takes the maximum score over all moves (`moves`, derived from the
//! board's move generator; captures probe the tables of the smaller classes) and converts it into the value that the
//! position must have. This value is compared with the stored value. If only one side to move is stored, the other side
//! is first computed in the same way and compared by its checksum. Don't-cares of a repacked file are replaced by the
//! values of the captures and den entries when it is decoded. `rewrite` writes a repacked file from an exact one and back.
//!
//! This local check suffices. Distances are right by induction, since the distance falls with every move of best play.
//! Draws: among all positions wrongly stored as draws, one with the shortest true distance would have a correctly
//! stored successor that contradicts the draw.
//!
//! The proof shares only the index and the classes with the solver. `verify` is a simple and slow implementation of the
//! same check, position by position.

mod moves;
mod planes;
mod rewrite;
mod score;
mod sweep;

use super::file::{Content, TableError};
use super::verify::{Contradiction, Stop};
use crate::board::{ByColor, Color, File, Rules, Square};
use crate::cpu::CpuLevel;
use crate::tablebase::solve::needs::table_bytes;
use crate::tablebase::{
    CellValue, ClassId, Index, Metric, ROW_CELLS, SetError, Stats, TableFile, TableSet, WIDTH, squares_in_play,
};
use moves::{Moves, of_side};
use planes::{Digested, Plane};
use rayon::prelude::*;
pub(super) use rewrite::Form;
use score::Scale;
use std::collections::HashMap;
use std::sync::Arc;
use sweep::{Capture, Smaller, Sweep, Sweepable};

/// The numbers of values that a proof has checked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    /// Stored values compared with the values after their moves.
    pub values: u64,
    /// Computed values of a side to move that is not stored, compared by their checksum.
    pub computed: u64,
}

/// Checks all values of the classes of a set.
pub struct Prover<'a> {
    set: &'a TableSet,
    rules: Rules,
    level: CpuLevel,
    limit: usize,
    narrow: HashMap<ClassId, Planes<u8>>,
    wide: HashMap<ClassId, Planes<u16>>,
}

/// The scores of a class for both sides to move.
type Planes<C> = Arc<ByColor<Plane<C>>>;

/// A width of scores, with access to the prover's planes of this width.
trait Width: Sweepable {
    fn kept<'p>(prover: &'p mut Prover<'_>) -> &'p mut HashMap<ClassId, Planes<Self>>
    where
        Self: Sized;
}

impl Width for u8 {
    fn kept<'p>(prover: &'p mut Prover<'_>) -> &'p mut HashMap<ClassId, Planes<u8>> {
        &mut prover.narrow
    }
}

impl Width for u16 {
    fn kept<'p>(prover: &'p mut Prover<'_>) -> &'p mut HashMap<ClassId, Planes<u16>> {
        &mut prover.wide
    }
}

/// All inputs for checking a class except its own values.
struct Work<'a, C> {
    file: &'a TableFile,
    metric: Metric,
    scale: Scale,
    moves: Moves,
    /// By piece, the result of capturing it.
    captures: Vec<Exit<C>>,
    level: CpuLevel,
}

/// The result of capturing a piece: the end of the game, or a smaller class.
enum Exit<C> {
    Last,
    Smaller { planes: Planes<C>, swapped: bool, adds: [Vec<[usize; WIDTH]>; 2], first: usize, mirrored: u64 },
}

impl<'a> Prover<'a> {
    /// A prover for the tables of `set` with a memory limit of `memory` bytes.
    #[must_use]
    pub fn new(set: &'a TableSet, memory: usize) -> Prover<'a> {
        Prover {
            set,
            rules: set.rules().clone(),
            level: CpuLevel::get(),
            limit: memory,
            narrow: HashMap::new(),
            wide: HashMap::new(),
        }
    }

    /// Checks the checksums, the counts and every value of a class. Returns the number of checked values, or the first
    /// contradiction. Captures probe the tables of the smaller classes, which must be checked, too.
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged, or the memory limit is too low.
    pub fn prove(&mut self, id: ClassId) -> Result<Result<Proved, Box<Contradiction>>, SetError> {
        self.set.file(id)?.check()?;
        self.set.check_listed(id)?;
        Stop::split(if self.is_wide(id)? { self.prove_as::<u16>(id) } else { self.prove_as::<u8>(id) })
    }

    /// Whether the table of the class, or of one that its captures lead to, has two bytes for each cell.
    fn is_wide(&self, id: ClassId) -> Result<bool, SetError> {
        if self.set.no_capture_limit().is_some_and(|limit| limit > Scale::NARROW_LIMIT) {
            return Ok(true);
        }
        for id in self.set.classes().captures(id).into_iter().chain([id]) {
            if self.set.file(id)?.description().cell_bytes > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn prove_as<C: Width>(&mut self, id: ClassId) -> Result<Proved, Stop> {
        self.free_memory::<C>(id)?;
        let work = self.work::<C>(id)?;
        let (planes, digests) = work.planes()?;
        let mut proved = Proved { values: 0, computed: 0 };
        for turn in Color::ALL {
            if work.file.stores(turn) {
                work.compare(turn, &planes)?;
                proved.values += digests[turn].values;
            } else {
                proved.computed += digests[turn].values;
            }
        }
        for turn in Color::ALL {
            work.check_counts(turn, &planes[turn], &digests[turn])?;
        }
        self.keep(id, planes);
        Ok(proved)
    }

    /// Keeps the planes of a class for larger classes, whose captures lead to it.
    fn keep<C: Width>(&mut self, id: ClassId, planes: ByColor<Plane<C>>) {
        let pieces = self.set.classes().get(id).representative.len();
        if pieces < self.set.classes().pieces() {
            C::kept(self).insert(id, Arc::new(planes));
        }
    }

    /// The planes of a class, from memory or from its file.
    fn get<C: Width>(&mut self, id: ClassId) -> Result<Planes<C>, Stop> {
        if let Some(planes) = C::kept(self).get(&id) {
            return Ok(planes.clone());
        }
        let work = self.work::<C>(id)?;
        let planes = Arc::new(work.planes()?.0);
        C::kept(self).insert(id, planes.clone());
        Ok(planes)
    }

    /// Drops planes of classes that this one does not need, if not all fit.
    ///
    /// # Errors
    /// [`SetError::ProofMemory`] if the class does not fit together with the classes that its captures lead to.
    fn free_memory<C: Width>(&mut self, id: ClassId) -> Result<(), SetError> {
        let set = self.set;
        let bytes_of = |id: ClassId, cell_bytes| table_bytes(set.classes(), id, cell_bytes);
        let needed: Vec<ClassId> = set.classes().captures(id).into_iter().chain([id]).collect();
        // Its blocks are decoded besides its planes.
        let bytes: usize = needed.iter().chain([&id]).map(|&id| bytes_of(id, C::BYTES)).sum();
        let limit = self.limit;
        if bytes > limit {
            let material = set.classes().get(id).representative;
            return Err(SetError::ProofMemory { material, needed: bytes, limit });
        }
        let mut total = bytes;
        let mut keep = |id: ClassId, bytes: usize| {
            let fits = total + bytes <= limit;
            if fits {
                total += bytes;
            }
            fits || needed.contains(&id)
        };
        self.narrow.retain(|&id, _| keep(id, bytes_of(id, 1)));
        self.wide.retain(|&id, _| keep(id, bytes_of(id, 2)));
        Ok(())
    }

    /// Prepares the inputs for checking a class.
    fn work<C: Width>(&mut self, id: ClassId) -> Result<Work<'a, C>, Stop> {
        let set = self.set;
        let file = set.file(id)?;
        if file.description().content == Content::Wdl {
            return Err(TableError::WdlOnly { path: file.file_path().to_owned() }.into());
        }
        let index = file.index();
        let mut captures = Vec::new();
        for piece in 0..index.pieces.len() {
            captures.push(self.exit(index, piece)?);
        }
        let scale = Scale::new(set.rules().options());
        Ok(Work {
            file,
            metric: set.classes().metric(),
            scale,
            moves: Moves::new(index, &self.rules),
            captures,
            level: self.level,
        })
    }

    /// The result of capturing the piece `victim` of an index.
    fn exit<C: Width>(&mut self, index: &Index, victim: usize) -> Result<Exit<C>, Stop> {
        let Some(rest) = index.material().without(index.pieces[victim]) else { return Ok(Exit::Last) };
        let classes = self.set.classes();
        let member = classes.member(rest).expect("the classes hold all smaller materials");
        let smaller = self.set.file(member.class)?.index();
        let mut adds = [vec![[0; WIDTH]; index.pieces.len()], vec![[0; WIDTH]; index.pieces.len()]];
        let (mut first, mut mirrored) = (0, 0);
        for (piece, kind) in index.pieces.iter().enumerate().filter(|&(piece, _)| piece != victim) {
            let (_, there) = member.pieces.iter().find(|(here, _)| here == kind).expect("a piece of the material");
            let slot = smaller.pieces.iter().position(|other| other == there).expect("a piece of the class");
            if slot == 0 {
                first = piece;
                if smaller.is_mirrored() {
                    mirrored = Square::all().filter(|s| s.file() > File::D).fold(0, |set, s| set | 1 << s.index());
                }
            }
            for square in squares_in_play(*kind) {
                let there = if member.swapped { square.flip() } else { square };
                for (mirror, adds) in adds.iter_mut().enumerate() {
                    let there = if mirror == 1 { there.mirror() } else { there };
                    adds[piece][square.index()] = add(smaller, slot, there);
                }
            }
        }
        Ok(Exit::Smaller { planes: self.get(member.class)?, swapped: member.swapped, adds, first, mirrored })
    }
}

/// The contribution to the cell number of a piece, given by its position in the index, on a square.
fn add(index: &Index, slot: usize, square: Square) -> usize {
    match index.row_pieces.get(slot) {
        // Cell numbers of six pieces exceed 32 bits.
        Some(piece) => piece.digit[square.index()] as usize * piece.stride as usize * ROW_CELLS,
        None if slot == index.row_pieces.len() => square.index() * WIDTH,
        None => square.index(),
    }
}

impl<C: Sweepable> Work<'_, C> {
    fn sweep<'s>(&'s self, turn: Color, successors: &'s Plane<C>) -> Sweep<'s, C> {
        let index = self.file.index();
        let enemies = of_side(index, !turn);
        let capture = |(piece, exit): (usize, &'s Exit<C>)| match exit {
            _ if !enemies.contains(&piece) => None,
            Exit::Last => Some(Capture::Last),
            Exit::Smaller { planes, swapped, adds, first, mirrored } => {
                // In the smaller class the opponent is to move, with exchanged colours if `swapped` is set.
                let plane = &planes[if *swapped { turn } else { !turn }];
                Some(Capture::Smaller(Smaller { plane, adds, first: *first, mirrored: *mirrored }))
            }
        };
        let captures = self.captures.iter().enumerate().map(capture).collect();
        Sweep::new(index, &self.moves, self.scale, turn, successors, captures)
    }

    /// The values of both sides to move. A side that is not stored is computed; the checksums of both are compared.
    fn planes(&self) -> Result<(ByColor<Plane<C>>, ByColor<Digested>), Stop> {
        let load = |turn| self.file.stores(turn).then(|| self.load(turn)).transpose();
        let (white, black) = rayon::join(|| load(Color::White), || load(Color::Black));
        let mut sides = ByColor { white: white?, black: black? };
        for turn in Color::ALL {
            if sides[turn].is_none() {
                let (other, _) = sides[!turn].as_ref().expect("a file stores a side at least");
                sides[turn] = Some(self.compute(turn, other)?);
            }
        }
        let sides = sides.map(|side| side.expect("both are there"));
        for turn in Color::ALL {
            if sides[turn].1.checksum != self.file.description().values[turn] {
                return Err(self.file.damaged("the checksum of its values is wrong").into());
            }
        }
        let ByColor { white: (white, white_digest), black: (black, black_digest) } = sides;
        Ok((ByColor { white, black }, ByColor { white: white_digest, black: black_digest }))
    }

    /// Decodes a stored side to move.
    fn load(&self, turn: Color) -> Result<(Plane<C>, Digested), TableError> {
        let none = Plane::new(0);
        let sweep = self.sweep(turn, &none);
        let conversions = |row: usize, out: &mut [C]| C::conversions(self.level, &sweep, row, out);
        let dont_cares = self.file.description().dont_cares;
        planes::load(self.file, turn, self.scale, if dont_cares { Some(&conversions) } else { None })
    }

    /// Computes the values of a side to move that is not stored.
    fn compute(&self, turn: Color, other: &Plane<C>) -> Result<(Plane<C>, Digested), Stop> {
        let sweep = self.sweep(turn, other);
        let row = |row: usize, out: &mut [C]| match C::row(self.level, &sweep, row, out) {
            None => Ok(()),
            Some(long) => Err(Stop::Wrong(self.too_long(turn, long.cell, None))),
        };
        planes::compute(self.file, self.scale, row)
    }

    fn too_long(&self, turn: Color, cell: usize, stored: Option<CellValue>) -> Box<Contradiction> {
        // A win with code c takes c - 2 plies. The loss before it takes one more, which has no code in two bytes.
        let computed = CellValue::Decided(self.scale.code(Scale::too_long::<C>()) - 1);
        self.contradiction(turn, cell, stored, computed)
    }

    fn contradiction(
        &self,
        turn: Color,
        cell: usize,
        stored: Option<CellValue>,
        computed: CellValue,
    ) -> Box<Contradiction> {
        let position = self.file.index().position(cell, turn).expect("only cells of positions are compared");
        Box::new(Contradiction::CellValue { position, stored, computed, metric: self.metric })
    }

    /// Checks that the counts of a side to move match the file, and that its deepest cell has the longest distance.
    fn check_counts(&self, turn: Color, plane: &Plane<C>, digest: &Digested) -> Result<(), Stop> {
        let description = self.file.description();
        let longest = |stats: &Stats| stats.by_plies.iter().rposition(|&n| n > 0);
        let deepest = description.deepest[turn].map(|cell| self.scale.code(plane.get(cell)));
        let wanted = longest(&digest.stats).map(|plies| CellValue::Decided(plies as u16).code());
        if digest.stats != description.stats[turn] || deepest != wanted {
            let material = self.file.index().material();
            return Err(Stop::Wrong(Box::new(Contradiction::Counts { material, turn })));
        }
        Ok(())
    }

    /// Compares every value of a side to move with the value computed from its moves.
    fn compare(&self, turn: Color, planes: &ByColor<Plane<C>>) -> Result<(), Stop> {
        let sweep = self.sweep(turn, &planes[!turn]);
        let first = planes::portions(self.file.index().rows).into_par_iter().find_map_first(|rows| {
            let mut expected = vec![C::ZERO; ROW_CELLS];
            rows.into_iter().find_map(|row| self.compare_row(turn, &sweep, row, &planes[turn], &mut expected))
        });
        first.map_or(Ok(()), |wrong| Err(Stop::Wrong(wrong)))
    }

    fn compare_row(
        &self,
        turn: Color,
        sweep: &Sweep<C>,
        row: usize,
        plane: &Plane<C>,
        expected: &mut [C],
    ) -> Option<Box<Contradiction>> {
        let long = C::row(self.level, sweep, row, expected);
        let stored = plane.row(row);
        if long.is_none() && *stored == *expected {
            return None;
        }
        let value = |score: C| CellValue::from_code(self.scale.code(score));
        if let Some(long) = long {
            return Some(self.too_long(turn, long.cell, value(plane.get(long.cell))));
        }
        let place = stored.iter().zip(expected.iter()).position(|(a, b)| a != b)?;
        let computed = value(expected[place]).unwrap_or(CellValue::NoMove);
        Some(self.contradiction(turn, row * ROW_CELLS + place, value(stored[place]), computed))
    }
}

#[cfg(test)]
mod tests;
