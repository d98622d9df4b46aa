//! The optimiser: Adam with decoupled weight decay (Loshchilov and Hutter, *Decoupled weight decay regularization*,
//! 2019).

use super::model::{LIMIT, Model};
use rayon::prelude::*;

const BETA: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// The number of parameters in one unit of parallel work.
const CHUNK: usize = 1 << 13;

pub(crate) struct AdamW {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
    decay: f32,
}

impl AdamW {
    pub fn new(model: &Model, decay: f32) -> AdamW {
        let zero = vec![0.0; model.values.len()];
        AdamW { first: zero.clone(), second: zero, steps: 0, decay }
    }

    /// Makes a step against the sum of the gradients, added in their order, times `factor`. Sets the gradients to zero.
    pub fn step(&mut self, model: &mut Model, gradients: &mut [Model], factor: f32, rate: f32) {
        self.steps += 1;
        let unbias = BETA.map(|beta| 1.0 / (1.0 - beta.powi(self.steps)));
        let decay = 1.0 - rate * self.decay;
        // The chunks of each gradient, by chunk.
        let mut chunks: Vec<Vec<&mut [f32]>> = Vec::new();
        for gradient in gradients {
            for (i, chunk) in gradient.values.chunks_mut(CHUNK).enumerate() {
                if chunks.len() <= i {
                    chunks.push(Vec::new());
                }
                chunks[i].push(chunk);
            }
        }
        let parameters = model.values.par_chunks_mut(CHUNK);
        let moments = self.first.par_chunks_mut(CHUNK).zip(self.second.par_chunks_mut(CHUNK));
        parameters.zip(moments).zip(chunks).for_each(|((values, (first, second)), mut gradients)| {
            for i in 0..values.len() {
                let mut slope = 0.0;
                for gradient in &mut gradients {
                    slope += std::mem::take(&mut gradient[i]);
                }
                slope *= factor;
                first[i] = BETA[0] * first[i] + (1.0 - BETA[0]) * slope;
                second[i] = BETA[1] * second[i] + (1.0 - BETA[1]) * slope * slope;
                let step = rate * (first[i] * unbias[0]) / ((second[i] * unbias[1]).sqrt() + EPSILON);
                values[i] = (values[i] * decay - step).clamp(-LIMIT, LIMIT);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Shape;
    use super::*;

    /// The optimiser finds the minimum of a parabola at every scale of its slope.
    #[test]
    fn finds_a_minimum() {
        let shape = Shape { hidden: 32, pairs: false };
        for scale in [0.01, 100.0] {
            let mut model = Model::zero(shape);
            let mut adamw = AdamW::new(&model, 0.0);
            for step in 0..600 {
                let mut gradients = vec![Model::zero(shape); 2];
                for (i, value) in model.values.iter().enumerate().take(3) {
                    gradients[i % 2].values[i] = scale * (value - i as f32 * 0.5);
                }
                adamw.step(&mut model, &mut gradients, 1.0, 0.02 * (1.0 - step as f32 / 600.0));
            }
            for i in 0..3 {
                assert!((model.values[i] - i as f32 * 0.5).abs() < 0.01, "{scale}: {:?}", &model.values[..3]);
            }
        }
    }
}
