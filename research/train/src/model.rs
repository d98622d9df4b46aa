//! The network in floating point: its output, the gradient of its error, and quantisation.
//!
//! The architecture is the one of [`Network`]: two accumulators with the same weights, squared clipped activations, and
//! an output for each bucket of piece counts. An output of x stands for an expected score of 1 / (1 + exp(-x)).

use doushouqi::board::Animal;
use doushouqi::board::{Color, Piece, Square};
use doushouqi::game::random::Random;
use doushouqi::search::network::{Network, NetworkError, NetworkParameters};

/// The most pairs of a white and a black animal.
const MAX_PAIRS: usize = 64;

/// The limit of the parameters' absolute values, required by quantisation.
pub(crate) const LIMIT: f32 = 1.98;
/// The limit of the weights of pairs, likewise.
const PAIR_LIMIT: f32 = 127.0 / Network::QA as f32;

/// The size of a network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The units of an accumulator.
    pub hidden: usize,
    /// Whether the network sees pairs of animals ([`Network::pair_input`]).
    pub pairs: bool,
}

impl Shape {
    /// The sizes of networks with this number of units.
    pub fn all(hidden: usize) -> impl Iterator<Item = Shape> {
        [false, true].into_iter().map(move |pairs| Shape { hidden, pairs })
    }

    /// The inputs of one perspective.
    pub(crate) fn inputs(self) -> usize {
        Network::PIECES + if self.pairs { Network::PAIRS } else { 0 }
    }
}

/// The parameters of a network, or another vector of the same shape: a gradient or the moments of an optimiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    shape: Shape,
    /// The weights of the inputs, by input and unit; then the biases of the units; then the weights of the output, by
    /// bucket, perspective and unit; then the biases of the output.
    pub(crate) values: Vec<f32>,
}

/// A position in the form that the network reads.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sample {
    /// The inputs of pieces, from both perspectives, the side to move first.
    inputs: [[u16; 16]; 2],
    pieces: usize,
    /// The inputs of pairs, likewise. Their numbers follow those of the pieces.
    pair_inputs: [[u16; MAX_PAIRS]; 2],
    pairs: usize,
    /// The expected score that the network should predict.
    pub target: f32,
}

impl Sample {
    /// The sample of a position, given the squares of the animals, White's first (63: not on the board). `mirrored`
    /// reflects it in the d-file.
    pub fn new(shape: Shape, squares: &[u8; 16], turn: Color, mirrored: bool, target: f32) -> Sample {
        let (inputs, pair_inputs) = ([[0; 16]; 2], [[0; MAX_PAIRS]; 2]);
        let mut sample = Sample { inputs, pieces: 0, pair_inputs, pairs: 0, target };
        let square_of = |color: usize, animal: Animal| {
            let square = Square::new(usize::from(squares[8 * color + animal.index()]));
            square.map(|square| if mirrored { square.mirror() } else { square })
        };
        for (color, animal) in [0, 1].into_iter().flat_map(|color| Animal::ALL.map(|animal| (color, animal))) {
            let Some(square) = square_of(color, animal) else { continue };
            let piece = Piece { color: Color::ALL[color], animal };
            for (inputs, perspective) in sample.inputs.iter_mut().zip([turn, !turn]) {
                inputs[sample.pieces] = Network::piece_input(perspective, piece, square) as u16;
            }
            sample.pieces += 1;
        }
        if shape.pairs {
            let of = |color| Animal::ALL.map(|animal| (animal, square_of(color, animal)));
            for (white, white_square) in of(0) {
                for (black, black_square) in of(1) {
                    let (Some(white_square), Some(black_square)) = (white_square, black_square) else { continue };
                    let pair =
                        |perspective| Network::pair_input(perspective, (white, white_square), (black, black_square));
                    let (Some(first), Some(second)) = (pair(turn), pair(!turn)) else { continue };
                    sample.pair_inputs[0][sample.pairs] = (Network::PIECES + first) as u16;
                    sample.pair_inputs[1][sample.pairs] = (Network::PIECES + second) as u16;
                    sample.pairs += 1;
                }
            }
        }
        sample
    }

    /// All inputs of a perspective; the side to move has the first.
    #[inline(always)]
    fn inputs(&self, half: usize) -> impl Iterator<Item = usize> {
        let (pieces, pairs) = (&self.inputs[half][..self.pieces], &self.pair_inputs[half][..self.pairs]);
        pieces.iter().chain(pairs).map(|&input| usize::from(input))
    }
}

impl Model {
    /// A model with random weights of pieces, scaled to their number. The weights of pairs are 0.
    #[must_use]
    pub fn random(shape: Shape, seed: u64) -> Model {
        let (mut model, hidden) = (Model::zero(shape), shape.hidden);
        let mut random = Random::new(seed);
        let mut uniform = |limit: f32| ((random.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * limit;
        let [biases, outputs, output_biases] = model.offsets();
        model.values[..Network::PIECES * hidden].fill_with(|| uniform(0.25));
        // The middle of the range in which a unit has a slope.
        model.values[biases..outputs].fill(0.25);
        // Every bucket starts with the same weights.
        let first: Vec<f32> = (0..2 * hidden).map(|_| uniform(1.0 / (hidden as f32).sqrt())).collect();
        for bucket in model.values[outputs..output_biases].chunks_exact_mut(2 * hidden) {
            bucket.copy_from_slice(&first);
        }
        model
    }

    /// A model whose parameters are all 0.
    #[must_use]
    pub fn zero(shape: Shape) -> Model {
        let len = shape.inputs() * shape.hidden + shape.hidden + Network::BUCKETS * (2 * shape.hidden + 1);
        Model { shape, values: vec![0.0; len] }
    }

    /// The size of the network.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The same network with the inputs of a size that has those of this network first; the weights of the others are 0.
    #[must_use]
    pub(crate) fn extended(self, shape: Shape) -> Model {
        let mut model = Model::zero(shape);
        let [old, new] = [self.shape, shape].map(|shape| shape.inputs() * shape.hidden);
        model.values[..old].copy_from_slice(&self.values[..old]);
        model.values[new..].copy_from_slice(&self.values[old..]);
        model
    }

    /// Limits the weights of pairs to the range of the quantised network.
    pub(crate) fn clip_pairs(&mut self) {
        let [biases, ..] = self.offsets();
        for weight in &mut self.values[Network::PIECES * self.shape.hidden..biases] {
            *weight = weight.clamp(-PAIR_LIMIT, PAIR_LIMIT);
        }
    }

    /// The offsets of the biases of the units, the weights of the output and the biases of the output.
    fn offsets(&self) -> [usize; 3] {
        let biases = self.shape.inputs() * self.shape.hidden;
        let outputs = biases + self.shape.hidden;
        [biases, outputs, outputs + Network::BUCKETS * 2 * self.shape.hidden]
    }

    /// The output of the network, and both accumulators of a sample, the side to move first.
    #[inline(always)]
    fn forward(&self, sample: &Sample, accumulators: &mut [f32]) -> f32 {
        let hidden = self.shape.hidden;
        let [biases, outputs, output_biases] = self.offsets();
        let bucket = Network::bucket(sample.pieces);
        let mut output = self.values[output_biases + bucket];
        for (half, accumulator) in accumulators.chunks_exact_mut(hidden).enumerate() {
            accumulator.copy_from_slice(&self.values[biases..outputs]);
            for input in sample.inputs(half) {
                let row = &self.values[input * hidden..][..hidden];
                for (value, weight) in accumulator.iter_mut().zip(row) {
                    *value += weight;
                }
            }
            let weights = &self.values[outputs + (2 * bucket + half) * hidden..][..hidden];
            // Several sums let the compiler add in vectors, always in the same order.
            let mut sums = [0.0; 16];
            for (values, weights) in accumulator.as_chunks::<16>().0.iter().zip(weights.as_chunks::<16>().0) {
                for i in 0..16 {
                    let clipped = values[i].clamp(0.0, 1.0);
                    sums[i] += clipped * clipped * weights[i];
                }
            }
            output += sums.iter().sum::<f32>();
        }
        output
    }

    /// The squared error of a sample. Adds the gradient of the error to `gradient`.
    #[inline(always)]
    fn backward(&self, sample: &Sample, accumulators: &mut [f32], gradient: &mut Model) -> f32 {
        let hidden = self.shape.hidden;
        let [biases, outputs, output_biases] = self.offsets();
        let bucket = Network::bucket(sample.pieces);
        let predicted = sigmoid(self.forward(sample, accumulators));
        let error = predicted - sample.target;
        let slope = 2.0 * error * predicted * (1.0 - predicted);
        gradient.values[output_biases + bucket] += slope;
        for (half, accumulator) in accumulators.chunks_exact_mut(hidden).enumerate() {
            let at = outputs + (2 * bucket + half) * hidden;
            let weights = &self.values[at..at + hidden];
            let weight_gradient = &mut gradient.values[at..at + hidden];
            // From here on the accumulator contains its own gradient.
            for ((value, weight), weight_gradient) in accumulator.iter_mut().zip(weights).zip(weight_gradient) {
                let clipped = value.clamp(0.0, 1.0);
                *weight_gradient += slope * clipped * clipped;
                let inside = if *value > 0.0 && *value < 1.0 { 2.0 * clipped } else { 0.0 };
                *value = slope * weight * inside;
            }
            for at in sample.inputs(half).map(|input| input * hidden).chain([biases]) {
                for (total, value) in gradient.values[at..at + hidden].iter_mut().zip(&*accumulator) {
                    *total += value;
                }
            }
        }
        error * error
    }

    /// The sum of the squared errors of samples, in their order. Adds the gradient of the sum to `gradient`.
    pub(crate) fn errors(&self, samples: &[Sample], gradient: &mut Model) -> f64 {
        let mut accumulators = vec![0.0; 2 * self.shape.hidden];
        vectorised(|| samples.iter().map(|sample| f64::from(self.backward(sample, &mut accumulators, gradient))).sum())
    }

    /// The sum of the squared errors of samples.
    pub(crate) fn loss(&self, samples: &[Sample]) -> f64 {
        let mut accumulators = vec![0.0; 2 * self.shape.hidden];
        vectorised(|| {
            let error = |sample: &Sample| sigmoid(self.forward(sample, &mut accumulators)) - sample.target;
            samples.iter().map(error).map(|error| f64::from(error * error)).sum()
        })
    }

    /// The network in integers, for rules with this hash; an output of 1 is worth `scale` cp.
    ///
    /// # Errors
    /// If the scale is out of range.
    pub fn quantise(&self, rules: u64, scale: f32) -> Result<Network, NetworkError> {
        let [biases, outputs, output_biases] = self.offsets();
        let round = |values: &[f32], factor: i32| -> Vec<i16> {
            values.iter().map(|value| (value * factor as f32).round() as i16).collect()
        };
        let one = (Network::QA * Network::QB) as f32;
        let (pieces, pairs) = self.values[..biases].split_at(Network::PIECES * self.shape.hidden);
        Network::new(NetworkParameters {
            rules,
            scale: scale.round() as i32,
            biases: round(&self.values[biases..outputs], Network::QA),
            pieces: round(pieces, Network::QA),
            pairs: pairs.iter().map(|weight| (weight * Network::QA as f32).round() as i8).collect(),
            outputs: round(&self.values[outputs..output_biases], Network::QB),
            output_biases: std::array::from_fn(|bucket| (self.values[output_biases + bucket] * one).round() as i32),
        })
    }
}

/// The expected score of an output.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Runs code compiled for AVX2 if the CPU supports it. AVX2 rounds like the portable code, so the result is the same.
#[inline(always)]
fn vectorised<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<T>(run: impl FnOnce() -> T) -> T {
            run()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has AVX2.
            return unsafe { avx2(run) };
        }
    }
    run()
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::{Position, Rules};

    fn squares(position: &Position) -> [u8; 16] {
        std::array::from_fn(|i| {
            let square = position.square_of(Color::ALL[i / 8], Animal::ALL[i % 8]);
            square.map_or(63, |square| square.index() as u8)
        })
    }

    const SHAPE: Shape = Shape { hidden: 32, pairs: true };

    fn samples(count: usize) -> Vec<Sample> {
        let mut random = Random::new(4);
        (0..count)
            .map(|i| {
                let position = random.position(2 + i % 15, &Rules::default());
                Sample::new(SHAPE, &squares(&position), position.turn(), i % 3 == 0, random.below(100) as f32 / 99.0)
            })
            .collect()
    }

    #[test]
    fn random_weights_fill_their_range() {
        let model = Model::random(SHAPE, 9);
        let [biases, outputs, output_biases] = model.offsets();
        let within = |weights: &[f32], limit: f32| {
            let mean = weights.iter().sum::<f32>() / weights.len() as f32;
            let most = weights.iter().fold(0.0, |most: f32, weight| most.max(weight.abs()));
            most <= limit && most > 0.9 * limit && mean.abs() < 0.1 * limit
        };
        assert!(within(&model.values[..Network::PIECES * 32], 0.25));
        assert!(model.values[Network::PIECES * 32..biases].iter().all(|&weight| weight == 0.0));
        let buckets: Vec<_> = model.values[outputs..output_biases].chunks_exact(64).collect();
        assert!(buckets.iter().all(|bucket| within(bucket, 1.0 / 32f32.sqrt()) && bucket == &buckets[0]));
    }

    /// The gradient is the slope of the error, measured by moving each parameter a little.
    #[test]
    fn the_gradient_is_the_slope_of_the_error() {
        let samples = samples(40);
        let mut model = Model::random(SHAPE, 5);
        let mut random = Random::new(6);
        let [biases, outputs, output_biases] = model.offsets();
        model.values[Network::PIECES * 32..biases].fill_with(|| random.below(100) as f32 / 500.0 - 0.1);
        let mut gradient = Model::zero(SHAPE);
        model.errors(&samples, &mut gradient);
        let of_pieces: Vec<usize> = samples.iter().flat_map(|s| s.inputs[0]).map(usize::from).collect();
        let of_pairs: Vec<usize> = samples.iter().flat_map(|s| s.inputs(1).skip(s.pieces)).collect();
        let (mut checked, mut different) = (0, 0);
        for i in 0..400 {
            let index = match i % 5 {
                0 => of_pieces[random.below(of_pieces.len())] * 32 + random.below(32),
                1 => of_pairs[random.below(of_pairs.len())] * 32 + random.below(32),
                2 => biases + random.below(32),
                3 => outputs + random.below(output_biases - outputs),
                _ => output_biases + random.below(8),
            };
            let step = 1e-3;
            let moved = |by: f32| {
                let mut model = model.clone();
                model.values[index] += by;
                model.loss(&samples)
            };
            let measured = (moved(step) - moved(-step)) / f64::from(2.0 * step);
            let computed = f64::from(gradient.values[index]);
            // If a unit is clipped within the step, the measured slope matches neither side.
            different += usize::from((measured - computed).abs() > 2e-3 + 0.02 * computed.abs());
            checked += usize::from(computed != 0.0);
        }
        assert!(checked > 150 && different < 6, "{checked} {different}");
    }

    /// The quantised network returns almost the output of the model.
    #[test]
    fn a_quantised_network_is_near_the_model() {
        let mut random = Random::new(7);
        let mut model = Model::random(Shape { hidden: 64, ..SHAPE }, 8);
        let [biases, ..] = model.offsets();
        model.values[Network::PIECES * 64..biases].fill_with(|| random.below(100) as f32 / 500.0 - 0.1);
        let network = model.quantise(1, 400.0).unwrap();
        let mut accumulators = vec![0.0; 128];
        for i in 0..300 {
            let position = random.position(2 + i % 15, &Rules::default());
            let sample = Sample::new(SHAPE, &squares(&position), position.turn(), false, 0.0);
            let expected = 400.0 * model.forward(&sample, &mut accumulators);
            let found = network.evaluate(&position) as f32;
            // Each of the 128 output weights is rounded by up to 1/128.
            assert!((found - expected).abs() < 40.0, "{position:?}: {found} {expected}");
        }
    }

    #[test]
    fn a_mirrored_position_is_another_sample() {
        let position = Position::start();
        let [plain, mirrored] = [false, true].map(|m| Sample::new(SHAPE, &squares(&position), position.turn(), m, 0.5));
        let reflected = Sample::new(SHAPE, &squares(&position.mirror()), position.turn(), false, 0.5);
        let sorted = |sample: &Sample| {
            let mut inputs = [0, 1].map(|half| sample.inputs(half).collect::<Vec<_>>());
            inputs.iter_mut().for_each(|inputs| inputs.sort());
            inputs
        };
        assert_eq!(sorted(&mirrored), sorted(&reflected));
        assert_ne!(sorted(&mirrored), sorted(&plain));
    }
}
