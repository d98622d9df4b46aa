//! Black's strategy if Black wins the formula game, move by move on the general board: Black answers a move in a gadget
//! by a move that keeps the prevented claims of the gadget, and moves the runner if no answer is needed.

use super::check::Solved;
use super::game::Action;
use super::layout::GadgetKind;
use super::play::{BLACK_CLAIMS, RULES, Reduction, Strategy, WHITE_PANTHER, is_legal};
use crate::general::{GeneralMove, GeneralPosition, Place, Terrain};
use doushouqi::board::Color;
use std::collections::{HashMap, HashSet};

/// Black as the winner of the formula game.
pub struct BlackWins<'a> {
    reduction: &'a Reduction<'a>,
    taken: u32,
    /// The moves of White's panthers in each part so far.
    seen: HashMap<usize, Seen>,
    runner: usize,
    /// The position before White's last move.
    board: GeneralPosition,
    /// Number of White's moves without an answer that keeps every claim.
    pub unanswered: u64,
    /// Number of moves of the runner.
    pub runs: u64,
}

#[derive(Clone, Default)]
struct Seen {
    arrived: [u8; 4],
    left: [u8; 4],
    /// Whether the panther inside came from above.
    from_top: bool,
}

impl<'a> BlackWins<'a> {
    /// Black's strategy for a formula that Black wins.
    #[must_use]
    pub fn new(reduction: &'a Reduction<'a>) -> BlackWins<'a> {
        BlackWins {
            reduction,
            taken: 0,
            seen: HashMap::new(),
            runner: 0,
            board: reduction.layout.position.clone(),
            unanswered: 0,
            runs: 0,
        }
    }

    /// Records a panther that moved between parts, and a variable that White took.
    fn note(&mut self, mv: GeneralMove) {
        let before = &self.board;
        if before.piece_at(mv.from) != Some(WHITE_PANTHER) {
            return;
        }
        for &(_, variable) in &self.reduction.layout.starts {
            if self.reduction.choice(variable, Color::White) == Some(mv) && before.piece_at(mv.to).is_some() {
                self.taken |= 1 << variable;
            }
        }
        let (from, to) = (self.reduction.part_at(mv.from), self.reduction.part_at(mv.to));
        if from == to {
            return;
        }
        let upward = before.board().row_column(mv.to).0 < before.board().row_column(mv.from).0;
        if let Some(part) = from
            && let Some(door) = self.door_of(part, mv.from)
        {
            let seen = self.seen.entry(part).or_default();
            if upward {
                seen.left[door] += 1;
            } else {
                // The panther left by an input and waits there again.
                seen.arrived[door] = seen.arrived[door].saturating_sub(1);
            }
        }
        if let Some(part) = to
            && let Some(door) = self.door_of(part, mv.to)
        {
            let seen = self.seen.entry(part).or_default();
            seen.arrived[door] += 1;
            seen.from_top = !upward;
        }
    }

    fn door_of(&self, part: usize, place: Place) -> Option<usize> {
        let kind = self.reduction.layout.parts[part].kind;
        let solved = self.reduction.tables.black.iter().find(|((k, _), _)| *k == kind)?.1;
        (0..solved.claim.waiting.len())
            .find(|&door| self.reduction.on_board(part, solved, solved.game.door(door)) == place)
    }

    /// The claims that Black has to keep in a part, with the counters of their states.
    fn claims_to_keep(&self, position: &GeneralPosition, part: usize) -> Vec<(&'a Solved, [u8; 4], [u8; 4])> {
        let kind = self.reduction.layout.parts[part].kind;
        let table = |text: &'static str| &self.reduction.tables.black[&(kind, text)];
        let seen = self.seen.get(&part).cloned().unwrap_or_default();
        let arrived: u8 = seen.arrived.iter().sum();
        let none = [0; 4];
        let panthers = |solved: &Solved| {
            let board = solved.gadget.position.board();
            let cells = board.places().filter(|&p| board.terrain(p) != Terrain::Water);
            cells
                .filter(|&p| position.piece_at(self.reduction.on_board(part, solved, p)) == Some(WHITE_PANTHER))
                .count()
        };
        match kind {
            GadgetKind::Start => {
                let open = self.reduction.layout.starts.iter().any(|&(p, v)| p == part && self.taken >> v & 1 == 0);
                if open { vec![(table(BLACK_CLAIMS[0].1), none, none)] } else { Vec::new() }
            }
            GadgetKind::And => {
                let solved = table(BLACK_CLAIMS[1].1);
                match panthers(solved) {
                    0 => vec![(solved, [1, 0, 0, 0], none)],
                    1 => vec![(solved, none, none)],
                    _ => Vec::new(),
                }
            }
            GadgetKind::Or => {
                let both = table(BLACK_CLAIMS[3].1);
                let waiting = [1u8.saturating_sub(seen.arrived[0]), 1u8.saturating_sub(seen.arrived[1]), 0, 0];
                let mut claims = vec![(both, waiting, seen.left)];
                if arrived == 0 {
                    claims.push((table(BLACK_CLAIMS[2].1), none, none));
                }
                claims
            }
            GadgetKind::Outflow => {
                let mut claims = vec![(table(BLACK_CLAIMS[8].1), [2u8.saturating_sub(arrived), 0, 0, 0], seen.left)];
                if arrived == 0 {
                    claims.push((table(BLACK_CLAIMS[7].1), none, none));
                }
                claims
            }
            GadgetKind::Fanout if arrived == 0 => {
                vec![(table(BLACK_CLAIMS[4].1), none, none), (table(BLACK_CLAIMS[5].1), none, none)]
            }
            GadgetKind::BlackEdge => {
                let solved = table(BLACK_CLAIMS[6].1);
                match panthers(solved) {
                    0 => vec![(solved, [0, 1, 0, 0], [0, 1, 0, 0])],
                    _ if seen.from_top => vec![(solved, none, [0, 1, 0, 0])],
                    _ => vec![(solved, none, none)],
                }
            }
            _ => Vec::new(),
        }
    }

    /// The answer to White's move in a part; `None` if none is needed.
    fn answer(&mut self, position: &GeneralPosition, part: usize) -> Option<GeneralMove> {
        let claims = self.claims_to_keep(position, part);
        let reduction = self.reduction;
        let kept = |action: Action| {
            claims
                .iter()
                .filter(|(solved, waiting, left)| keeps(reduction, position, part, (solved, waiting, left), action))
                .count()
        };
        let whole = kept(Action::Pass);
        if whole == claims.len() {
            return None;
        }
        let mut best = (whole, None);
        for (solved, waiting, left) in &claims {
            let state = self.reduction.state(position, part, solved, *waiting, *left);
            solved.game.actions(&state, |action, _| {
                let Some(mv) = self.reduction.real(part, solved, action) else { return };
                let count = kept(action);
                if count > best.0 && is_legal(position, mv) {
                    best = (count, Some(mv));
                }
            });
        }
        if best.0 < claims.len() {
            self.unanswered += 1;
        }
        best.1
    }

    fn choose_variable(&self, position: &GeneralPosition) -> Option<GeneralMove> {
        let (is_true, is_false) = self.reduction.variables(position, self.taken);
        let variable = self.reduction.formula.game().ok()?.best(is_true, is_false, Color::Black)?;
        self.reduction.choice(variable, Color::Black).filter(|&mv| is_legal(position, mv))
    }
}

/// Whether an action of Black keeps a prevented claim in a part. States outside the claim's game do not count.
fn keeps(
    reduction: &Reduction,
    position: &GeneralPosition,
    part: usize,
    (solved, waiting, left): (&Solved, &[u8; 4], &[u8; 4]),
    action: Action,
) -> bool {
    let state = reduction.state(position, part, solved, *waiting, *left);
    let mut kept = false;
    solved.game.actions(&state, |other, next| {
        if other == action {
            kept = solved.rank(&next).is_none_or(|rank| rank == super::attractor::NEVER);
        }
    });
    kept
}

impl Strategy for BlackWins<'_> {
    fn choose(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove {
        if let Some(last) = last {
            self.note(last);
            self.board.make(last);
            let parts: HashSet<usize> =
                [last.from, last.to].iter().filter_map(|&p| self.reduction.part_at(p)).collect();
            let mut parts: Vec<usize> = parts.into_iter().collect();
            parts.sort_unstable();
            for part in parts {
                if let Some(mv) = self.answer(position, part) {
                    self.board.make(mv);
                    return mv;
                }
            }
        }
        let run = &self.reduction.layout.run;
        let step = run.get(self.runner + 1).map(|&to| GeneralMove { from: run[self.runner], to });
        let mv = match self.choose_variable(position) {
            Some(mv) => mv,
            None => match step.filter(|&mv| is_legal(position, mv)) {
                Some(mv) => {
                    self.runner += 1;
                    self.runs += 1;
                    mv
                }
                None => position.moves(&RULES)[0],
            },
        };
        self.board.make(mv);
        mv
    }
}
