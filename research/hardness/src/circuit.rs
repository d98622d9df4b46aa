//! The planar circuit of a formula: an ordered row of wires that gates change from layer to layer.
//!
//! Each variable has one wire. Splitters copy it for each clause that contains the variable; crossovers bring the wires
//! of each clause together; a chain of OR gates computes each clause, a chain of AND gates the formula. A signal is a
//! white panther, so that a gate outputs at most what its table allows, and White chooses among the possible outputs.

use super::formula::Formula;
use std::collections::{BTreeSet, VecDeque};

/// The kinds of gates. Inputs and outputs are adjacent in the row, left to right.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// One input, two outputs; both become active.
    Fanout,
    /// One input, two outputs; one of them becomes active.
    Choice,
    /// Two inputs, one output; active if at least one input is.
    Or,
    /// Two inputs, one output; active if both inputs are.
    And,
}

impl Gate {
    /// Number of inputs.
    #[must_use]
    pub const fn inputs(self) -> usize {
        match self {
            Gate::Fanout | Gate::Choice => 1,
            Gate::Or | Gate::And => 2,
        }
    }

    /// Number of outputs.
    #[must_use]
    pub const fn outputs(self) -> usize {
        3 - self.inputs()
    }

    /// The maximal sets of outputs that White can make active when these inputs are, as bits with the leftmost lowest.
    /// `dsq-lab gadgets check` proves them.
    #[must_use]
    pub const fn table(self, inputs: u64) -> &'static [u64] {
        match (self, inputs) {
            (Gate::Fanout, 1) => &[0b11],
            (Gate::Choice, 1) => &[0b01, 0b10],
            (Gate::Or, 1..=3) | (Gate::And, 3) => &[1],
            _ => &[0],
        }
    }
}

/// A gate whose first input is the wire at `wire` in the row before this step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The gate.
    pub gate: Gate,
    /// The number of its first wire, from 0.
    pub wire: usize,
}

/// A half crossover of the wires `wire` and `wire + 1`: either output if one input is active, both if both are.
#[must_use]
pub fn half_crossover(wire: usize) -> Vec<Step> {
    let step = |gate, offset| Step { gate, wire: wire + offset };
    // The left input leaves on the left or joins the right one, which then leaves on the left or on the right.
    vec![step(Gate::Choice, 0), step(Gate::Or, 1), step(Gate::Choice, 1), step(Gate::Or, 0)]
}

/// A crossover: the left input becomes the right output and the right input the left output, without alternatives.
///
/// Each input is split. The copies of the left input cross one copy of the right input in half crossovers, must both
/// arrive (AND), are split again and cross the other copy, so that a signal that does not cross as intended is missing
/// later.
#[must_use]
pub fn crossover(wire: usize) -> Vec<Step> {
    let step = |gate, offset| Step { gate, wire: wire + offset };
    let mut steps = vec![step(Gate::Fanout, 0), step(Gate::Fanout, 2)];
    steps.extend(half_crossover(wire + 1));
    steps.extend(half_crossover(wire));
    steps.extend([step(Gate::And, 1), step(Gate::Fanout, 1)]);
    steps.extend(half_crossover(wire + 2));
    steps.extend(half_crossover(wire + 1));
    steps.extend([step(Gate::And, 0), step(Gate::And, 1)]);
    steps
}

/// The maximal sets of wires that can be active after `steps`, given the wires active before, as bits.
#[must_use]
pub fn reachable(steps: &[Step], active: u64) -> Vec<u64> {
    let mut sets = vec![active];
    for step in steps {
        let (ins, outs) = (step.gate.inputs(), step.gate.outputs());
        let mut next = BTreeSet::new();
        for &set in &sets {
            let low = set & ((1 << step.wire) - 1);
            let high = set >> (step.wire + ins);
            let input = set >> step.wire & ((1 << ins) - 1);
            for &output in step.gate.table(input) {
                next.insert(low | output << step.wire | high << (step.wire + outs));
            }
        }
        // White can always send less, so only maximal sets matter.
        sets = next.iter().copied().filter(|&a| !next.iter().any(|&b| b != a && a & b == a)).collect();
    }
    sets
}

/// The circuit of a formula.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// The variable of each wire of the first row.
    pub inputs: Vec<usize>,
    /// The gates in order; the last row is one wire, the output.
    pub steps: Vec<Step>,
    /// The steps with each crossover as one step.
    macros: Vec<Macro>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Macro {
    Gate(Step),
    Cross(usize),
}

impl Circuit {
    /// Builds the circuit of a formula. Variables and clauses are ordered so that few wires cross.
    #[must_use]
    pub fn of(formula: &Formula) -> Circuit {
        let (variables, clauses) = order(formula);
        let mut macros = Vec::new();
        // Splitters: one wire for each use, for each variable in the order of the clauses.
        let mut row: Vec<usize> = Vec::new();
        for &variable in &variables {
            let uses: Vec<usize> =
                (0..clauses.len()).filter(|&c| formula.clauses()[clauses[c]].contains(&variable)).collect();
            let first = row.len();
            macros.extend((1..uses.len()).map(|i| Macro::Gate(Step { gate: Gate::Fanout, wire: first + i - 1 })));
            row.extend(uses);
        }
        // Crossovers: exchanges of neighbours in the wrong order.
        while let Some(wire) = (1..row.len()).find(|&i| row[i - 1] > row[i]) {
            let mut wire = wire;
            while wire < row.len() {
                if row[wire - 1] > row[wire] {
                    row.swap(wire - 1, wire);
                    macros.push(Macro::Cross(wire - 1));
                    wire += 1;
                }
                wire += 1;
            }
        }
        for clause in 0..clauses.len() {
            let size = row.iter().filter(|&&c| c == clause).count();
            macros.extend((1..size).map(|_| Macro::Gate(Step { gate: Gate::Or, wire: clause })));
        }
        macros.extend((1..clauses.len()).map(|_| Macro::Gate(Step { gate: Gate::And, wire: 0 })));
        let steps = macros.iter().flat_map(|m| match m {
            Macro::Gate(step) => vec![*step],
            Macro::Cross(wire) => crossover(*wire),
        });
        Circuit { inputs: variables, steps: steps.collect(), macros }
    }

    /// Number of crossovers.
    #[must_use]
    pub fn crossovers(&self) -> usize {
        self.macros.iter().filter(|m| matches!(m, Macro::Cross(_))).count()
    }

    /// Number of gates of a kind.
    #[must_use]
    pub fn count(&self, gate: Gate) -> usize {
        self.steps.iter().filter(|step| step.gate == gate).count()
    }

    /// Whether White can make the output active when these variables are true, with crossovers as single steps.
    #[must_use]
    pub fn evaluate(&self, is_true: impl Fn(usize) -> bool) -> bool {
        let mut row: Vec<bool> = self.inputs.iter().map(|&v| is_true(v)).collect();
        for step in &self.macros {
            match *step {
                Macro::Cross(wire) => row.swap(wire, wire + 1),
                Macro::Gate(Step { gate, wire }) => match gate {
                    Gate::Fanout => row.insert(wire, row[wire]),
                    Gate::Or => row[wire] |= row.remove(wire + 1),
                    Gate::And => row[wire] &= row.remove(wire + 1),
                    Gate::Choice => unreachable!("a choice is a part of a crossover"),
                },
            }
        }
        row[0]
    }

    /// As [`evaluate`](Circuit::evaluate), with crossovers gate by gate: exact, but slower. At most 64 wires in a row.
    #[must_use]
    pub fn evaluate_gates(&self, is_true: impl Fn(usize) -> bool) -> bool {
        let active = self.inputs.iter().enumerate().fold(0, |set, (i, &v)| set | u64::from(is_true(v)) << i);
        reachable(&self.steps, active).contains(&1)
    }

    /// The circuit with numbered wires.
    #[must_use]
    pub fn wiring(&self) -> Wiring {
        let mut row: VecDeque<usize> = (0..self.inputs.len()).collect();
        let mut wires = row.len();
        let mut gates = Vec::new();
        for step in &self.steps {
            let inputs: Vec<usize> = (0..step.gate.inputs()).filter_map(|_| row.remove(step.wire)).collect();
            let outputs: Vec<usize> = (0..step.gate.outputs()).map(|i| wires + i).collect();
            wires += outputs.len();
            for (i, &wire) in outputs.iter().enumerate() {
                row.insert(step.wire + i, wire);
            }
            gates.push(WiredGate { gate: step.gate, inputs, outputs });
        }
        Wiring { wires, gates, output: row[0] }
    }
}

/// A circuit as gates between numbered wires.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The number of wires.
    pub wires: usize,
    /// The gates, each after the gates of its inputs.
    pub gates: Vec<WiredGate>,
    /// The output wire: active if White wins.
    pub output: usize,
}

/// A gate with its wires.
#[derive(Clone, Debug)]
pub struct WiredGate {
    /// The function it computes.
    pub gate: Gate,
    /// The input wires, left to right.
    pub inputs: Vec<usize>,
    /// The output wires, left to right.
    pub outputs: Vec<usize>,
}

/// Orders of the variables that occur and of the clauses with few crossing wires: the barycentre method, keeping the
/// best orders seen.
fn order(formula: &Formula) -> (Vec<usize>, Vec<usize>) {
    let uses = |v: usize| formula.clauses().iter().filter(|c| c.contains(&v)).count();
    let mut variables: Vec<usize> = (0..formula.variables()).filter(|&v| uses(v) > 0).collect();
    let mut clauses: Vec<usize> = (0..formula.clauses().len()).collect();
    let mut best = (crossings(formula, &variables, &clauses), variables.clone(), clauses.clone());
    for _ in 0..20 {
        let place = |all: &[usize], x: usize| all.iter().position(|&y| y == x).unwrap_or(0) as f64;
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let centre = |c: usize| mean(formula.clauses()[c].iter().map(|&v| place(&variables, v)).collect());
        let mut sorted = clauses.clone();
        sorted.sort_by(|&a, &b| centre(a).total_cmp(&centre(b)));
        clauses = sorted;
        let having = |v: usize| (0..clauses.len()).filter(move |&c| formula.clauses()[c].contains(&v));
        let centre = |v: usize| mean(having(v).map(|c| place(&clauses, c)).collect());
        let mut sorted = variables.clone();
        sorted.sort_by(|&a, &b| centre(a).total_cmp(&centre(b)));
        variables = sorted;
        let count = crossings(formula, &variables, &clauses);
        if count < best.0 {
            best = (count, variables.clone(), clauses.clone());
        }
    }
    (best.1, best.2)
}

fn crossings(formula: &Formula, variables: &[usize], clauses: &[usize]) -> usize {
    let row: Vec<usize> = variables
        .iter()
        .flat_map(|v| (0..clauses.len()).filter(|&c| formula.clauses()[clauses[c]].contains(v)))
        .collect();
    (0..row.len()).map(|i| row[..i].iter().filter(|&&before| before > row[i]).count()).sum()
}
