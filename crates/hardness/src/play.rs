//! The winner's strategy, move by move on the general board.
//!
//! If White wins the formula game, White chooses variables by its strategy and then brings panthers through the
//! gadgets, each by the strategy that the checker found. If Black wins it, Black answers a move in a gadget by a move
//! that keeps the prevented claims of the gadget, and moves the runner if no answer is needed.

use super::catalog;
use super::check::{DEFAULT_BOUND, Solved};
use super::circuit::{Circuit, Gate, Step};
use super::formula::Formula;
use super::gadget::GadgetError;
use super::game::{Action, State};
use super::layout::{GadgetKind, Layout, Stretch};
use crate::general::{GeneralMove, GeneralPosition, Place, Terrain};
use doushouqi::board::{Animal, Color, Piece, RuleOptions};
use std::collections::{HashMap, HashSet, VecDeque};

const RULES: RuleOptions = RuleOptions::PAPER;
const WHITE_PANTHER: Piece = Piece { color: Color::White, animal: Animal::Panther };

/// The solved claims that both sides' strategies follow.
pub struct SolvedClaims {
    white: HashMap<(GadgetKind, &'static str), Solved>,
    black: HashMap<(GadgetKind, &'static str), Solved>,
}

const WHITE_CLAIMS: [(GadgetKind, &str); 11] = [
    (GadgetKind::Start, "> out=1 forced"),
    (GadgetKind::And, "left=1 right=1 > out=1 forced steady-cats"),
    (GadgetKind::Or, "left=1 > out=1 forced steady-cats"),
    (GadgetKind::Or, "right=1 > out=1 forced steady-cats"),
    (GadgetKind::Fanout, "in=1 > left=1 right=1 forced"),
    (GadgetKind::Choice, "in=1 > left=1 forced"),
    (GadgetKind::Choice, "in=1 > right=1 forced"),
    (GadgetKind::WhiteEdge, "bottom=1 > top=1 forced"),
    (GadgetKind::BlackEdge, "bottom=1 > top=1 forced"),
    (GadgetKind::Outflow, "in=1 > out=1 forced steady-cats"),
    (GadgetKind::Den, "in=1 > den=1 forced"),
];

const BLACK_CLAIMS: [(GadgetKind, &str); 9] = [
    (GadgetKind::Start, "> out=1 prevented other-first any-cats"),
    (GadgetKind::And, "left=1 > out=1 prevented any-cats"),
    (GadgetKind::Or, "> out=1 prevented any-cats"),
    (GadgetKind::Or, "left=1 right=1 > out=2 prevented any-cats"),
    (GadgetKind::Fanout, "> left=1 prevented any-cats"),
    (GadgetKind::Fanout, "> right=1 prevented any-cats"),
    (GadgetKind::BlackEdge, "bottom=1 > top=1 bottom=1 prevented round-trip any-cats"),
    (GadgetKind::Outflow, "> out=1 prevented any-cats"),
    (GadgetKind::Outflow, "in=2 > out=2 prevented any-cats"),
];

impl SolvedClaims {
    /// Solves the claims, which takes less than a second.
    ///
    /// # Errors
    /// If a claim of the catalog is malformed or too large, which is a bug.
    pub fn new() -> Result<SolvedClaims, GadgetError> {
        let solve = |claims: &[(GadgetKind, &'static str)]| {
            let one = |&(kind, text): &(GadgetKind, &'static str)| {
                let gadget = catalog::gadget(kind.name()).ok_or(GadgetError::Missing { what: "catalog" })?;
                let claim = gadget.claim(0, text)?;
                Ok(((kind, text), Solved::new(&gadget, &claim, DEFAULT_BOUND)?))
            };
            claims.iter().map(one).collect::<Result<HashMap<_, _>, GadgetError>>()
        };
        Ok(SolvedClaims { white: solve(&WHITE_CLAIMS)?, black: solve(&BLACK_CLAIMS)? })
    }
}

/// A formula with its circuit and its position.
pub struct Reduction<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// The circuit of the formula.
    pub circuit: &'a Circuit,
    /// The board of the circuit.
    pub layout: &'a Layout,
    /// For each square, one plus the index of the part that contains it; 0 for none.
    part_of: Vec<u32>,
    tables: &'a SolvedClaims,
}

impl<'a> Reduction<'a> {
    /// Prepares a layout of the circuit of this formula.
    #[must_use]
    pub fn new(
        formula: &'a Formula,
        circuit: &'a Circuit,
        layout: &'a Layout,
        tables: &'a SolvedClaims,
    ) -> Reduction<'a> {
        let board = layout.position.board();
        let mut part_of = vec![0; board.len()];
        for (i, part) in layout.parts.iter().enumerate() {
            let gadget = catalog::gadget(part.kind.name()).expect("a gadget of the catalog");
            let small = gadget.position.board();
            for place in small.places().filter(|&p| small.terrain(p) != Terrain::Water) {
                let (row, column) = small.row_column(place);
                let place = board.at(part.row + row, part.column + column).expect("parts are on the board");
                part_of[place.index()] = i as u32 + 1;
            }
        }
        Reduction { formula, circuit, layout, part_of, tables }
    }

    fn part_at(&self, place: Place) -> Option<usize> {
        (self.part_of[place.index()] as usize).checked_sub(1)
    }

    /// The square on the board of a square of a part.
    fn on_board(&self, part: usize, solved: &Solved, place: Place) -> Place {
        let (row, column) = solved.gadget.position.board().row_column(place);
        let part = self.layout.parts[part];
        self.layout.position.board().at(part.row + row, part.column + column).expect("parts are on the board")
    }

    /// The square outside an entrance of a part: above an entrance in its first rank, below any other.
    fn outside(&self, part: usize, solved: &Solved, door: usize) -> Place {
        let board = self.layout.position.board();
        let door = solved.game.door(door);
        let (row, column) = board.row_column(self.on_board(part, solved, door));
        let top = solved.gadget.position.board().row_column(door).0 == 0;
        board.at(if top { row - 1 } else { row + 1 }, column).expect("nothing opens at the border")
    }

    /// The state of a part.
    fn state(
        &self,
        position: &GeneralPosition,
        part: usize,
        solved: &Solved,
        waiting: [u8; 4],
        left: [u8; 4],
    ) -> State {
        let piece_at = |place| position.piece_at(self.on_board(part, solved, place));
        solved.game.state(piece_at, waiting, left, position.turn())
    }

    /// The move on the board for an action in a part; `None` for a pass.
    fn real(&self, part: usize, solved: &Solved, action: Action) -> Option<GeneralMove> {
        let door = |d| self.on_board(part, solved, solved.game.door(d));
        Some(match action {
            Action::Pass => return None,
            Action::Move(mv) => {
                GeneralMove { from: self.on_board(part, solved, mv.from), to: self.on_board(part, solved, mv.to) }
            }
            Action::Enter(d) => GeneralMove { from: self.outside(part, solved, d), to: door(d) },
            Action::Leave(d) => GeneralMove { from: door(d), to: self.outside(part, solved, d) },
        })
    }

    /// The initial squares of White's and Black's panthers in a START.
    fn pair(&self, part: usize) -> (Place, Place) {
        let board = self.layout.position.board();
        let part = self.layout.parts[part];
        let at = |row| board.at(part.row + row, part.column + 2).expect("parts are on the board");
        (at(3), at(2))
    }

    /// Whether both panthers of a START still face each other.
    fn is_open(&self, position: &GeneralPosition, part: usize) -> bool {
        let (white, black) = self.pair(part);
        position.piece_at(white) == Some(WHITE_PANTHER)
            && position.piece_at(black) == Some(Piece { color: Color::Black, animal: Animal::Panther })
    }

    /// The variables that are true and false, as bits; all others are open.
    fn variables(&self, position: &GeneralPosition, taken: u32) -> (u32, u32) {
        let mut sets = (0, 0);
        for &(part, variable) in &self.layout.starts {
            if taken >> variable & 1 != 0 {
                sets.0 |= 1 << variable;
            } else if !self.is_open(position, part) {
                sets.1 |= 1 << variable;
            }
        }
        sets
    }

    /// The move that captures the opponent's panther of this variable.
    fn choice(&self, variable: usize, turn: Color) -> Option<GeneralMove> {
        let (part, _) = self.layout.starts.iter().find(|(_, v)| *v == variable)?;
        let (white, black) = self.pair(*part);
        Some(if turn == Color::White {
            GeneralMove { from: white, to: black }
        } else {
            GeneralMove { from: black, to: white }
        })
    }
}

fn is_legal(position: &GeneralPosition, mv: GeneralMove) -> bool {
    let mut moves = Vec::new();
    position.moves_from(mv.from, &RULES, &mut moves);
    moves.contains(&mv) && position.piece_at(mv.from).is_some_and(|p| p.color == position.turn())
}

/// A strategy of one side.
pub trait Strategy {
    /// The move of the side to move, which must have one. `last` is the opponent's last move.
    fn choose(&mut self, position: &GeneralPosition, last: Option<GeneralMove>) -> GeneralMove;
}

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
