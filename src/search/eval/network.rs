//! An efficiently updatable neural network (NNUE): (1008 → H) × 2 → 1, quantised.
//!
//! The inputs are the pieces on their squares from each side's perspective: own or enemy, eight animals, 63 squares,
//! the board rotated for Black. Each perspective has an accumulator of H units: the bias and the sum of the weights of
//! its 2 to 16 inputs. The output is a bias and the sum over both accumulators, the side to move first, of a weight
//! times the squared clipped value (SCReLU). Biases and weights of the output depend on the number of pieces (eight
//! buckets).
//!
//! All arithmetic is on integers, so every CPU level returns the same value.
//!
//! ## File
//!
//! Little-endian, without gaps:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `DSQNNUE` and the version, 1 |
//! | 8 | [`RuleOptions::table_hash`] of the rules of the games that it learned from |
//! | 4 | H, a multiple of 32 from 32 to 256 |
//! | 4 | the evaluation in cp of an output of 1.0 |
//! | 2 × H | biases of the accumulators, in 1/255 |
//! | 2 × 1008 × H | weights of the inputs, in 1/255, by input; each within ±505 |
//! | 2 × 8 × 2 × H | weights of the output, in 1/64, by bucket; each within ±127 |
//! | 4 × 8 | biases of the output, in 1/(255 × 64), by bucket |
//! | 8 | XXH3 (64 bits) of all bytes before |

use super::super::score::MAX_PLY;
use super::state::State;
use crate::board::{Color, Lanes, Piece, Position, RuleOptions, Square};
use crate::cpu::{CpuLevel, dispatch};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The inputs of one perspective: own and enemy, eight animals, 63 squares.
const INPUTS: usize = 2 * 8 * 63;
/// The sets of output weights, by number of pieces.
const BUCKETS: usize = 8;
/// The quantised value of an activation of 1.0.
const QA: i32 = 255;
/// The quantised value of an output weight of 1.0.
const QB: i32 = 64;
/// The largest input weight: the sum of sixteen of them and a bias fits into 16 bits.
const MAX_INPUT: i16 = 505;
/// The largest output weight: its product with an activation fits into 16 bits.
const MAX_OUTPUT: i16 = 127;
const MAX_BIAS: i16 = i16::MAX - 16 * MAX_INPUT;
/// The smallest and the largest number of units. Every number is a multiple of the smallest.
const HIDDEN: [usize; 2] = [32, 256];
const MAGIC: &[u8; 7] = b"DSQNNUE";
const VERSION: u8 = 1;
const HEADER: usize = 24;

/// Why the bytes of a file are not a network that this program can use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The bytes do not begin with the marker of a network.
    #[error("it is not a network: it does not begin with DSQNNUE")]
    NotANetwork,
    /// The network has another format.
    #[error("it is a network of format {found}; this program reads format {VERSION}")]
    Version {
        /// The version of the format.
        found: u8,
    },
    /// The network has an architecture that this program does not evaluate.
    #[error("it has {hidden} units; supported are multiples of {} up to {}", HIDDEN[0], HIDDEN[1])]
    Architecture {
        /// The units of an accumulator.
        hidden: u32,
    },
    /// The file was cut off, or other data follows the network.
    #[error("it has {found} bytes; a network of its size has {expected}")]
    Size {
        /// The bytes of the file.
        found: usize,
        /// The bytes of a network with this number of units.
        expected: usize,
    },
    /// The checksum at the end does not match the bytes.
    #[error("it is damaged: the checksum at its end does not match")]
    Checksum,
    /// A parameter is so large that sums could overflow the integers of the evaluation.
    #[error("the parameter {name} is out of range")]
    OutOfRange {
        /// The kind of parameter.
        name: &'static str,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Read(String),
}

/// The parameters of a network, quantised: see the table of the file format for their units and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkParameters {
    /// [`RuleOptions::table_hash`] of the rules.
    pub rules: u64,
    /// The evaluation in cp of an output of 1.0.
    pub scale: i32,
    /// The bias of each unit.
    pub biases: Vec<i16>,
    /// The weights of each input, by [`Network::input`] and unit.
    pub inputs: Vec<i16>,
    /// The weights of the output, by bucket, perspective (the side to move first) and unit.
    pub outputs: Vec<i16>,
    /// The bias of the output of each bucket.
    pub output_biases: [i32; Network::BUCKETS],
}

/// A network that evaluates positions.
pub struct Network {
    parameters: NetworkParameters,
    hash: u64,
    /// The vectors of an accumulator.
    width: usize,
    biases: Vec<Vector>,
    /// The weights by input, followed by a row of zeros.
    inputs: Vec<Vector>,
    outputs: Vec<Vector>,
}

/// The units that fit into one of the widest registers.
#[derive(Copy, Clone)]
#[repr(align(64))]
struct Vector([i16; 32]);

impl Vector {
    #[inline(always)]
    fn plus(&self, added: &Vector, removed: &Vector) -> Vector {
        let mut sum = Vector([0; 32]);
        for i in 0..32 {
            sum.0[i] = self.0[i].wrapping_add(added.0[i]).wrapping_sub(removed.0[i]);
        }
        sum
    }
}

/// The units of vectors.
#[inline(always)]
fn units(vectors: &[Vector]) -> &[i16] {
    // SAFETY: a vector consists of 32 units of 16 bits and nothing else, as its size shows.
    const { assert!(size_of::<Vector>() == 64) };
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 32 * vectors.len()) }
}

fn vectors(values: &[i16]) -> Vec<Vector> {
    values.as_chunks().0.iter().map(|&chunk| Vector(chunk)).collect()
}

impl Network {
    /// The inputs of one perspective.
    pub const INPUTS: usize = INPUTS;
    /// The sets of output weights.
    pub const BUCKETS: usize = BUCKETS;
    /// The quantised value of an activation, an input weight or a bias of 1.0.
    pub const QA: i32 = QA;
    /// The quantised value of an output weight of 1.0.
    pub const QB: i32 = QB;

    /// A network with these parameters.
    ///
    /// # Errors
    /// If the lengths do not match or a parameter is out of range.
    pub fn new(parameters: NetworkParameters) -> Result<Network, NetworkError> {
        let NetworkParameters { biases, inputs, outputs, .. } = &parameters;
        let hidden = biases.len();
        if !is_supported(hidden) || inputs.len() != INPUTS * hidden || outputs.len() != BUCKETS * 2 * hidden {
            return Err(NetworkError::Architecture { hidden: hidden as u32 });
        }
        let limits =
            [("bias", biases, MAX_BIAS), ("input weight", inputs, MAX_INPUT), ("output weight", outputs, MAX_OUTPUT)];
        for (name, values, limit) in limits {
            if values.iter().any(|value| value.unsigned_abs() > limit.unsigned_abs()) {
                return Err(NetworkError::OutOfRange { name });
            }
        }
        if !(1..=10_000).contains(&parameters.scale) {
            return Err(NetworkError::OutOfRange { name: "scale" });
        }
        let mut rows = vectors(inputs);
        rows.extend(std::iter::repeat_n(Vector([0; 32]), hidden / 32));
        let (biases, outputs) = (vectors(biases), vectors(outputs));
        let hash = xxh3_64(&body(&parameters));
        Ok(Network { hash, width: hidden / 32, biases, inputs: rows, outputs, parameters })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If the bytes are not a complete network of this format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        let (Some(magic), true) = (bytes.get(..8), bytes.starts_with(MAGIC)) else {
            return Err(NetworkError::NotANetwork);
        };
        if magic[7] != VERSION {
            return Err(NetworkError::Version { found: magic[7] });
        }
        let size = |expected| NetworkError::Size { found: bytes.len(), expected };
        let header = bytes.get(..HEADER).ok_or_else(|| size(file_size(HIDDEN[0])))?;
        let hidden = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
        if !is_supported(hidden as usize) {
            return Err(NetworkError::Architecture { hidden });
        }
        let hidden = hidden as usize;
        if bytes.len() != file_size(hidden) {
            return Err(size(file_size(hidden)));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(content).to_le_bytes() != *checksum {
            return Err(NetworkError::Checksum);
        }
        let mut rest = &content[HEADER..];
        let mut take = |count: usize| -> Vec<i16> {
            let (values, behind) = rest.split_at(2 * count);
            rest = behind;
            values.as_chunks().0.iter().map(|&pair| i16::from_le_bytes(pair)).collect()
        };
        let (biases, inputs, outputs) = (take(hidden), take(INPUTS * hidden), take(BUCKETS * 2 * hidden));
        let mut output_biases = [0; BUCKETS];
        for (value, bytes) in output_biases.iter_mut().zip(rest.as_chunks().0) {
            *value = i32::from_le_bytes(*bytes);
        }
        Network::new(NetworkParameters {
            rules: u64::from_le_bytes(header[8..16].try_into().expect("eight bytes")),
            scale: i32::from_le_bytes(header[20..24].try_into().expect("four bytes")),
            biases,
            inputs,
            outputs,
            output_biases,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is not a network of this format.
    pub fn open(path: &Path) -> Result<Network, NetworkError> {
        Network::from_bytes(&std::fs::read(path).map_err(|error| NetworkError::Read(error.to_string()))?)
    }

    /// Whether bytes begin with the marker of a network, of any version.
    #[must_use]
    pub fn is_network(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = body(&self.parameters);
        bytes.extend(self.hash.to_le_bytes());
        bytes
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &NetworkParameters {
        &self.parameters
    }

    /// The hash of the content: the name of the network.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether the network learned from games under these rules. It evaluates positions under other rules too. The rule
    /// on repetition does not matter: the network does not see the history.
    #[must_use]
    pub fn trained_under(&self, rules: &RuleOptions) -> bool {
        self.parameters.rules == rules.table_hash()
    }

    /// The number of the input of a piece on a square, from the perspective of a side.
    #[inline(always)]
    #[must_use]
    pub fn input(perspective: Color, piece: Piece, square: Square) -> usize {
        input(perspective as usize, piece.color as usize, piece.animal.index(), square.index())
    }

    /// The bucket of output weights for a number of pieces, from 2 to 16.
    #[inline(always)]
    #[must_use]
    pub fn bucket(pieces: usize) -> usize {
        (pieces.clamp(2, 16) - 2) / 2
    }

    /// The evaluation of a position in cp for the side to move, computed from scratch: the slow twin of the evaluation
    /// in a search.
    #[must_use]
    pub fn evaluate(&self, position: &Position) -> i32 {
        let NetworkParameters { biases, inputs, outputs, output_biases, scale, .. } = &self.parameters;
        let (hidden, bucket) = (biases.len(), Network::bucket(position.occupied().len()));
        let mut sum = 0;
        for (half, perspective) in [position.turn(), !position.turn()].into_iter().enumerate() {
            for unit in 0..hidden {
                let weight = |(piece, square)| inputs[Network::input(perspective, piece, square) * hidden + unit];
                let value =
                    i64::from(biases[unit]) + position.pieces().map(|piece| i64::from(weight(piece))).sum::<i64>();
                let activation = value.clamp(0, i64::from(QA)).pow(2);
                sum += activation * i64::from(outputs[(bucket * 2 + half) * hidden + unit]);
            }
        }
        to_cp(sum, output_biases[bucket], *scale)
    }
}

/// The output in cp: the sum is in units of 1/(QA² QB).
#[inline(always)]
fn to_cp(sum: i64, bias: i32, scale: i32) -> i32 {
    let output = sum / i64::from(QA) + i64::from(bias);
    let cp = output * i64::from(scale) / i64::from(QA * QB);
    cp.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// The number of an input: see [`Network::input`].
#[inline(always)]
fn input(perspective: usize, color: usize, animal: usize, square: usize) -> usize {
    let square = if perspective == 0 { square } else { 62 - square };
    ((color ^ perspective) * 8 + animal) * 63 + square
}

fn is_supported(hidden: usize) -> bool {
    (HIDDEN[0]..=HIDDEN[1]).contains(&hidden) && hidden.is_multiple_of(HIDDEN[0])
}

fn file_size(hidden: usize) -> usize {
    HEADER + 2 * (hidden + INPUTS * hidden + BUCKETS * 2 * hidden) + 4 * BUCKETS + 8
}

/// The bytes of a file without the checksum.
fn body(parameters: &NetworkParameters) -> Vec<u8> {
    let NetworkParameters { rules, scale, biases, inputs, outputs, output_biases } = parameters;
    let mut bytes = Vec::with_capacity(file_size(biases.len()));
    bytes.extend(MAGIC);
    bytes.push(VERSION);
    bytes.extend(rules.to_le_bytes());
    bytes.extend((biases.len() as u32).to_le_bytes());
    bytes.extend(scale.to_le_bytes());
    for values in [biases, inputs, outputs] {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes.extend(output_biases.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The hash of the content.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.hash)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network {self}, {} units", self.biases.len() * 32)
    }
}

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

impl NetworkEvaluator {
    pub(super) fn new(network: Arc<Network>) -> NetworkEvaluator {
        // The accumulators of an empty board are the biases.
        let accumulators = network.biases.repeat(2 * (MAX_PLY + 1));
        NetworkEvaluator { network, pieces: vec![[[0; 8]; 2]; MAX_PLY + 1], accumulators }
    }

    /// The evaluation in cp of a position, `ply` plies from the root. All CPU levels return the same value.
    #[inline(always)]
    pub(in crate::search) fn evaluate(&mut self, level: CpuLevel, state: &State, ply: usize) -> i32 {
        let (evaluator, ply) = (self, ply.min(MAX_PLY));
        dispatch!(level, fn(evaluator: &mut NetworkEvaluator, state: &State, ply: usize) -> i32 = evaluate_body)
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
        let earlier = self.pieces[source];
        if changed == 0 && source != ply {
            let width = 2 * self.network.width;
            self.accumulators.copy_within(source * width..(source + 1) * width, ply * width);
        }
        while changed != 0 {
            let piece = changed.trailing_zeros() as usize & 15;
            changed &= changed - 1;
            self.change(source, ply, piece, earlier.as_flattened()[piece], lanes.as_flattened()[piece]);
            source = ply;
        }
        self.pieces[ply] = *lanes;
    }

    /// Sets the accumulators of a ply to those of `source` (the same ply or the ply before) after a piece has moved
    /// from `old` to `new`. Pieces are numbered from White's first. A square of 0 means that the piece is not on the
    /// board.
    #[inline(always)]
    fn change(&mut self, source: usize, ply: usize, piece: usize, old: u64, new: u64) {
        let width = self.network.width;
        let (before, accumulators) = self.accumulators.split_at_mut(2 * width * ply);
        for perspective in 0..2 {
            let row = |square: u64| {
                let index = match square {
                    0 => INPUTS,
                    _ => input(perspective, piece / 8, piece % 8, square.trailing_zeros() as usize),
                };
                &self.network.inputs[index * width..][..width]
            };
            let (added, removed) = (row(new), row(old));
            let accumulator = &mut accumulators[perspective * width..][..width];
            if source == ply {
                for (value, (added, removed)) in accumulator.iter_mut().zip(added.iter().zip(removed)) {
                    *value = value.plus(added, removed);
                }
            } else {
                let earlier = &before[(2 * source + perspective) * width..][..width];
                for ((value, earlier), (added, removed)) in
                    accumulator.iter_mut().zip(earlier).zip(added.iter().zip(removed))
                {
                    *value = earlier.plus(added, removed);
                }
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
        let NetworkParameters { output_biases, scale, .. } = &self.network.parameters;
        to_cp(total, output_biases[bucket], *scale)
    }
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

#[inline(always)]
fn evaluate_body(evaluator: &mut NetworkEvaluator, state: &State, ply: usize) -> i32 {
    evaluator.update(&state.lanes, ply);
    evaluator.output(state, ply)
}

#[cfg(test)]
mod tests {
    use super::super::tables::HandCrafted;
    use super::super::weights::WEIGHTS;
    use super::*;
    use crate::board::Rules;
    use crate::game::random::Random;

    /// A network of random parameters over their whole ranges.
    fn random_network(random: &mut Random, hidden: usize) -> Network {
        let mut values = |count: usize, limit: i16| -> Vec<i16> {
            let limit = i32::from(limit);
            (0..count).map(|_| (random.below(2 * limit as usize + 1) as i32 - limit) as i16).collect()
        };
        Network::new(NetworkParameters {
            rules: RuleOptions::default().table_hash(),
            scale: 150,
            biases: values(hidden, 300),
            inputs: values(INPUTS * hidden, MAX_INPUT),
            outputs: values(BUCKETS * 2 * hidden, MAX_OUTPUT),
            output_biases: [0, 1, -2, 300, -4000, 5, 60_000, -7],
        })
        .unwrap()
    }

    /// Evaluating positions in any order leaves the accumulators of the last position, at every CPU level.
    #[test]
    fn accumulators_are_those_of_the_position() {
        let mut random = Random::new(21);
        let rules = &Rules::default();
        let hand_crafted = HandCrafted::new(rules, &WEIGHTS);
        for hidden in [32, 64, 256] {
            let network = Arc::new(random_network(&mut random, hidden));
            let mut levels: Vec<_> =
                CpuLevel::available().map(|level| (level, NetworkEvaluator::new(Arc::clone(&network)))).collect();
            for _ in 0..4 {
                for (i, position) in random.walk(&Position::start(), rules, 80).iter().enumerate() {
                    let state = &State::new(position, &hand_crafted);
                    // First along the line, then at random plies.
                    let ply = if i < 40 { i } else { random.below(MAX_PLY + 1) };
                    let expected = network.evaluate(position);
                    for (level, evaluator) in &mut levels {
                        let found = evaluator.evaluate(*level, state, ply);
                        assert_eq!(found, expected, "{position:?} {}", level.name());
                    }
                }
            }
        }
    }

    /// Exchanging the colours does not change the value for the side to move.
    #[test]
    fn colors_are_alike() {
        let mut random = Random::new(22);
        let network = random_network(&mut random, 32);
        for position in random.walk(&Position::start(), &Rules::default(), 60) {
            assert_eq!(network.evaluate(&position), network.evaluate(&position.swap_colors()), "{position:?}");
        }
    }

    #[test]
    fn files_round_trip_and_damaged_ones_are_refused() {
        let network = random_network(&mut Random::new(23), 32);
        let bytes = network.to_bytes();
        let again = Network::from_bytes(&bytes).unwrap();
        assert_eq!((again.parameters(), again.hash()), (network.parameters(), network.hash()));
        assert!(again.trained_under(&RuleOptions::default()) && !again.trained_under(&"chinese".parse().unwrap()));
        let error = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            Network::from_bytes(&bytes).unwrap_err()
        };
        assert_eq!(error(&|bytes| bytes.clear()), NetworkError::NotANetwork);
        assert_eq!(error(&|bytes| bytes.truncate(7)), NetworkError::NotANetwork);
        assert_eq!(error(&|bytes| bytes[7] = 2), NetworkError::Version { found: 2 });
        assert_eq!(error(&|bytes| bytes[16] = 33), NetworkError::Architecture { hidden: 33 });
        for len in [8, 23, 24, 1000, bytes.len() - 1] {
            assert!(matches!(error(&|bytes| bytes.truncate(len)), NetworkError::Size { .. }), "{len}");
        }
        assert!(matches!(error(&|bytes| bytes.push(0)), NetworkError::Size { .. }));
        assert_eq!(error(&|bytes| bytes[5000] ^= 1), NetworkError::Checksum);
        let mut parameters = network.parameters().clone();
        parameters.inputs[77] = MAX_INPUT + 1;
        assert_eq!(Network::new(parameters).unwrap_err(), NetworkError::OutOfRange { name: "input weight" });
    }
}
