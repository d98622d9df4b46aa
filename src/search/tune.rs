//! Tuning the evaluation: games of the engine against itself, and weights fitted to how they went.
//!
//! Texel's method (Österlund 2014): the evaluation, squashed by a logistic function, is to say what a position will score.
//! What it is compared with is a mixture of the game's result and of the score that a search gave. Games are decided by
//! endgame tables as soon as four pieces are left, so that the results there are exact. All of it follows from a seed.

use super::eval::{Evaluator, FEATURES, Weights};
use super::state::State;
use super::{Engine, EngineOptions, Evaluation, Limits, Tables};
use crate::board::geometry::TRAPS;
use crate::board::{Animal, Color, Piece, Position, Rules, Setup, Square};
use crate::game::Game;
use crate::tablebase::Wdl;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// A position of a game, what a search thought of it and how the game ended, both from White's view.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub position: Position,
    /// Hundredths of a cat.
    pub score: i32,
    /// 1 if White won, 0 if Black did, 1/2 for a draw.
    pub result: f32,
}

/// A FEN, the score and the result, with semicolons between.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{};{}", self.position.to_fen(), self.score, self.result)
    }
}

/// Text that is no sample.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no sample: a FEN, a score and a result (0, 0.5 or 1), with semicolons between")]
pub struct ParseSampleError(String);

impl FromStr for Sample {
    type Err = ParseSampleError;

    fn from_str(text: &str) -> Result<Sample, ParseSampleError> {
        let error = || ParseSampleError(text.to_owned());
        let mut fields = text.split(';');
        let (Some(fen), Some(score), Some(result), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(error());
        };
        let position = Position::from_fen(fen).map_err(|_| error())?;
        let result: f32 = result.parse().map_err(|_| error())?;
        if position.winner().is_some() || !(0.0..=1.0).contains(&result) {
            return Err(error());
        }
        Ok(Sample { position, score: score.parse().map_err(|_| error())?, result })
    }
}

/// Games to learn from.
#[derive(Clone, Debug)]
pub struct SelfPlay {
    pub rules: Rules,
    /// Nodes of each search.
    pub nodes: u64,
    pub seed: u64,
    /// They end games of few pieces.
    pub tables: Arc<Tables>,
    /// Who plays; hash size and tables are not taken from here.
    pub engine: EngineOptions,
}

impl SelfPlay {
    /// The samples of one game, the same for every run.
    ///
    /// Every other game begins at the start, the rest with pieces put on the board at random; some random moves follow.
    /// In half of the games another random move is made later, and what came before it is no sample, since the result says
    /// little of it. Samples are positions from which the search neither takes nor saw an end.
    #[must_use]
    pub fn game(&self, number: u64) -> Vec<Sample> {
        let mut random = Pcg64::seed_from_u64(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut below = move |n: usize| (random.next_u64() >> 33) as usize % n;
        let start = if number % 2 == 1 { random_position(&mut below) } else { Position::start() };
        let mut game = Game::new(start, self.rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        for _ in 0..4 + below(8) {
            let moves = game.legal_moves();
            if moves.is_empty() || game.position().can_enter_den(&self.rules) {
                break;
            }
            if game.play(moves[below(moves.len())]).is_err() {
                break;
            }
        }
        let detour = if below(2) == 0 { Some(game.moves().len() + below(40)) } else { None };
        let options = EngineOptions { hash_mib: 4, tables: Some(self.tables.clone()), ..self.engine.clone() };
        // Deliberately not kept from game to game: a game depends on its number alone.
        let mut engine = Engine::new(options);
        let limits = Limits { nodes: Some(self.nodes), ..Limits::default() };
        let mut seen = Vec::new();
        let result = loop {
            if let Some(end) = game.end() {
                break end.winner().map_or(0.5, |winner| f32::from(u8::from(winner == Color::White)));
            }
            let position = game.position();
            let sign = if position.turn() == Color::White { 1 } else { -1 };
            if let Some(wdl) = self.tables.probe(position) {
                let value = match wdl {
                    Wdl::Win => sign,
                    Wdl::Draw => 0,
                    Wdl::Loss => -sign,
                };
                seen.push((position.clone(), value * 1000));
                break 0.5 + 0.5 * value as f32;
            }
            let found = engine.search(&game, &limits, &AtomicBool::new(false), &mut |_| ());
            let Some(line) = found.lines.first() else { break 0.5 };
            let (mv, value) = (line.pv[0], line.score.value());
            // A win of the search or of its tables.
            if value.abs() >= super::score::DECIDED {
                break if value * sign > 0 { 1.0 } else { 0.0 };
            }
            let threatened = !(position.side(!position.turn()) & TRAPS[position.turn()]).is_empty();
            if !mv.is_capture(position) && !threatened {
                seen.push((position.clone(), value * sign));
            }
            let mv = if detour == Some(game.moves().len()) {
                seen.clear();
                let moves = game.legal_moves();
                moves[below(moves.len())]
            } else {
                mv
            };
            if game.play(mv).is_err() {
                break 0.5;
            }
        };
        seen.into_iter().map(|(position, score)| Sample { position, score, result }).collect()
    }
}

/// Up to 16 pieces anywhere but in traps and dens.
fn random_position(below: &mut impl FnMut(usize) -> usize) -> Position {
    loop {
        let mut setup = Setup::empty(Color::ALL[below(2)]);
        let wanted = 4 + below(13);
        for _ in 0..wanted {
            let piece = Piece { color: Color::ALL[below(2)], animal: Animal::ALL[below(8)] };
            let there = |square: &Square| setup.squares[square.index()].is_none();
            if let Some(square) = Square::new(below(63)).filter(there)
                && !setup.squares.contains(&Some(piece))
            {
                setup.squares[square.index()] = Some(piece);
            }
        }
        if let Ok(position) = Position::from_setup(&setup)
            && position.winner().is_none()
            && position.occupied().len() > 2
        {
            return position;
        }
    }
}

/// How weights are fitted.
#[derive(Copy, Clone, Debug)]
pub struct Fit {
    pub epochs: usize,
    /// Share of the result in what is aimed at; the rest is the search's score.
    pub result: f32,
    /// Step of the optimiser (Adam), in hundredths of a cat.
    pub rate: f32,
}

/// What a fit came to.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub weights: Weights,
    /// The evaluation that stands for a score of 73 %.
    pub scale: f32,
    /// Mean squared errors before and after, on samples that were not learned from.
    pub before: f32,
    pub after: f32,
}

struct Row {
    features: Vec<(u16, i16)>,
    phase: f32,
    score: f32,
    result: f32,
}

fn squash(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The largest evaluation that learning may be led to by a score.
const MOST: f32 = 3000.0;

/// Whether a sample is kept to measure the error: a tenth are, in blocks, since samples of one game are much alike.
fn held_back(index: usize) -> bool {
    index / 1000 % 10 == 9
}

impl Fit {
    /// Fits weights, beginning with `weights`. A tenth of the samples are held back to measure the error.
    #[must_use]
    pub fn run(
        &self,
        samples: &[Sample],
        rules: &Rules,
        weights: &Weights,
        report: &mut dyn FnMut(usize, f32),
    ) -> Fitted {
        let evaluator = Evaluator::new(Evaluation::Default, rules, weights);
        let rows: Vec<Row> = samples
            .par_iter()
            .map(|sample| {
                let state = State::new(&sample.position, &evaluator);
                let (features, phase) = evaluator.trace(rules, &state);
                Row { features, phase, score: (sample.score as f32).clamp(-MOST, MOST), result: sample.result }
            })
            .collect();
        let mut values: Vec<[f32; 2]> = weights.0.iter().map(|w| w.map(f32::from)).collect();
        let (held, learned): (Vec<(usize, &Row)>, Vec<_>) = rows.iter().enumerate().partition(|(i, _)| held_back(*i));
        let (held, learned): (Vec<&Row>, Vec<&Row>) =
            (held.into_iter().map(|(_, r)| r).collect(), learned.into_iter().map(|(_, r)| r).collect());

        // The scale that fits the results best with the scores as they are: Burnett's idea of a cat stays what it is.
        let error_at = |scale: f32| -> f32 {
            learned.par_iter().map(|r| (squash(r.score / scale) - r.result).powi(2)).sum::<f32>()
        };
        let scale =
            (4..200).map(|i| i as f32 * 5.0).min_by(|a, b| error_at(*a).total_cmp(&error_at(*b))).unwrap_or(150.0);
        let aim = |row: &Row| self.result * row.result + (1.0 - self.result) * squash(row.score / scale);
        let mean_error = |values: &[[f32; 2]]| -> f32 {
            let sum: f32 = held.par_iter().map(|r| (squash(evaluation(values, r) / scale) - aim(r)).powi(2)).sum();
            sum / held.len().max(1) as f32
        };
        let before = mean_error(&values);

        let mut first = vec![[0.0f32; 2]; FEATURES];
        let mut second = vec![[0.0f32; 2]; FEATURES];
        let mut order: Vec<usize> = (0..learned.len()).collect();
        let mut random = Pcg64::seed_from_u64(1);
        let (b1, b2) = (0.9f32, 0.999f32);
        let mut step = 0;
        for epoch in 0..self.epochs {
            for i in (1..order.len()).rev() {
                order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
            }
            let rate = self.rate * (1.0 - epoch as f32 / self.epochs as f32).max(0.05);
            for batch in order.chunks(4096) {
                step += 1;
                // Summed in a fixed order, so that the weights come out the same whatever the number of threads.
                let parts: Vec<Vec<[f32; 2]>> = batch
                    .par_chunks(1024)
                    .map(|chunk| {
                        let mut gradient = vec![[0.0f32; 2]; FEATURES];
                        for &i in chunk {
                            let row = learned[i];
                            let p = squash(evaluation(&values, row) / scale);
                            let slope = (p - aim(row)) * p * (1.0 - p);
                            for &(feature, count) in &row.features {
                                let g = slope * f32::from(count);
                                let slot = &mut gradient[usize::from(feature)];
                                slot[0] += g * row.phase;
                                slot[1] += g * (1.0 - row.phase);
                            }
                        }
                        gradient
                    })
                    .collect();
                for feature in 0..FEATURES {
                    for side in 0..2 {
                        let sum: f32 = parts.iter().map(|part| part[feature][side]).sum();
                        let g = sum / batch.len() as f32;
                        if g == 0.0 && first[feature][side] == 0.0 {
                            continue;
                        }
                        let m = &mut first[feature][side];
                        *m = b1 * *m + (1.0 - b1) * g;
                        let v = &mut second[feature][side];
                        *v = b2 * *v + (1.0 - b2) * g * g;
                        let m = first[feature][side] / (1.0 - b1.powi(step));
                        let v = second[feature][side] / (1.0 - b2.powi(step));
                        values[feature][side] -= rate * m / (v.sqrt() + 1e-8);
                    }
                }
            }
            report(epoch + 1, mean_error(&values));
        }
        let after = mean_error(&values);
        let mut fitted = weights.clone();
        for (weight, value) in fitted.0.iter_mut().zip(&values) {
            *weight = value.map(|v| v.round().clamp(-4000.0, 4000.0) as i16);
        }
        Fitted { weights: fitted, scale, before, after }
    }
}

fn evaluation(values: &[[f32; 2]], row: &Row) -> f32 {
    let (mut middle, mut end) = (0.0, 0.0);
    for &(feature, count) in &row.features {
        let [m, e] = values[usize::from(feature)];
        middle += m * f32::from(count);
        end += e * f32::from(count);
    }
    middle * row.phase + end * (1.0 - row.phase)
}
