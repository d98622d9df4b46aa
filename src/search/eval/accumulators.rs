//! The accumulators of the neural network in a search.

use super::super::score::MAX_PLY;
use super::inputs;
use super::network::{NarrowVector, Network, NetworkParameters, QA, Vector, to_cp};
use super::state::State;
use crate::board::Lanes;
use std::sync::Arc;

/// The network evaluation of a search thread: a network, and accumulators by ply.
///
/// An accumulator is updated when its ply is evaluated, from the accumulator of the same ply or of the ply before,
/// whichever differs in fewer pieces. Unmaking a move therefore needs no update, and no sequence of calls can make an
/// accumulator wrong.
pub(in crate::search) struct NetworkEvaluator {
    network: Arc<Network>,
    /// The pieces that the accumulators of each ply contain.
    pieces: Vec<[Lanes; 2]>,
    /// Both perspectives of each ply.
    accumulators: Vec<Vector>,
}

/// The inputs of a piece on its square, from both perspectives.
struct Inputs {
    /// Its own input, unless it is not on the board.
    piece: Option<[usize; 2]>,
    /// The inputs of its pairs.
    pairs: [[u16; 8]; 2],
    /// The number of its pairs.
    len: usize,
}

impl Inputs {
    /// The inputs of a piece among others. `bit` is its square, or 0 if it is not on the board.
    #[inline(always)]
    fn new(network: &Network, piece: usize, bit: u64, pieces: &[Lanes; 2]) -> Inputs {
        let mut inputs = Inputs { piece: None, pairs: [[0; 8]; 2], len: 0 };
        if bit == 0 {
            return inputs;
        }
        let (color, animal, square) = (piece / 8, piece % 8, bit.trailing_zeros() as usize);
        inputs.piece = Some([inputs::piece(0, color, animal, square), inputs::piece(1, color, animal, square)]);
        if network.has_pairs() {
            let enemies = &pieces[1 - color];
            let mut near = inputs::near(square, enemies);
            while near != 0 {
                let enemy = near.trailing_zeros() as usize & 7;
                near &= near - 1;
                let enemy_square = enemies[enemy].trailing_zeros() as usize;
                let pair = match color {
                    0 => inputs::pair(animal, enemy, square, enemy_square),
                    _ => inputs::pair(enemy, animal, enemy_square, square),
                };
                inputs.pairs[0][inputs.len & 7] = pair[0] as u16;
                inputs.pairs[1][inputs.len & 7] = pair[1] as u16;
                inputs.len += 1;
            }
        }
        inputs
    }

    /// The inputs of its pairs from a perspective.
    #[inline(always)]
    fn pairs(&self, perspective: usize) -> &[u16] {
        &self.pairs[perspective][..self.len]
    }
}

impl NetworkEvaluator {
    pub(super) fn new(network: Arc<Network>) -> NetworkEvaluator {
        // The accumulators of an empty board are the biases.
        let accumulators = network.biases.repeat(2 * (MAX_PLY + 1));
        NetworkEvaluator { network, pieces: vec![[[0; 8]; 2]; MAX_PLY + 1], accumulators }
    }

    /// The evaluation in cp of a position, `ply` plies from the root.
    #[inline(always)]
    pub(in crate::search) fn evaluate(&mut self, state: &State, ply: usize) -> i32 {
        let ply = ply.min(MAX_PLY);
        self.update(&state.lanes, ply);
        self.output(state, ply)
    }

    /// Updates the accumulators of a ply.
    #[inline(always)]
    fn update(&mut self, lanes: &[Lanes; 2], ply: usize) {
        let (mut source, mut changed) = (ply, differing(&self.pieces[ply], lanes));
        if ply > 0 {
            let changed_since = differing(&self.pieces[ply - 1], lanes);
            if changed_since.count_ones() < changed.count_ones() {
                (source, changed) = (ply - 1, changed_since);
            }
        }
        let mut pieces = self.pieces[source];
        if changed == 0 && source != ply {
            let width = 2 * self.network.width;
            self.accumulators.copy_within(source * width..(source + 1) * width, ply * width);
        }
        while changed != 0 {
            let piece = changed.trailing_zeros() as usize & 15;
            changed &= changed - 1;
            let (old, new) = (pieces.as_flattened()[piece], lanes.as_flattened()[piece]);
            let removed = Inputs::new(&self.network, piece, old, &pieces);
            let added = Inputs::new(&self.network, piece, new, &pieces);
            // As many vectors as possible stay in registers while all weights are added.
            match self.network.width {
                4 | 8 => self.change::<4>(source, ply, &added, &removed),
                2 | 6 => self.change::<2>(source, ply, &added, &removed),
                _ => self.change::<1>(source, ply, &added, &removed),
            }
            source = ply;
            pieces.as_flattened_mut()[piece] = new;
        }
        self.pieces[ply] = pieces;
    }

    /// Sets the accumulators of a ply to those of `source` (the same ply or the ply before) with some inputs added and
    /// others removed, `W` vectors at a time.
    #[inline(always)]
    fn change<const W: usize>(&mut self, source: usize, ply: usize, added: &Inputs, removed: &Inputs) {
        let Network { pieces, pairs, width, .. } = &*self.network;
        let (pieces, pairs, parts) = (pieces.as_chunks::<W>().0, pairs.as_chunks::<W>().0, width / W);
        let accumulators = self.accumulators.as_chunks_mut::<W>().0;
        for perspective in 0..2 {
            for part in 0..parts {
                let mut sums = accumulators[(2 * source + perspective) * parts + part];
                if let Some(inputs) = added.piece {
                    add::<W, 1>(&mut sums, &pieces[inputs[perspective] * parts + part]);
                }
                if let Some(inputs) = removed.piece {
                    add::<W, -1>(&mut sums, &pieces[inputs[perspective] * parts + part]);
                }
                for &pair in added.pairs(perspective) {
                    add_narrow::<W, 1>(&mut sums, &pairs[usize::from(pair) * parts + part]);
                }
                for &pair in removed.pairs(perspective) {
                    add_narrow::<W, -1>(&mut sums, &pairs[usize::from(pair) * parts + part]);
                }
                accumulators[(2 * ply + perspective) * parts + part] = sums;
            }
        }
    }

    /// The evaluation in cp from the accumulators of a ply.
    #[inline(always)]
    fn output(&self, state: &State, ply: usize) -> i32 {
        let width = self.network.width;
        let bucket = Network::bucket((state.count(0) + state.count(1)) as usize);
        let (us, them) = state.sides_to_move();
        let mut total = 0;
        for (half, perspective) in [us, them].into_iter().enumerate() {
            let accumulator = units(&self.accumulators[(2 * ply + perspective) * width..][..width]);
            let weights = units(&self.network.outputs[(2 * bucket + half) * width..][..width]);
            // The compiler turns one loop over all units with one sum into multiplications of pairs (PMADDWD).
            let mut sum = 0;
            for (&value, &weight) in accumulator.iter().zip(weights) {
                let clipped = value.clamp(0, QA as i16);
                sum += i32::from(clipped) * i32::from(clipped.wrapping_mul(weight));
            }
            // 256 units of 255 * 255 * 127 each fit into 32 bits.
            total += i64::from(sum);
        }
        let NetworkParameters { output_biases, scale, .. } = self.network.parameters();
        to_cp(total, output_biases[bucket], *scale)
    }
}

/// Adds weights times `SIGN` to sums.
#[inline(always)]
fn add<const W: usize, const SIGN: i16>(sums: &mut [Vector; W], weights: &[Vector; W]) {
    for w in 0..W {
        for i in 0..32 {
            sums[w].0[i] = sums[w].0[i].wrapping_add(SIGN.wrapping_mul(weights[w].0[i]));
        }
    }
}

/// As [`add`], for narrow weights.
#[inline(always)]
fn add_narrow<const W: usize, const SIGN: i16>(sums: &mut [Vector; W], weights: &[NarrowVector; W]) {
    for w in 0..W {
        for i in 0..32 {
            sums[w].0[i] = sums[w].0[i].wrapping_add(SIGN.wrapping_mul(i16::from(weights[w].0[i])));
        }
    }
}

/// The units of vectors.
#[inline(always)]
fn units(vectors: &[Vector]) -> &[i16] {
    // SAFETY: a vector consists of 32 units of 16 bits and nothing else, as its size shows.
    const { assert!(size_of::<Vector>() == 64) };
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 32 * vectors.len()) }
}

/// The pieces whose squares differ, as 16 bits, White's first.
#[inline(always)]
fn differing(old: &[Lanes; 2], new: &[Lanes; 2]) -> u32 {
    let mut differing = 0;
    for i in 0..16 {
        differing |= u32::from(old.as_flattened()[i] != new.as_flattened()[i]) << i;
    }
    differing
}

#[cfg(test)]
mod tests {
    use super::super::network::tests::random_network;
    use super::*;
    use crate::board::{Position, Rules};
    use crate::cpu::{CpuLevel, compiled};
    use crate::game::random::Random;

    /// Evaluating positions in any order leaves the accumulators of the last position, at every CPU level.
    #[test]
    fn accumulators_are_those_of_the_position() {
        let mut random = Random::new(21);
        let rules = &Rules::default();
        for (hidden, pairs) in [(32, true), (64, false), (64, true), (128, true), (192, true), (256, true)] {
            let network = Arc::new(random_network(&mut random, hidden, pairs));
            let mut levels: Vec<_> = CpuLevel::available()
                .map(|level| {
                    let evaluate = compiled!(
                        level,
                        fn(network: &mut NetworkEvaluator, state: &State, ply: usize) -> i32 = NetworkEvaluator::evaluate
                    );
                    (level, evaluate, NetworkEvaluator::new(Arc::clone(&network)))
                })
                .collect();
            for _ in 0..4 {
                for (i, position) in random.walk(&Position::start(), rules, 80).iter().enumerate() {
                    let state = &State::new(position);
                    // First along the line, then at random plies.
                    let ply = if i < 40 { i } else { random.below(MAX_PLY + 1) };
                    let expected = network.evaluate(position);
                    for (level, evaluate, evaluator) in &mut levels {
                        let found = evaluate(evaluator, state, ply);
                        assert_eq!(found, expected, "{position:?} {}", level.name());
                    }
                }
            }
        }
    }
}
