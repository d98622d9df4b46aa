//! Measurements of the reduction: sizes, the circuit against the formula game, games on the board.

use super::black_strategy::BlackWins;
use super::circuit::Circuit;
use super::formula::Formula;
use super::layout::{Layout, LayoutError};
use super::opponent::{Opponent, Style, play};
use super::play::{Reduction, SolvedClaims};
use super::white_strategy::WhiteWins;
use doushouqi::board::Color;
use doushouqi::game::random::Random;
use std::collections::HashMap;

/// Small formulas for games: ten that White wins and ten that Black wins. Some need crossovers.
pub const SUITE: [&str; 20] = [
    "(a)",
    "(a | b)",
    "(a | b | c)",
    "(a | b) & (a | c)",
    "(a | b) & (c | d)",
    "(a) & (b | c)",
    "(a | b) & (b | c) & (c | d)",
    "(a | b | c) & (c | d)",
    "(a | b) & (a | c) & (a | d)",
    "(a | b) & (b | c) & (a | c)",
    "(a) & (b)",
    "(a) & (b) & (c)",
    "(a | b) & (c)& (d)",
    "(a) & (b) & (c | d)",
    "(a) & (b | c) & (d)",
    "(a) & (b | c) & (b | d) & (e)",
    "(a | b) & (b | c) & (d) & (e)",
    "(a) & (b | c | d) & (e)",
    "(a) & (a | b) & (c) & (c | d)",
    "(a | b) & (c | d) & (a | d) & (b | c)",
];

/// The winner when the players take turns choosing variables; `is_true` returns whether White wins with this set of
/// variables, given as bits.
pub fn winner_by(variables: usize, is_true: impl Fn(u32) -> bool) -> Color {
    fn white_wins(
        variables: usize,
        sets: (u32, u32),
        is_true: &impl Fn(u32) -> bool,
        known: &mut HashMap<(u32, u32), bool>,
    ) -> bool {
        if let Some(&wins) = known.get(&sets) {
            return wins;
        }
        let chosen = sets.0 | sets.1;
        let mut open = (0..variables).filter(|v| chosen >> v & 1 == 0).peekable();
        let wins = if open.peek().is_none() {
            is_true(sets.0)
        } else if chosen.count_ones().is_multiple_of(2) {
            open.any(|v| white_wins(variables, (sets.0 | 1 << v, sets.1), is_true, known))
        } else {
            open.all(|v| white_wins(variables, (sets.0, sets.1 | 1 << v), is_true, known))
        };
        known.insert(sets, wins);
        wins
    }
    if white_wins(variables, (0, 0), &is_true, &mut HashMap::new()) { Color::White } else { Color::Black }
}

/// All positive CNFs of one to `clauses` different clauses over `variables` variables.
#[must_use]
pub fn all_formulas(variables: usize, clauses: usize) -> Vec<Formula> {
    let sets: Vec<Vec<usize>> =
        (1u32..1 << variables).map(|set| (0..variables).filter(|v| set >> v & 1 != 0).collect()).collect();
    let mut all = Vec::new();
    let mut chosen: Vec<usize> = Vec::new();
    fn go(all: &mut Vec<Formula>, sets: &[Vec<usize>], variables: usize, left: usize, chosen: &mut Vec<usize>) {
        if !chosen.is_empty() {
            all.push(Formula::new(variables, &chosen.iter().map(|&i| sets[i].clone()).collect::<Vec<_>>()));
        }
        if left > 0 {
            for i in chosen.last().map_or(0, |last| last + 1)..sets.len() {
                chosen.push(i);
                go(all, sets, variables, left - 1, chosen);
                chosen.pop();
            }
        }
    }
    go(&mut all, &sets, variables, clauses, &mut chosen);
    all
}

/// A random formula with clauses of `size` distinct variables, or of all variables if there are fewer.
#[must_use]
pub fn random_formula(variables: usize, clauses: usize, size: usize, seed: u64) -> Formula {
    let mut random = Random::new(seed);
    let clauses: Vec<Vec<usize>> = (0..clauses)
        .map(|_| {
            let mut clause: Vec<usize> = Vec::new();
            while clause.len() < size.min(variables) {
                let variable = random.below(variables);
                if !clause.contains(&variable) {
                    clause.push(variable);
                }
            }
            clause
        })
        .collect();
    Formula::new(variables, &clauses)
}

/// The size of a formula's position.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Size {
    /// Variables of the formula.
    pub variables: usize,
    /// Clauses of the formula.
    pub clauses: usize,
    /// Literals of all clauses together.
    pub literals: usize,
    /// Crossovers in the circuit.
    pub crossovers: usize,
    /// Gates of the circuit, including the gates of crossovers.
    pub gates: usize,
    /// Gadgets on the board, including protectors.
    pub gadgets: usize,
    /// Number of files.
    pub width: usize,
    /// Number of ranks.
    pub height: usize,
    /// Width times height.
    pub squares: usize,
    /// Pieces of both sides.
    pub pieces: usize,
    /// The most moves of White's plan.
    pub plan_moves: u64,
    /// Moves of Black's runner to the white den.
    pub run_moves: u64,
    /// The least number of plies by which White is first.
    pub slack_plies: i64,
}

/// The size of a formula's position.
#[must_use]
pub fn size(formula: &Formula, circuit: &Circuit, layout: &Layout) -> Size {
    let board = layout.position.board();
    Size {
        variables: formula.variables(),
        clauses: formula.clauses().len(),
        literals: formula.literals(),
        crossovers: circuit.crossovers(),
        gates: circuit.steps.len(),
        gadgets: layout.parts.len(),
        width: board.width(),
        height: board.height(),
        squares: board.len(),
        pieces: layout.position.places_of(Color::White).len() + layout.position.places_of(Color::Black).len(),
        plan_moves: layout.plan_moves,
        run_moves: layout.run_moves(),
        slack_plies: layout.slack_plies(),
    }
}

/// Upper bounds on the size of a formula's position. `docs/complexity.md` derives them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SizeBound {
    /// Gates of the circuit, including the gates of crossovers.
    pub gates: u128,
    /// Gadgets on the board, including protectors.
    pub gadgets: u128,
    /// Width times height.
    pub squares: u128,
    /// Pieces of both sides.
    pub pieces: u128,
}

/// The bound for all formulas with this many variables and literals, and protectors with `channels` channels on each
/// side.
#[must_use]
pub fn bound(variables: usize, literals: usize, channels: usize) -> SizeBound {
    let [variables, literals, channels] = [variables, literals, channels].map(|n| n as u128);
    // 22 gates for each pair of crossing wires, and at most 2 more for each literal.
    let gates = 11 * literals * literals;
    let wires = 8 * literals;
    let protected = variables + 2 * gates;
    let protector_ranks = 50 * channels + 10;
    let width = 8 * wires.max(variables) + 1;
    let height = 12 + protector_ranks + gates * (4 * wires + 11 + protector_ranks);
    SizeBound {
        gates,
        gadgets: variables + gates + (10 * channels + 1) * protected + 1,
        squares: 5 * width * height + 3 * height + 4 * variables + 132,
        pieces: 2 * variables + 4 * gates + (10 * channels + 4) * protected + 2,
    }
}

/// Sizes for random formulas of n variables and n clauses of three, for each n, with the paper's protectors.
///
/// # Errors
/// If a board would be too large.
pub fn sizes(up_to: usize, channels: usize, seed: u64) -> Result<Vec<Size>, LayoutError> {
    let one = |n: usize| {
        let formula = random_formula(n, n, 3, seed + n as u64);
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, n, channels)?;
        Ok(size(&formula, &circuit, &layout))
    };
    (2..=up_to).map(one).collect()
}

/// The exponent k of y = c x^k, by least squares of the logarithms.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let xy: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let xx: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    xy / xx
}

/// Games of the formula's winner against an opponent.
#[derive(Clone, Debug, serde::Serialize)]
pub struct GameSeries {
    /// The formula, in the syntax of `dsq-lab reduce`.
    pub formula: String,
    /// The winner of the formula game, who must win on the board.
    pub winner: &'static str,
    /// The opponent of the winner's strategy.
    pub opponent: &'static str,
    /// Games played.
    pub games: u64,
    /// Games that the winner of the formula won.
    pub won: u64,
    /// Plies of the longest game.
    pub most_plies: u64,
    /// The fewest plies by which White was first; `None` if Black wins.
    pub slack_plies: Option<u64>,
    /// Moves of the winner without a proved strategy.
    pub improvised: u64,
}

/// Plays `games` games of a formula's winner against one kind of opponent, with the seeds `seed`, `seed + 1` and so on.
///
/// # Errors
/// If the formula has too many variables to be solved.
pub fn games(
    reduction: &Reduction,
    style: Style,
    games: u64,
    seed: u64,
) -> Result<GameSeries, super::formula::TooManyVariables> {
    let winner = reduction.formula.game()?.winner();
    let layout = reduction.layout;
    let mut result = GameSeries {
        formula: reduction.formula.to_string(),
        winner: winner.name(),
        opponent: style.name(),
        games,
        won: 0,
        most_plies: 0,
        slack_plies: None,
        improvised: 0,
    };
    for game in 0..games {
        let mut opponent = Opponent::new(style, seed + game, &layout.run);
        let most = 8 * layout.run_moves() + 1000;
        let played = if winner == Color::White {
            let mut white = WhiteWins::new(reduction);
            let played = play(&layout.position, &layout.run, &mut white, &mut opponent, most);
            result.improvised += white.improvised;
            let slack = played.runner_left.map_or(u64::MAX, |left| 2 * left as u64);
            result.slack_plies = Some(result.slack_plies.map_or(slack, |least| least.min(slack)));
            played
        } else {
            let mut black = BlackWins::new(reduction);
            let played = play(&layout.position, &layout.run, &mut opponent, &mut black, most);
            result.improvised += black.unanswered;
            played
        };
        result.won += u64::from(played.winner == Some(winner));
        result.most_plies = result.most_plies.max(played.plies);
    }
    Ok(result)
}

/// Plays `each` games of every formula of the suite against every kind of opponent.
///
/// # Errors
/// A message with the formula that could not be played.
pub fn suite(channels: usize, each: u64, seed: u64, report: &mut dyn FnMut(&GameSeries)) -> Result<(), String> {
    let tables = SolvedClaims::new().map_err(|e| e.to_string())?;
    for text in SUITE {
        let formula: Formula = text.parse().map_err(|e| format!("{text}: {e}"))?;
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, formula.variables(), channels).map_err(|e| format!("{text}: {e}"))?;
        let reduction = Reduction::new(&formula, &circuit, &layout, &tables);
        for style in Style::ALL {
            report(&games(&reduction, style, each, seed).map_err(|e| format!("{text}: {e}"))?);
        }
    }
    Ok(())
}
