//! The opening as a tree: all different positions of the first plies, and what minimax makes of the scores of the last ones.
//!
//! Lines that lead to the same position share it. A position is no mirror image of another one with so few plies: the initial
//! position is not symmetric, its lion and its tiger stand on different sides.

use doushouqi::board::{Animal, Color, Move, Outcome, Piece, Position, Rules, Setup, Square};
use doushouqi::search::Score;
use rayon::prelude::*;
use serde::Serialize;

/// The squares of White's and Black's animals, [`GONE`] for one that was captured. The side to move follows from the ply.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Packed([u8; 2 * Animal::COUNT]);

const GONE: u8 = u8::MAX;

impl Packed {
    fn new(position: &Position) -> Packed {
        let mut squares = [GONE; 2 * Animal::COUNT];
        for (Piece { color, animal }, square) in position.pieces() {
            squares[color as usize * Animal::COUNT + animal.index()] = square.index() as u8;
        }
        Packed(squares)
    }

    fn position(self, turn: Color) -> Position {
        let squares: Vec<Square> = Square::all().collect();
        let mut setup = Setup::empty(turn);
        for (i, &square) in self.0.iter().enumerate().filter(|(_, square)| **square != GONE) {
            let piece = Piece { color: Color::ALL[i / Animal::COUNT], animal: Animal::ALL[i % Animal::COUNT] };
            setup.squares[squares[square as usize].index()] = Some(piece);
        }
        Position::from_setup(&setup).expect("moves lead to positions")
    }
}

/// All different positions of the first plies in which the game is not over.
pub struct Opening {
    rules: Rules,
    turn: Color,
    /// By ply, sorted.
    layers: Vec<Vec<Packed>>,
}

impl Opening {
    /// The positions up to `plies` plies after `start`, in which the game is not over.
    #[must_use]
    pub fn new(start: &Position, rules: &Rules, plies: usize) -> Opening {
        let mut opening = Opening { rules: rules.clone(), turn: start.turn(), layers: vec![vec![Packed::new(start)]] };
        for ply in 0..plies {
            let next = |position: Position| -> Vec<Packed> {
                let positions = position.moves(rules).into_iter().map(|mv| position.make(mv));
                positions.filter(|next| next.outcome(rules).is_none()).map(|next| Packed::new(&next)).collect()
            };
            let mut layer: Vec<Packed> =
                (0..opening.len(ply)).into_par_iter().flat_map_iter(|i| next(opening.position(ply, i))).collect();
            layer.par_sort_unstable();
            layer.dedup();
            opening.layers.push(layer);
        }
        opening
    }

    /// The last ply.
    #[must_use]
    pub fn plies(&self) -> usize {
        self.layers.len() - 1
    }

    /// The number of positions of a ply.
    #[must_use]
    pub fn len(&self, ply: usize) -> usize {
        self.layers[ply].len()
    }

    /// A position of a ply. Their order depends only on the start, the rules and the ply.
    #[must_use]
    pub fn position(&self, ply: usize, number: usize) -> Position {
        self.layers[ply][number].position(if ply.is_multiple_of(2) { self.turn } else { !self.turn })
    }

    /// The tree with these scores of the last positions, in their order, for the side to move.
    ///
    /// # Panics
    /// If there is not one score for each position.
    #[must_use]
    pub fn tree(self, scores: Vec<Score>, margin: i32) -> Tree {
        assert_eq!(scores.len(), self.len(self.plies()), "a score for each position");
        let last = self.plies();
        let chains = vec![0; scores.len()];
        let mut tree =
            Tree { margin, scores: vec![Vec::new(); last + 1], chains: vec![Vec::new(); last + 1], opening: self };
        (tree.scores[last], tree.chains[last]) = (scores, chains);
        for ply in (0..last).rev() {
            let node = |number| {
                let position = tree.opening.position(ply, number);
                let moves = tree.moves(ply, &position);
                // A position in which the game is not over has moves.
                let (mv, score) = moves[0];
                let is_only = tree.good(&moves) == 1;
                let after = tree.number(ply + 1, &position.make(mv)).map_or(0, |next| tree.chains[ply + 1][next]);
                (score, if is_only { 1 + after } else { 0 })
            };
            (tree.scores[ply], tree.chains[ply]) = (0..tree.opening.len(ply)).into_par_iter().map(node).unzip();
        }
        tree
    }
}

/// The tree with a score for each position: that of its best move.
pub struct Tree {
    opening: Opening,
    margin: i32,
    scores: Vec<Vec<Score>>,
    /// The plies from a position on in which the side to move has only one good move.
    chains: Vec<Vec<u8>>,
}

/// A position of the tree, and a line from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The plies before it.
    pub ply: usize,
    /// The position.
    pub fen: String,
    /// The score for the side to move: centipawns, or the value of a certain win or loss.
    pub score: Score,
    /// How many moves are good: at most the margin worse than the best one.
    pub good: usize,
    /// The plies from here on in which the side to move has only one good move.
    pub only: u8,
    /// The best line to the last ply.
    pub line: Vec<String>,
    /// All moves with their scores for the side that makes them, the best first.
    pub moves: Vec<(String, Score)>,
}

impl Tree {
    /// The positions.
    #[must_use]
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// The number of a position in its ply; `None` if the game is over.
    fn number(&self, ply: usize, position: &Position) -> Option<usize> {
        self.opening.layers[ply].binary_search(&Packed::new(position)).ok()
    }

    /// The moves of a position of a ply before the last, with their scores, the best first.
    fn moves(&self, ply: usize, position: &Position) -> Vec<(Move, Score)> {
        let score = |mv: Move| {
            let next = position.make(mv);
            let score = match self.number(ply + 1, &next) {
                Some(number) => self.scores[ply + 1][number],
                None => match next.outcome(&self.opening.rules) {
                    Some(Outcome::Win(winner)) if winner == position.turn() => Score::loss(0),
                    Some(Outcome::Win(_)) => Score::win(0),
                    _ => Score::estimate(0),
                },
            };
            (mv, score.before_move())
        };
        let mut moves: Vec<(Move, Score)> = position.moves(&self.opening.rules).into_iter().map(score).collect();
        moves.sort_by_key(|&(_, score)| std::cmp::Reverse(score));
        moves
    }

    /// How many of these moves are good.
    fn good(&self, moves: &[(Move, Score)]) -> usize {
        let least = moves.first().map_or(0, |(_, best)| best.value() - self.margin);
        moves.iter().filter(|(_, score)| score.value() >= least).count()
    }

    /// A position of a ply with its moves. At the last ply there are none.
    #[must_use]
    pub fn node(&self, ply: usize, number: usize) -> Node {
        let position = self.opening.position(ply, number);
        let moves = if ply < self.opening.plies() { self.moves(ply, &position) } else { Vec::new() };
        Node {
            ply,
            fen: position.to_fen(),
            score: self.scores[ply][number],
            good: self.good(&moves),
            only: self.chains[ply][number],
            line: self.line(ply, position.clone()),
            moves: moves.into_iter().map(|(mv, score)| (mv.notation(&position), score)).collect(),
        }
    }

    fn line(&self, ply: usize, mut position: Position) -> Vec<String> {
        let mut line = Vec::new();
        for ply in ply..self.opening.plies() {
            if self.number(ply, &position).is_none() {
                break;
            }
            let (mv, _) = self.moves(ply, &position)[0];
            line.push(mv.notation(&position));
            position = position.make(mv);
        }
        line
    }

    /// The first position from which the most plies in a row have only one good move, and the moves that lead there.
    #[must_use]
    pub fn longest_only(&self) -> (Vec<String>, Node) {
        let all = || {
            self.chains.iter().enumerate().flat_map(|(ply, chains)| (0..).zip(chains).map(move |(i, &n)| (n, ply, i)))
        };
        let most = all().map(|(plies, ..)| plies).max().unwrap_or(0);
        let (_, ply, number) = all().find(|&(plies, ..)| plies == most).expect("there is a first position");
        (self.path(ply, number), self.node(ply, number))
    }

    /// Moves from the start to a position: of all last moves, the one that loses the least, and so on back.
    fn path(&self, ply: usize, number: usize) -> Vec<String> {
        let Some(before) = ply.checked_sub(1) else { return Vec::new() };
        let target = self.opening.position(ply, number);
        let parents = (0..self.opening.len(before)).into_par_iter().filter_map(|parent| {
            let position = self.opening.position(before, parent);
            let is_parent = position.moves(&self.opening.rules).iter().any(|&mv| position.make(mv) == target);
            if !is_parent {
                return None;
            }
            let moves = self.moves(before, &position);
            let &(mv, score) = moves.iter().find(|(mv, _)| position.make(*mv) == target)?;
            Some((moves[0].1.value() - score.value(), parent, mv.notation(&position)))
        });
        let (_, parent, mv) = parents.min().expect("a move leads to every position but the first");
        let mut path = self.path(before, parent);
        path.push(mv);
        path
    }
}
