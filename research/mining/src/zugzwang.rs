//! Mutual zugzwangs: positions in which either side to move would do better if it could pass.
//!
//! The side to move does not win, but would win if the opponent had to move. Either whoever moves loses, or the side to
//! move draws. Stalemates do not count, and neither do positions that would be won only because the opponent has no
//! legal move.

use doushouqi::board::{ByColor, Color, Piece, Position, RuleOptions, Square};
use doushouqi::tablebase::{CellValue, ClassId, Index, Options, ROW_CELLS, SolveError, Solver, Table, position_of};
use serde::Serialize;
use std::sync::Mutex;

/// The mutual zugzwangs of one piece count, over all materials, with White to move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Zugzwangs {
    /// Number of pieces.
    pub pieces: usize,
    /// `lost` + `drawn`.
    pub positions: u64,
    /// Positions in which the side to move loses, and the opponent would lose if it had to move.
    pub lost: u64,
    /// Positions in which the side to move draws, and the opponent would lose if it had to move.
    pub drawn: u64,
    /// Number of materials with mutual zugzwangs.
    pub materials: u64,
    /// The position of `lost` with the longest loss.
    pub deepest_lost: Option<Deepest>,
    /// The position of `drawn` with the longest loss of the opponent, if it had to move.
    pub deepest_drawn: Option<Deepest>,
}

/// A mutual zugzwang.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deepest {
    /// The position.
    pub fen: String,
    /// Plies until the side to move has lost; `None` for a draw.
    pub plies: Option<u16>,
    /// Plies until the opponent would have lost if it had to move.
    pub other_plies: u16,
}

/// A mutual zugzwang of a class, with its distances in plies.
#[derive(Copy, Clone)]
struct Found {
    id: ClassId,
    cell: usize,
    turn: Color,
    plies: Option<u16>,
    other_plies: u16,
}

impl Found {
    /// The distance to the end, in plies.
    fn depth(&self) -> u16 {
        self.plies.unwrap_or(self.other_plies)
    }
}

/// Whether a position is a mutual zugzwang, given its value and its value with the opponent to move. Returns the plies
/// until the side to move has lost (`None` for a draw), and until the opponent would have lost.
#[must_use]
pub fn zugzwang(value: CellValue, other: CellValue) -> Option<(Option<u16>, u16)> {
    let CellValue::Decided(other_plies) = other else { return None };
    let plies = match value {
        CellValue::Decided(plies) if plies % 2 == 0 => Some(plies),
        CellValue::Draw => None,
        _ => return None,
    };
    (other_plies % 2 == 0).then_some((plies, other_plies))
}

#[derive(Default)]
struct Tally {
    /// The numbers of placements that are zugzwangs with White and with Black of the representative to move.
    lost: ByColor<u64>,
    drawn: ByColor<u64>,
    deepest: [Option<Found>; 2],
}

/// Solves the endgames of 2 to `pieces` pieces and counts their mutual zugzwangs.
pub fn zugzwangs(
    options: &RuleOptions,
    pieces: usize,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Zugzwangs>, SolveError> {
    let mut solver = Solver::new(options, pieces, Options::default());
    let mut all = Vec::new();
    for n in 2..=pieces {
        let ids: Vec<ClassId> = solver.classes().level(n).map(|(id, _)| id).collect();
        let classes = solver.classes().clone();
        let tallies: Mutex<Vec<(ClassId, Tally)>> = Mutex::default();
        solver.solve_classes(&ids, true, n < pieces, &|id, solved| -> Result<(), SolveError> {
            let Some(table) = solved.table()? else { return Ok(()) };
            let tally = tally(id, &classes.get(id).index(), &table);
            tallies.lock().unwrap_or_else(|e| e.into_inner()).push((id, tally));
            done(n);
            Ok(())
        })?;
        let mut tallies = tallies.into_inner().unwrap_or_else(|e| e.into_inner());
        tallies.sort_by_key(|&(id, _)| id);
        let mut sum = Zugzwangs { pieces: n, ..Zugzwangs::default() };
        let mut deepest: [Option<Found>; 2] = [None; 2];
        for (id, tally) in tallies {
            let class = solver.classes().get(id);
            for (color, materials) in [(Color::White, &class.same), (Color::Black, &class.swapped)] {
                let materials = materials.len() as u64;
                sum.lost += tally.lost[color] * materials;
                sum.drawn += tally.drawn[color] * materials;
                sum.materials += if tally.lost[color] + tally.drawn[color] > 0 { materials } else { 0 };
            }
            for (best, found) in deepest.iter_mut().zip(tally.deepest) {
                keep_deeper(best, found);
            }
        }
        sum.positions = sum.lost + sum.drawn;
        let show = |found: Found| {
            let index = solver.classes().get(found.id).index();
            let position = white_to_move(&index.pieces, &index.squares(found.cell)?, found.turn)?;
            Some(Deepest { fen: position.to_fen(), plies: found.plies, other_plies: found.other_plies })
        };
        sum.deepest_lost = deepest[0].and_then(show);
        sum.deepest_drawn = deepest[1].and_then(show);
        all.push(sum);
    }
    Ok(all)
}

/// A position, flipped and with exchanged colours if Black is to move.
fn white_to_move(pieces: &[Piece], squares: &[Square], turn: Color) -> Option<Position> {
    if turn == Color::White {
        return position_of(pieces, squares, turn);
    }
    let pieces: Vec<Piece> = pieces.iter().map(|&piece| Piece { color: !piece.color, ..piece }).collect();
    let squares: Vec<_> = squares.iter().map(|square| square.rotate()).collect();
    position_of(&pieces, &squares, Color::White)
}

fn keep_deeper(best: &mut Option<Found>, found: Option<Found>) {
    if let Some(found) = found
        && best.is_none_or(|best| found.depth() > best.depth())
    {
        *best = Some(found);
    }
}

fn tally(id: ClassId, index: &Index, table: &Table) -> Tally {
    let mut tally = Tally::default();
    for row in 0..index.rows {
        let weight = index.weight(row);
        for cell in row * ROW_CELLS..(row + 1) * ROW_CELLS {
            let values = [table.cells.white.get(cell), table.cells.black.get(cell)];
            let [Some(white), Some(black)] = values.map(CellValue::from_code) else { continue };
            for (turn, value, other) in [(Color::White, white, black), (Color::Black, black, white)] {
                let Some((plies, other_plies)) = zugzwang(value, other) else { continue };
                let (counts, place) = if plies.is_some() { (&mut tally.lost, 0) } else { (&mut tally.drawn, 1) };
                counts[turn] += weight;
                keep_deeper(&mut tally.deepest[place], Some(Found { id, cell, turn, plies, other_plies }));
            }
        }
    }
    tally
}
