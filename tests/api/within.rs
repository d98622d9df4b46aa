//! Brute force over position and clock: the slow and obvious twin of tables that know a no-capture limit, and of the engine.

use doushouqi::board::{Color, Move, NoMove, Piece, Position, Rules, Setup, Square};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::tablebase::Wdl;

/// The exact results of a material under a no-capture limit, without repetition: brute force over position and clock, the
/// slow and obvious twin of the engine's tables.
pub struct Exact {
    limit: u32,
    pieces: Vec<Piece>,
    /// By cell, a win or loss for the side to move, and the least number of plies to the limit with which it is one.
    decided: Vec<Option<(Wdl, u32)>>,
    /// By piece, the material without it; `None` if a side has no other piece.
    smaller: Vec<Option<Exact>>,
}

/// A position of a material: its quiet moves, and its conversions with the full limit.
struct Node {
    cell: usize,
    quiet: Vec<usize>,
    /// Whether a capture or a step into the den wins, and whether one does not lose.
    wins: bool,
    escapes: bool,
}

impl Exact {
    pub fn solve(pieces: Vec<Piece>, rules: &Rules, limit: u32) -> Exact {
        let without = |i: usize| {
            let rest: Vec<Piece> =
                pieces.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &piece)| piece).collect();
            let both = Color::ALL.iter().all(|&color| rest.iter().any(|piece| piece.color == color));
            both.then(|| Exact::solve(rest, rules, limit))
        };
        let smaller = (0..pieces.len()).map(without).collect();
        let cells = 2 * Square::COUNT.pow(pieces.len() as u32);
        let mut exact = Exact { limit, pieces, decided: vec![None; cells], smaller };
        let mut nodes: Vec<Node> = (0..cells).filter_map(|cell| exact.node(cell, rules)).collect();
        for left in 1..=limit {
            let result = |node: &Node| {
                let before = |cell: usize| exact.decided[cell].map(|(wdl, _)| wdl);
                let wins = node.wins || node.quiet.iter().any(|&cell| before(cell) == Some(Wdl::Loss));
                let all_lose = !node.escapes && node.quiet.iter().all(|&cell| before(cell) == Some(Wdl::Win));
                if wins { Some(Wdl::Win) } else { all_lose.then_some(Wdl::Loss) }
            };
            let found: Vec<Option<Wdl>> = nodes.iter().map(result).collect();
            for (node, wdl) in nodes.iter().zip(&found) {
                exact.decided[node.cell] = wdl.map(|wdl| (wdl, left));
            }
            let mut wdl = found.iter();
            nodes.retain(|_| wdl.next().is_some_and(Option::is_none));
        }
        exact
    }

    fn node(&self, cell: usize, rules: &Rules) -> Option<Node> {
        let mut setup = Setup::empty(Color::ALL[cell % 2]);
        let mut rest = cell / 2;
        for &piece in &self.pieces {
            if setup.squares[rest % Square::COUNT].replace(piece).is_some() {
                return None;
            }
            rest /= Square::COUNT;
        }
        let position = Position::from_setup(&setup).ok().filter(|position| position.outcome(rules).is_none())?;
        let stuck = if rules.options().no_move == NoMove::Loss { Wdl::Loss } else { Wdl::Draw };
        let mut node = Node { cell, quiet: Vec::new(), wins: false, escapes: false };
        for mv in position.moves(rules) {
            let after = position.make(mv);
            let wdl = match after.winner() {
                Some(_) => Wdl::Loss,
                None if after.outcome(rules).is_some() => stuck,
                None if mv.is_capture(&position) => self.find(&after).wdl(&after, self.limit),
                None => {
                    node.quiet.push(self.cell(&after));
                    continue;
                }
            };
            node.wins |= wdl == Wdl::Loss;
            node.escapes |= wdl != Wdl::Win;
        }
        Some(node)
    }

    fn cell(&self, position: &Position) -> usize {
        let square = |piece: &Piece| position.square_of(piece.color, piece.animal).unwrap().index();
        let cell = self.pieces.iter().rev().fold(0, |cell, piece| cell * Square::COUNT + square(piece));
        2 * cell + position.turn() as usize
    }

    /// The material of a position.
    fn find(&self, position: &Position) -> &Exact {
        let missing = |piece: &Piece| position.square_of(piece.color, piece.animal).is_none();
        match self.pieces.iter().position(missing) {
            None => self,
            Some(i) => self.smaller[i].as_ref().unwrap().find(position),
        }
    }

    /// The result of a position just after a capture, and the least number of plies to the limit with which it is decided; a
    /// draw in 0 if it never is.
    pub fn dtz(&self, position: &Position) -> (Wdl, u32) {
        self.decided[self.cell(position)].unwrap_or((Wdl::Draw, 0))
    }

    /// The result for the side to move of a game that is not over, with so many plies to the limit.
    pub fn wdl(&self, position: &Position, left: u32) -> Wdl {
        self.decided[self.cell(position)].filter(|&(_, least)| least <= left).map_or(Wdl::Draw, |(wdl, _)| wdl)
    }

    /// The result of a game for a side, against best play.
    pub fn result(&self, game: &Game, side: Color) -> Wdl {
        if let Some(end) = game.end() {
            return match end.winner() {
                None => Wdl::Draw,
                Some(winner) => {
                    if winner == side {
                        Wdl::Win
                    } else {
                        Wdl::Loss
                    }
                }
            };
        }
        let wdl = self.find(game.position()).wdl(game.position(), game.plies_left().unwrap());
        if game.position().turn() == side { wdl } else { wdl.before() }
    }

    /// A random one of the moves that keep the result.
    pub fn best(&self, game: &Game, random: &mut Random) -> Move {
        let side = game.position().turn();
        let after = |mv: Move| {
            let mut after = game.clone();
            after.play(mv).unwrap();
            self.result(&after, side)
        };
        let moves: Vec<(Move, Wdl)> = game.legal_moves().into_iter().map(|mv| (mv, after(mv))).collect();
        let best = moves.iter().map(|&(_, wdl)| wdl).max().unwrap();
        assert_eq!(best, self.result(game, side), "{}", game.fen());
        let best: Vec<Move> = moves.into_iter().filter(|&(_, wdl)| wdl == best).map(|(mv, _)| mv).collect();
        *random.choose(&best).unwrap()
    }
}
