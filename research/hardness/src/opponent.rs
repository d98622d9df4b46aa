//! Opponents of the winner's strategy, and games against them.

use super::play::Strategy;
use crate::general::{GeneralMove, GeneralPosition, Place, Terrain};
use doushouqi::board::{Animal, Color, RuleOptions};
use doushouqi::game::random::Random;

const RULES: RuleOptions = RuleOptions::PAPER;

/// The method by which an opponent chooses its moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// A random legal move.
    Random,
    /// A capture if possible, else a step of the runner or a panther, else a random move.
    Greedy,
    /// A search of two plies over moves near the last ones and moves of the runner, by material and progress.
    Search,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 3] = [Style::Random, Style::Greedy, Style::Search];

    /// The name of the style.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Style::Random => "random",
            Style::Greedy => "greedy",
            Style::Search => "search",
        }
    }
}

/// An opponent with its random number generator.
pub struct Opponent<'a> {
    style: Style,
    random: Random,
    run: &'a [Place],
    own_last: Option<Place>,
}

impl<'a> Opponent<'a> {
    /// An opponent; `run` is the path of Black's runner.
    #[must_use]
    pub fn new(style: Style, seed: u64, run: &'a [Place]) -> Opponent<'a> {
        Opponent { style, random: Random::new(seed), run, own_last: None }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1))
    }

    /// A move of a random piece that can move.
    fn any(&mut self, position: &GeneralPosition) -> GeneralMove {
        let pieces = position.places_of(position.turn());
        let mut moves = Vec::new();
        for _ in 0..64 {
            position.moves_from(pieces[self.below(pieces.len())], &RULES, &mut moves);
            if !moves.is_empty() {
                return moves[self.below(moves.len())];
            }
        }
        let moves = position.moves(&RULES);
        moves[self.below(moves.len())]
    }

    /// A move towards the den: the runner's next step, or a step of a panther upward.
    fn progress(&mut self, position: &GeneralPosition) -> Option<GeneralMove> {
        if position.turn() == Color::Black {
            let at = self.run.iter().position(|&p| position.piece_at(p).is_some_and(|x| x.color == Color::Black))?;
            return self.run.get(at + 1).map(|&to| GeneralMove { from: self.run[at], to });
        }
        let pieces = position.places_of(Color::White);
        let panthers: Vec<Place> = pieces
            .iter()
            .copied()
            .filter(|&p| position.piece_at(p).is_some_and(|x| x.animal == Animal::Panther))
            .collect();
        let mut moves = Vec::new();
        let from = *panthers.get(self.below(panthers.len()))?;
        position.moves_from(from, &RULES, &mut moves);
        let row = |p: Place| position.board().row_column(p).0;
        moves.sort_by_key(|mv| row(mv.to));
        let safe = |mv: &&GeneralMove| position.board().terrain(mv.to) != Terrain::Trap(Color::Black);
        moves.iter().find(safe).or(moves.first()).copied()
    }

    fn greedy(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove {
        let near = self.near(position, last);
        if let Some(&mv) = near.iter().find(|mv| position.piece_at(mv.to).is_some()) {
            return mv;
        }
        if self.below(8) > 0
            && let Some(mv) = self.progress(position)
        {
            return mv;
        }
        self.any(position)
    }

    /// Moves of pieces within four squares of the last moves.
    fn near(&self, position: &GeneralPosition, last: Option<GeneralMove>) -> Vec<GeneralMove> {
        let board = position.board();
        let mut moves = Vec::new();
        let mut seen = Vec::new();
        for centre in last.map(|mv| mv.to).into_iter().chain(self.own_last) {
            let (row, column) = board.row_column(centre);
            for r in row.saturating_sub(4)..=row + 4 {
                for c in column.saturating_sub(4)..=column + 4 {
                    let Some(place) = board.at(r, c) else { continue };
                    let own = position.piece_at(place).is_some_and(|p| p.color == position.turn());
                    if own && !seen.contains(&place) {
                        seen.push(place);
                        position.moves_from(place, &RULES, &mut moves);
                    }
                }
            }
        }
        moves
    }

    fn search(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove {
        let mut candidates = self.near(position, last);
        let progress = self.progress(position).filter(|mv| position.piece_at(mv.from).is_some());
        candidates.extend(progress);
        candidates.push(self.any(position));
        let mut board = position.clone();
        let mut best = (i64::MIN, candidates[0]);
        for mv in candidates {
            let gain = value(&board, mv);
            let undo = board.make(mv);
            let replies = self.near(&board, Some(mv));
            let worst = replies.iter().map(|&reply| value(&board, reply)).max().unwrap_or(0);
            board.undo(undo);
            let forward = i64::from(progress == Some(mv));
            let score = (gain - worst) * 16 + forward * 8 + self.below(8) as i64;
            if score > best.0 {
                best = (score, mv);
            }
        }
        best.1
    }
}

/// The strength of the captured piece; entering the den counts more than any capture.
fn value(position: &GeneralPosition, mv: GeneralMove) -> i64 {
    if matches!(position.board().terrain(mv.to), Terrain::Den(_)) {
        return 1000;
    }
    position.piece_at(mv.to).map_or(0, |piece| piece.animal.index() as i64 + 1)
}

impl Strategy for Opponent<'_> {
    fn choose(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove {
        let mv = match self.style {
            Style::Random => self.any(position),
            Style::Greedy => self.greedy(position, last),
            Style::Search => self.search(position, last),
        };
        self.own_last = Some(mv.to);
        mv
    }
}

/// The result of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The winner; `None` if the game was stopped.
    pub winner: Option<Color>,
    /// Plies played.
    pub plies: u64,
    /// The number of squares left to the runner; `None` if it was not on its path.
    pub runner_left: Option<usize>,
}

/// Plays a game of at most `most` plies.
pub fn play(
    start: &GeneralPosition,
    run: &[Place],
    white: &mut dyn Strategy,
    black: &mut dyn Strategy,
    most: u64,
) -> Played {
    let mut position = start.clone();
    let mut last = None;
    let mut plies = 0;
    while position.winner().is_none() && plies < most {
        let mv = match position.turn() {
            Color::White => white.choose(&position, last),
            Color::Black => black.choose(&position, last),
        };
        position.make(mv);
        last = Some(mv);
        plies += 1;
    }
    let runner = run.iter().rposition(|&p| position.piece_at(p).is_some_and(|x| x.color == Color::Black));
    Played { winner: position.winner(), plies, runner_left: runner.map(|at| run.len() - 1 - at) }
}
