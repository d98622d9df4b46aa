//! The moves of each piece of a material, derived from the board's move generator for a piece alone on the board and
//! with each other piece on each square. The solver does not use this module.

use crate::board::geometry::DEN;
use crate::board::{Bitboard, Color, Lanes, Piece, Rules, reach};
use crate::tablebase::{Index, WIDTH, squares_in_play};

/// A move of one piece from one square.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub to: usize,
    /// By piece, the squares from which it blocks the move (without the target).
    pub stopped_by: [u64; Index::MAX_PIECES],
}

/// Moves of the lane piece over the same distance. Nothing can block them: only rats block leaps, and if the material
/// has a rat, the lane piece is a rat.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    pub distance: isize,
    /// The squares where the moves start.
    pub from: u64,
}

/// The moves of all pieces of an index, in its order.
pub(super) struct Moves {
    /// By piece and square, its moves on an empty board, except into the enemy's den.
    pub targets: Vec<Vec<Vec<Target>>>,
    /// By piece, the squares from which it enters the enemy's den.
    pub enters: Vec<u64>,
    /// `takes[attacker][victim][from]`: the squares on which the attacker captures the victim.
    pub takes: Vec<Vec<[u64; WIDTH]>>,
    /// `taken_from[victim][to]`: the squares from which the lane piece captures the victim on `to`.
    pub taken_from: Vec<[u64; WIDTH]>,
    /// The moves of the lane piece, grouped by distance.
    pub shifts: Vec<Shift>,
}

impl Moves {
    pub(super) fn new(index: &Index, rules: &Rules) -> Moves {
        let pieces = &index.pieces;
        let mut moves = Moves {
            targets: vec![vec![Vec::new(); WIDTH]; pieces.len()],
            enters: vec![0; pieces.len()],
            takes: vec![vec![[0; WIDTH]; pieces.len()]; pieces.len()],
            taken_from: vec![[0; WIDTH]; pieces.len()],
            shifts: Vec::new(),
        };
        for (number, &piece) in pieces.iter().enumerate() {
            for from in squares_in_play(piece) {
                moves.ask(pieces, number, from.index(), rules);
            }
        }
        let lane_piece = pieces.len() - 1;
        for (victim, taken_from) in moves.taken_from.iter_mut().enumerate() {
            for (from, &to) in moves.takes[lane_piece][victim].iter().enumerate() {
                Bitboard::new(to).into_iter().for_each(|to| taken_from[to.index()] |= 1 << from);
            }
        }
        moves.shifts = moves.shifts_of(lane_piece);
        moves
    }

    /// Adds all moves of a piece from a square.
    fn ask(&mut self, pieces: &[Piece], piece: usize, from: usize, rules: &Rules) {
        let mover = pieces[piece];
        let den = 1 << DEN[!mover.color].index();
        let alone = targets(&[(mover, from)], rules);
        if alone & den != 0 {
            self.enters[piece] |= 1 << from;
        }
        let mut list: Vec<Target> = Bitboard::new(alone & !den)
            .into_iter()
            .map(|to| Target { to: to.index(), stopped_by: [0; Index::MAX_PIECES] })
            .collect();
        for (other, &other_piece) in pieces.iter().enumerate().filter(|&(other, _)| other != piece) {
            for square in squares_in_play(other_piece).into_iter().map(|s| s.index()).filter(|&s| s != from) {
                let with_other = targets(&[(mover, from), (other_piece, square)], rules);
                for target in list.iter_mut().filter(|t| t.to != square && with_other >> t.to & 1 == 0) {
                    target.stopped_by[other] |= 1 << square;
                }
                if other_piece.color != mover.color && with_other >> square & 1 != 0 {
                    self.takes[piece][other][from] |= 1 << square;
                }
            }
        }
        self.targets[piece][from] = list;
    }

    fn shifts_of(&self, piece: usize) -> Vec<Shift> {
        let mut shifts: Vec<Shift> = Vec::new();
        for (from, list) in self.targets[piece].iter().enumerate() {
            for target in list {
                let distance = target.to as isize - from as isize;
                let at = shifts.iter().position(|shift| shift.distance == distance).unwrap_or_else(|| {
                    shifts.push(Shift { distance, from: 0 });
                    shifts.len() - 1
                });
                shifts[at].from |= 1 << from;
            }
        }
        shifts
    }

    /// By piece, the squares from which it blocks the move of `piece` between two squares.
    pub(super) fn stopped_by(&self, piece: usize, from: usize, to: usize) -> [u64; Index::MAX_PIECES] {
        self.targets[piece][from].iter().find(|t| t.to == to).map_or([0; Index::MAX_PIECES], |t| t.stopped_by)
    }
}

/// The targets of the first of `pieces`, by the move generator.
fn targets(pieces: &[(Piece, usize)], rules: &Rules) -> u64 {
    let mut sides: [Lanes; 2] = [[0; 8]; 2];
    for &(Piece { color, animal }, square) in pieces {
        sides[color as usize][animal.index()] = 1 << square;
    }
    let Piece { color, animal } = pieces[0].0;
    let (own, enemy) = (&sides[color as usize], &sides[(!color) as usize]);
    reach(rules, color, own, enemy).targets(own, enemy)[animal.index()]
}

/// The pieces of a side, by their position in the index.
pub(super) fn of_side(index: &Index, color: Color) -> Vec<usize> {
    (0..index.pieces.len()).filter(|&piece| index.pieces[piece].color == color).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::Classes;

    #[test]
    fn nothing_stands_in_the_lane_pieces_way() {
        for rules in ["paper", "chinese", "bodlaender,tiger-leap=files", "paper,own-rat-blocks=no"] {
            let rules = Rules::new(rules.parse().unwrap());
            let mut stopped = 0;
            for (_, class) in Classes::new(rules.options(), 4).iter() {
                let moves = Moves::new(&class.index(), &rules);
                let (lane_piece, others) = moves.targets.split_last().unwrap();
                let ways =
                    |piece: &Vec<Vec<Target>>| piece.iter().flatten().flat_map(|t| t.stopped_by).any(|by| by != 0);
                assert!(!ways(lane_piece), "{}", class.representative);
                stopped += others.iter().filter(|&piece| ways(piece)).count();
            }
            assert!(stopped > 50, "{stopped}");
        }
    }
}
