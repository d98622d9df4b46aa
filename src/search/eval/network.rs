//! An efficiently updatable neural network (NNUE): (1008 + 2304 → H) × 2 → 1, quantised.
//!
//! The inputs, from each side's perspective, with the board rotated for Black:
//!
//! - 1008 for the pieces on their squares: own or enemy, eight animals, 63 squares;
//! - in most networks 2304 for pairs: an own and an enemy animal, the step from one to the other, if it is one or two
//!   squares long (twelve steps), and whether the own animal stands on the three ranks before its own den, on the ranks
//!   of the rivers or before the enemy's den.
//!
//! Each perspective has an accumulator of H units: the bias and the sum of the weights of its inputs. The output is a
//! bias and the sum over both accumulators, the side to move first, of a weight times the squared clipped value (SCReLU).
//! Biases and weights of the output depend on the number of pieces (eight buckets).
//!
//! All arithmetic is on integers, so every CPU level returns the same value.
//!
//! ## File
//!
//! Little-endian, without gaps:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `DSQNNUE` and the version: 1 without pairs, 2 with pairs |
//! | 8 | [`RuleOptions::table_hash`] of the rules of the games that it learned from |
//! | 4 | H, a multiple of 32 from 32 to 256 |
//! | 4 | the evaluation in cp of an output of 1.0 |
//! | 2 × H | biases of the accumulators, in 1/255 |
//! | 2 × 1008 × H | weights of the pieces on their squares, in 1/255, by input; each within ±505 |
//! | 2304 × H | version 2: weights of the pairs, in 1/255, by input; each within ±127 |
//! | 2 × 8 × 2 × H | weights of the output, in 1/64, by bucket; each within ±127 |
//! | 4 × 8 | biases of the output, in 1/(255 × 64), by bucket |
//! | 8 | XXH3 (64 bits) of all bytes before |

use super::inputs::{self, PAIRS, PIECES};
use crate::board::{Animal, Color, Piece, Position, RuleOptions, Square};
use std::fmt;
use std::path::Path;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The sets of output weights, by number of pieces.
const BUCKETS: usize = 8;
/// The quantised value of an activation of 1.0.
pub(super) const QA: i32 = 255;
/// The quantised value of an output weight of 1.0.
const QB: i32 = 64;
/// The largest weights of a piece and of a pair: the sum of 16 pieces, 64 pairs and a bias fits into 16 bits.
const MAX_PIECE: i16 = 505;
const MAX_PAIR: i8 = 127;
/// The largest output weight: its product with an activation fits into 16 bits.
const MAX_OUTPUT: i16 = 127;
const MAX_BIAS: i16 = i16::MAX - 16 * MAX_PIECE - 64 * MAX_PAIR as i16;
/// The smallest and the largest number of units. Every number is a multiple of the smallest.
const HIDDEN: [usize; 2] = [32, 256];
const MAGIC: &[u8; 7] = b"DSQNNUE";
/// The versions, each with its number of inputs for pairs.
const VERSIONS: [(u8, usize); 2] = [(1, 0), (2, PAIRS)];
const HEADER: usize = 24;

/// Why the bytes of a file are not a network that this program can use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The bytes do not begin with the marker of a network.
    #[error("it is not a network: it does not begin with DSQNNUE")]
    NotANetwork,
    /// The network has another format.
    #[error("it is a network of format {found}; this program reads formats {}",
            VERSIONS.map(|(version, _)| version.to_string()).join(" and "))]
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
    /// The weights of the pieces on their squares, by [`Network::piece_input`] and unit.
    pub pieces: Vec<i16>,
    /// The weights of the pairs, by [`Network::pair_input`] and unit; none if the network does not see pairs.
    pub pairs: Vec<i8>,
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
    pub(super) width: usize,
    pub(super) biases: Vec<Vector>,
    pub(super) pieces: Vec<Vector>,
    pub(super) pairs: Vec<NarrowVector>,
    pub(super) outputs: Vec<Vector>,
}

/// The units that fit into one of the widest registers.
#[derive(Copy, Clone)]
#[repr(align(64))]
pub(super) struct Vector(pub [i16; 32]);

/// The weights of a [`Vector`] in 8 bits each.
#[derive(Copy, Clone)]
#[repr(align(32))]
pub(super) struct NarrowVector(pub [i8; 32]);

fn vectors(values: &[i16]) -> Vec<Vector> {
    values.as_chunks().0.iter().map(|&chunk| Vector(chunk)).collect()
}

impl Network {
    /// The inputs of one perspective for pieces on their squares.
    pub const PIECES: usize = PIECES;
    /// The inputs of one perspective for pairs.
    pub const PAIRS: usize = PAIRS;
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
        let NetworkParameters { biases, pieces, pairs, outputs, .. } = &parameters;
        let hidden = biases.len();
        let is_right = pieces.len() == PIECES * hidden
            && version(hidden, pairs.len()).is_some()
            && outputs.len() == BUCKETS * 2 * hidden;
        if !is_supported(hidden) || !is_right {
            return Err(NetworkError::Architecture { hidden: hidden as u32 });
        }
        if pairs.contains(&i8::MIN) {
            return Err(NetworkError::OutOfRange { name: "weight of a pair" });
        }
        let limits =
            [("bias", biases, MAX_BIAS), ("input weight", pieces, MAX_PIECE), ("output weight", outputs, MAX_OUTPUT)];
        for (name, values, limit) in limits {
            if values.iter().any(|value| value.unsigned_abs() > limit.unsigned_abs()) {
                return Err(NetworkError::OutOfRange { name });
            }
        }
        if !(1..=10_000).contains(&parameters.scale) {
            return Err(NetworkError::OutOfRange { name: "scale" });
        }
        let (biases, pieces, outputs) = (vectors(biases), vectors(pieces), vectors(outputs));
        let pairs = pairs.as_chunks().0.iter().map(|&chunk| NarrowVector(chunk)).collect();
        let hash = xxh3_64(&body(&parameters));
        Ok(Network { hash, width: hidden / 32, biases, pieces, pairs, outputs, parameters })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// If the bytes are not a complete network of this format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        let (Some(magic), true) = (bytes.get(..8), bytes.starts_with(MAGIC)) else {
            return Err(NetworkError::NotANetwork);
        };
        let Some(&(_, pairs)) = VERSIONS.iter().find(|(version, _)| *version == magic[7]) else {
            return Err(NetworkError::Version { found: magic[7] });
        };
        let size = |expected| NetworkError::Size { found: bytes.len(), expected };
        let header = bytes.get(..HEADER).ok_or_else(|| size(file_size(HIDDEN[0], pairs)))?;
        let hidden = u32::from_le_bytes(header[16..20].try_into().expect("four bytes"));
        if !is_supported(hidden as usize) {
            return Err(NetworkError::Architecture { hidden });
        }
        let hidden = hidden as usize;
        if bytes.len() != file_size(hidden, pairs) {
            return Err(size(file_size(hidden, pairs)));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(content).to_le_bytes() != *checksum {
            return Err(NetworkError::Checksum);
        }
        let mut rest = &content[HEADER..];
        let mut take = |bytes: usize| rest.split_off(..bytes).expect("the file has the right size");
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&pair| i16::from_le_bytes(pair)).collect();
        let (biases, pieces) = (words(take(2 * hidden)), words(take(2 * PIECES * hidden)));
        let pairs = take(pairs * hidden).iter().map(|&byte| byte as i8).collect();
        let outputs = words(take(2 * BUCKETS * 2 * hidden));
        let mut output_biases = [0; BUCKETS];
        for (value, bytes) in output_biases.iter_mut().zip(rest.as_chunks().0) {
            *value = i32::from_le_bytes(*bytes);
        }
        Network::new(NetworkParameters {
            rules: u64::from_le_bytes(header[8..16].try_into().expect("eight bytes")),
            scale: i32::from_le_bytes(header[20..24].try_into().expect("four bytes")),
            biases,
            pieces,
            pairs,
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

    /// Whether the network sees pairs.
    #[must_use]
    pub fn has_pairs(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// The number of the input of a piece on a square, from the perspective of a side.
    #[must_use]
    pub fn piece_input(perspective: Color, piece: Piece, square: Square) -> usize {
        inputs::piece(perspective as usize, piece.color as usize, piece.animal.index(), square.index())
    }

    /// The number among the pairs of the input of a pair: a white and a black animal on their squares, from the perspective of a
    /// side. `None` if the squares are more than two steps apart.
    #[must_use]
    pub fn pair_input(perspective: Color, white: (Animal, Square), black: (Animal, Square)) -> Option<usize> {
        let pair = || inputs::pair(white.0.index(), black.0.index(), white.1.index(), black.1.index());
        matches!(white.1.distance(black.1), 1 | 2).then(|| pair()[perspective as usize])
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
        let NetworkParameters { biases, pieces, pairs, outputs, output_biases, scale, .. } = &self.parameters;
        let (hidden, bucket) = (biases.len(), Network::bucket(position.occupied().len()));
        let mut sum = 0;
        for (half, perspective) in [position.turn(), !position.turn()].into_iter().enumerate() {
            let of_pieces: Vec<usize> =
                position.pieces().map(|(piece, square)| Network::piece_input(perspective, piece, square)).collect();
            let of_pairs = self.active_pairs(position, perspective);
            for unit in 0..hidden {
                let of_pieces = of_pieces.iter().map(|input| i64::from(pieces[input * hidden + unit]));
                let of_pairs = of_pairs.iter().map(|input| i64::from(pairs[input * hidden + unit]));
                let value = i64::from(biases[unit]) + of_pieces.chain(of_pairs).sum::<i64>();
                let activation = value.clamp(0, i64::from(QA)).pow(2);
                sum += activation * i64::from(outputs[(bucket * 2 + half) * hidden + unit]);
            }
        }
        to_cp(sum, output_biases[bucket], *scale)
    }

    /// The inputs of the pairs of a position, from the perspective of a side; none if the network does not see pairs.
    fn active_pairs(&self, position: &Position, perspective: Color) -> Vec<usize> {
        if !self.has_pairs() {
            return Vec::new();
        }
        let of = |color| position.pieces().filter(move |(piece, _)| piece.color == color).map(|(p, s)| (p.animal, s));
        let pair = |white| of(Color::Black).filter_map(move |black| Network::pair_input(perspective, white, black));
        of(Color::White).flat_map(pair).collect()
    }
}

/// The output in cp: the sum is in units of 1/(QA² QB).
#[inline(always)]
pub(super) fn to_cp(sum: i64, bias: i32, scale: i32) -> i32 {
    let output = sum / i64::from(QA) + i64::from(bias);
    let cp = output * i64::from(scale) / i64::from(QA * QB);
    cp.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

fn is_supported(hidden: usize) -> bool {
    (HIDDEN[0]..=HIDDEN[1]).contains(&hidden) && hidden.is_multiple_of(HIDDEN[0])
}

/// The version of a network with this number of units and of weights of pairs; `None` if there is none.
fn version(hidden: usize, pairs: usize) -> Option<u8> {
    VERSIONS.iter().find(|(_, inputs)| pairs == inputs * hidden).map(|(version, _)| *version)
}

/// The bytes of a file with this number of units and of inputs for pairs.
fn file_size(hidden: usize, pairs: usize) -> usize {
    HEADER + 2 * (hidden + PIECES * hidden + BUCKETS * 2 * hidden) + pairs * hidden + 4 * BUCKETS + 8
}

/// The bytes of a file without the checksum.
fn body(parameters: &NetworkParameters) -> Vec<u8> {
    let NetworkParameters { rules, scale, biases, pieces, pairs, outputs, output_biases } = parameters;
    let mut bytes = Vec::with_capacity(file_size(biases.len(), PAIRS));
    bytes.extend(MAGIC);
    bytes.extend(version(biases.len(), pairs.len()));
    bytes.extend(rules.to_le_bytes());
    bytes.extend((biases.len() as u32).to_le_bytes());
    bytes.extend(scale.to_le_bytes());
    bytes.extend([biases, pieces].into_iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes.extend(pairs.iter().map(|&value| value as u8));
    bytes.extend(outputs.iter().flat_map(|value| value.to_le_bytes()));
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::board::Rules;
    use crate::game::random::Random;

    /// A network of random parameters over their whole ranges.
    pub(in super::super) fn random_network(random: &mut Random, hidden: usize, pairs: bool) -> Network {
        let mut values = |count: usize, limit: i16| -> Vec<i16> {
            let limit = i32::from(limit);
            (0..count).map(|_| (random.below(2 * limit as usize + 1) as i32 - limit) as i16).collect()
        };
        let of_pairs = values(if pairs { PAIRS * hidden } else { 0 }, MAX_PAIR.into());
        Network::new(NetworkParameters {
            rules: RuleOptions::default().table_hash(),
            scale: 150,
            biases: values(hidden, 300),
            pieces: values(PIECES * hidden, MAX_PIECE),
            pairs: of_pairs.into_iter().map(|weight| weight as i8).collect(),
            outputs: values(BUCKETS * 2 * hidden, MAX_OUTPUT),
            output_biases: [0, 1, -2, 300, -4000, 5, 60_000, -7],
        })
        .unwrap()
    }

    /// Exchanging the colours does not change the value for the side to move.
    #[test]
    fn colors_are_alike() {
        let mut random = Random::new(22);
        let network = random_network(&mut random, 32, true);
        for position in random.walk(&Position::start(), &Rules::default(), 60) {
            assert_eq!(network.evaluate(&position), network.evaluate(&position.swap_colors()), "{position:?}");
        }
    }

    /// A pair is an own and an enemy animal, the step between them and a third of the board. Each has its own input.
    #[test]
    fn pairs_are_numbered() {
        let mut found = std::collections::BTreeMap::new();
        for (white, black) in Square::all().flat_map(|white| Square::all().map(move |black| (white, black))) {
            let coordinates = |square: Square| (square.index() as i32 % 7, square.index() as i32 / 7);
            let ((x, y), (to_x, to_y)) = (coordinates(white), coordinates(black));
            let step = (to_x - x, to_y - y);
            for (i, own) in Animal::ALL.into_iter().enumerate() {
                let enemy = Animal::ALL[(3 * i + 1) % 8];
                let input = Network::pair_input(Color::White, (own, white), (enemy, black));
                assert_eq!(input.is_some(), matches!(step.0.abs() + step.1.abs(), 1 | 2), "{white:?} {black:?}");
                let Some(input) = input else { continue };
                assert!(input < PAIRS);
                let pair = (own, enemy, step, y / 3);
                assert_eq!(*found.entry(input).or_insert(pair), pair);
                let seen_by_black = Network::pair_input(Color::Black, (enemy, black.rotate()), (own, white.rotate()));
                assert_eq!(seen_by_black, Some(input));
            }
        }
        assert_eq!(found.len(), 3 * 8 * 12);
    }

    /// A network whose pairs have weights of 0 is a network without pairs.
    #[test]
    fn pairs_without_weights_change_nothing() {
        let mut random = Random::new(24);
        let plain = random_network(&mut random, 64, false);
        let mut parameters = plain.parameters().clone();
        parameters.pairs = vec![0; PAIRS * 64];
        let mut with_pairs = Network::new(parameters.clone()).unwrap();
        assert!(with_pairs.has_pairs() && !plain.has_pairs() && with_pairs.hash() != plain.hash());
        let positions = random.walk(&Position::start(), &Rules::default(), 200);
        let differing =
            |network: &Network| positions.iter().filter(|p| network.evaluate(p) != plain.evaluate(p)).count();
        assert_eq!(differing(&with_pairs), 0);
        parameters.pairs.fill(9);
        with_pairs = Network::new(parameters).unwrap();
        assert!(differing(&with_pairs) > 50);
    }

    #[test]
    fn files_round_trip_and_damaged_ones_are_refused() {
        let mut random = Random::new(23);
        for pairs in [true, false] {
            let network = random_network(&mut random, 32, pairs);
            let again = Network::from_bytes(&network.to_bytes()).unwrap();
            assert_eq!((again.parameters(), again.hash()), (network.parameters(), network.hash()));
            assert_eq!(again.has_pairs(), pairs);
        }
        let network = random_network(&mut random, 32, true);
        let bytes = network.to_bytes();
        let again = Network::from_bytes(&bytes).unwrap();
        assert!(again.trained_under(&RuleOptions::default()) && !again.trained_under(&"chinese".parse().unwrap()));
        let error = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            Network::from_bytes(&bytes).unwrap_err()
        };
        assert_eq!(error(&|bytes| bytes.clear()), NetworkError::NotANetwork);
        assert_eq!(error(&|bytes| bytes.truncate(7)), NetworkError::NotANetwork);
        assert_eq!(error(&|bytes| bytes[7] = 255), NetworkError::Version { found: 255 });
        assert!(matches!(error(&|bytes| bytes[7] = 1), NetworkError::Size { .. }));
        assert_eq!(error(&|bytes| bytes[16] = 33), NetworkError::Architecture { hidden: 33 });
        for len in [8, 23, 24, 1000, bytes.len() - 1] {
            assert!(matches!(error(&|bytes| bytes.truncate(len)), NetworkError::Size { .. }), "{len}");
        }
        assert!(matches!(error(&|bytes| bytes.push(0)), NetworkError::Size { .. }));
        assert_eq!(error(&|bytes| bytes[5000] ^= 1), NetworkError::Checksum);
        let mut parameters = network.parameters().clone();
        parameters.pieces[77] = MAX_PIECE + 1;
        assert_eq!(Network::new(parameters).unwrap_err(), NetworkError::OutOfRange { name: "input weight" });
        let mut parameters = network.parameters().clone();
        parameters.pairs[77] = -MAX_PAIR - 1;
        assert_eq!(Network::new(parameters).unwrap_err(), NetworkError::OutOfRange { name: "weight of a pair" });
        let mut parameters = network.parameters().clone();
        parameters.pairs.pop();
        assert_eq!(Network::new(parameters).unwrap_err(), NetworkError::Architecture { hidden: 32 });
    }
}
