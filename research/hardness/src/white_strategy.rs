//! White's strategy if White wins the formula game, move by move on the general board: White chooses variables by its
//! strategy for the game and then brings panthers through the gadgets, each by the strategy that the checker found.

use super::check::Solved;
use super::circuit::{Circuit, Gate, Step};
use super::game::Action;
use super::layout::{GadgetKind, Layout, Stretch};
use super::play::{RULES, Reduction, Strategy, WHITE_CLAIMS, WHITE_PANTHER, is_legal};
use crate::general::{GeneralMove, GeneralPosition, Place, Terrain};
use doushouqi::board::{Color, Piece};
use std::collections::{HashMap, HashSet, VecDeque};

/// White's strategy as the winner of the formula game.
pub struct WhiteWins<'a> {
    reduction: &'a Reduction<'a>,
    /// Variables whose panther White captured.
    taken: u32,
    plan: Option<VecDeque<Stage>>,
    stage: Progress,
    /// Number of moves without a solved claim.
    pub improvised: u64,
}

/// A part of White's plan.
enum Stage {
    /// Walk along these squares, upward.
    Walk(Vec<Place>),
    /// Pass through a part by this claim.
    Part(usize, (GadgetKind, &'static str)),
}

/// Progress within the first stage.
#[derive(Default)]
struct Progress {
    begun: bool,
    entered: [u8; 4],
    left: [u8; 4],
}

impl<'a> WhiteWins<'a> {
    /// White's strategy for a formula that White wins.
    #[must_use]
    pub fn new(reduction: &'a Reduction<'a>) -> WhiteWins<'a> {
        WhiteWins { reduction, taken: 0, plan: None, stage: Progress::default(), improvised: 0 }
    }

    fn choose_variable(&mut self, position: &GeneralPosition) -> Option<GeneralMove> {
        let (is_true, is_false) = self.reduction.variables(position, self.taken);
        let variable = self.reduction.formula.game().ok()?.best(is_true, is_false, Color::White)?;
        let mv = self.reduction.choice(variable, Color::White).filter(|&mv| is_legal(position, mv))?;
        self.taken |= 1 << variable;
        Some(mv)
    }

    /// The paths of the signals, planned backward from the den.
    fn make_plan(&self) -> VecDeque<Stage> {
        let (layout, circuit) = (self.reduction.layout, self.reduction.circuit);
        let mut plan = VecDeque::new();
        let Some(active) = active_wires(circuit, layout, |v| self.taken >> v & 1 != 0) else { return plan };
        let mut needed = HashSet::from([layout.wiring.output]);
        let mut claims = HashMap::new();
        for (index, gate) in layout.wiring.gates.iter().enumerate().rev() {
            let wanted: Vec<usize> = (0..gate.outputs.len()).filter(|&i| needed.contains(&gate.outputs[i])).collect();
            let Some(&first) = wanted.first() else { continue };
            let on = |i: usize| active.contains(&gate.inputs[i]);
            let (claim, inputs) = match gate.gate {
                Gate::And => (WHITE_CLAIMS[1].1, vec![0, 1]),
                Gate::Or if on(0) => (WHITE_CLAIMS[2].1, vec![0]),
                Gate::Or => (WHITE_CLAIMS[3].1, vec![1]),
                Gate::Fanout => (WHITE_CLAIMS[4].1, vec![0]),
                Gate::Choice => (WHITE_CLAIMS[5 + first].1, vec![0]),
            };
            needed.extend(inputs.into_iter().map(|i| gate.inputs[i]));
            claims.insert(index, claim);
        }
        for (wire, &(part, _)) in layout.starts.iter().enumerate().take(circuit.inputs.len()) {
            if needed.contains(&wire) {
                plan.push_back(Stage::Part(part, WHITE_CLAIMS[0]));
                self.follow(wire, &mut plan);
            }
        }
        for (index, gate) in layout.wiring.gates.iter().enumerate() {
            let Some(&claim) = claims.get(&index) else { continue };
            plan.push_back(Stage::Part(layout.gates[index], (gate.gate.into(), claim)));
            for &wire in gate.outputs.iter().filter(|wire| needed.contains(wire)) {
                self.follow(wire, &mut plan);
            }
        }
        plan.push_back(Stage::Part(layout.den, WHITE_CLAIMS[10]));
        plan
    }

    /// Adds a wire's path to the plan.
    fn follow(&self, wire: usize, plan: &mut VecDeque<Stage>) {
        for stretch in &self.reduction.layout.routes[wire] {
            plan.push_back(match stretch {
                Stretch::Corridor(squares) => Stage::Walk(squares.clone()),
                Stretch::Part(part) => {
                    let kind = self.reduction.layout.parts[*part].kind;
                    let claim = WHITE_CLAIMS.into_iter().find(|(k, _)| *k == kind).expect("a part of a protector");
                    Stage::Part(*part, claim)
                }
            });
        }
    }

    fn follow_plan(&mut self, position: &GeneralPosition) -> Option<GeneralMove> {
        loop {
            let plan = self.plan.as_mut()?;
            let mv = match plan.front()? {
                Stage::Walk(squares) => walk(position, squares),
                Stage::Part(part, claim) => {
                    let solved = &self.reduction.tables.white[claim];
                    pass_through(self.reduction, position, *part, solved, &mut self.stage)
                }
            };
            match mv {
                Next::Done => {
                    plan.pop_front();
                    self.stage = Progress::default();
                }
                Next::Move(mv) => return is_legal(position, mv).then_some(mv),
                Next::Lost => return None,
            }
        }
    }

    /// The capture of a piece that has just stepped onto a white trap.
    fn punish(&self, position: &GeneralPosition, last: Option<GeneralMove>) -> Option<GeneralMove> {
        let to = last?.to;
        let board = position.board();
        if board.terrain(to) != Terrain::Trap(Color::White) {
            return None;
        }
        // In the current part of the plan, the part's strategy takes precedence if its claim includes the piece.
        if let Some(Stage::Part(part, claim)) = self.plan.as_ref().and_then(VecDeque::front)
            && self.reduction.part_at(to) == Some(*part)
            && !has_unclaimed_black_piece(position, self.reduction, *part, &self.reduction.tables.white[claim])
        {
            return None;
        }
        let around = doushouqi::board::Direction::ALL.into_iter().filter_map(|d| board.neighbour(to, d));
        around.map(|from| GeneralMove { from, to }).find(|&mv| is_legal(position, mv))
    }
}

/// Whether a part contains a black piece that its claim does not include.
fn has_unclaimed_black_piece(position: &GeneralPosition, reduction: &Reduction, part: usize, solved: &Solved) -> bool {
    let board = solved.gadget.position.board();
    let blacks = |at: &dyn Fn(Place) -> Option<Piece>| {
        board.places().filter_map(at).filter(|p| p.color == Color::Black).map(|p| p.animal).collect::<Vec<_>>()
    };
    let known = blacks(&|p| solved.gadget.position.piece_at(p));
    let here = blacks(&|p| {
        let terrain = board.terrain(p);
        (terrain != Terrain::Water).then(|| position.piece_at(reduction.on_board(part, solved, p))).flatten()
    });
    here.iter().any(|animal| !known.contains(animal))
}

impl Strategy for WhiteWins<'_> {
    fn choose(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove {
        if let Some(mv) = self.punish(position, last) {
            return mv;
        }
        if self.plan.is_none() {
            if let Some(mv) = self.choose_variable(position) {
                return mv;
            }
            self.plan = Some(self.make_plan());
        }
        if let Some(mv) = self.follow_plan(position) {
            return mv;
        }
        self.improvised += 1;
        self.improvise(position)
    }
}

impl WhiteWins<'_> {
    /// A capture by a panther if possible, else some legal move.
    fn improvise(&self, position: &GeneralPosition) -> GeneralMove {
        let moves = position.moves(&RULES);
        let takes =
            |mv: &&GeneralMove| position.piece_at(mv.to).is_some() && position.piece_at(mv.from) == Some(WHITE_PANTHER);
        *moves.iter().find(takes).unwrap_or(&moves[0])
    }
}

enum Next {
    Move(GeneralMove),
    Done,
    /// No known move continues the plan.
    Lost,
}

/// The next step of the most advanced panther on these squares.
fn walk(position: &GeneralPosition, squares: &[Place]) -> Next {
    let Some(at) = squares.iter().rposition(|&p| position.piece_at(p) == Some(WHITE_PANTHER)) else {
        return Next::Lost;
    };
    match squares.get(at + 1) {
        None => Next::Done,
        Some(&to) => Next::Move(GeneralMove { from: squares[at], to }),
    }
}

/// The next move of White's strategy in a part.
fn pass_through(
    reduction: &Reduction,
    position: &GeneralPosition,
    part: usize,
    solved: &Solved,
    progress: &mut Progress,
) -> Next {
    let doors = solved.claim.waiting.len();
    if !progress.begun {
        progress.begun = true;
        for door in 0..doors {
            let inside = position.piece_at(reduction.on_board(part, solved, solved.game.door(door)));
            if solved.claim.waiting[door] > 0 && inside == Some(WHITE_PANTHER) {
                progress.entered[door] = 1;
            }
        }
    }
    let mut waiting = [0; 4];
    for door in 0..doors {
        waiting[door] = (solved.claim.waiting[door] as u8).saturating_sub(progress.entered[door]);
    }
    let state = reduction.state(position, part, solved, waiting, progress.left);
    if solved.game.reached(solved.game.pack(&state)) {
        return Next::Done;
    }
    let mut best: Option<(u16, Action, GeneralMove)> = None;
    solved.game.actions(&state, |action, next| {
        let Some(rank) = solved.rank(&next) else { return };
        let Some(mv) = reduction.real(part, solved, action) else { return };
        if best.as_ref().is_none_or(|b| rank < b.0) && is_legal(position, mv) {
            best = Some((rank, action, mv));
        }
    });
    let Some((_, action, mv)) = best.filter(|b| b.0 != super::attractor::NEVER) else { return Next::Lost };
    match action {
        Action::Enter(door) => progress.entered[door] += 1,
        Action::Leave(door) => progress.left[door] += 1,
        _ => {}
    }
    Next::Move(mv)
}

/// The wires that White activates to make the output active, with all choices made; `None` if that is impossible.
fn active_wires(circuit: &Circuit, layout: &Layout, is_true: impl Fn(usize) -> bool) -> Option<HashSet<usize>> {
    let start = circuit.inputs.iter().enumerate().fold(0u64, |set, (i, &v)| set | u64::from(is_true(v)) << i);
    // The maximal sets of active wires after each step, each with the index of its predecessor.
    let mut history: Vec<Vec<(u64, usize)>> = vec![vec![(start, 0)]];
    for step in &circuit.steps {
        let mut next: Vec<(u64, usize)> = Vec::new();
        for (index, &(set, _)) in history.last()?.iter().enumerate() {
            for after in super::circuit::reachable(std::slice::from_ref(step), set) {
                if !next.iter().any(|&(other, _)| other & after == after) {
                    next.retain(|&(other, _)| after & other != other);
                    next.push((after, index));
                }
            }
        }
        history.push(next);
    }
    let mut index = history.last()?.iter().position(|&(set, _)| set & 1 != 0)?;
    let mut rows: Vec<Vec<usize>> = vec![(0..circuit.inputs.len()).collect()];
    for (Step { wire, .. }, gate) in circuit.steps.iter().zip(&layout.wiring.gates) {
        let mut row = rows.last()?.clone();
        row.splice(*wire..*wire + gate.inputs.len(), gate.outputs.iter().copied());
        rows.push(row);
    }
    let mut active = HashSet::new();
    for (sets, row) in history.iter().zip(&rows).rev() {
        let (set, before) = sets[index];
        active.extend((0..row.len()).filter(|&i| set >> i & 1 != 0).map(|i| row[i]));
        index = before;
    }
    Some(active)
}
