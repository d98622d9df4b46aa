//! The values of the animals: a regression of the results of all materials on the animals that are present.
//!
//! For each material with White to move, the score s counts a win as 1 and a draw as 1/2, over all positions. The model
//! is
//!
//! ```text
//! ln(s / (1 - s)) = m + sum over White's animals of v - sum over Black's animals of v
//! ```
//!
//! with m for the move and a value v for each animal, by least squares with equal weight for each material. With pairs,
//! each pair of animals that face each other has a coefficient, too. Equivalent materials share one table, so the
//! standard errors are clustered by class (sandwich estimator).

use doushouqi::board::{Animal, Color, NoMove, RuleOptions};
use doushouqi::tablebase::{ClassCounts, Material, Options, SolveError, Solver, Stats};
use serde::Serialize;
use std::collections::HashMap;

/// The result of a material with White to move.
#[derive(Copy, Clone, Debug)]
pub struct Sample {
    /// The material.
    pub material: Material,
    /// The mean score of White, strictly between 0 and 1.
    pub score: f64,
    /// The representative of the class; materials of one class are one observation.
    pub class: Material,
}

/// A coefficient of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coefficient {
    /// `move`, the letter of an animal, or two letters: White's animal against Black's.
    pub name: String,
    /// The value, in units of the logit.
    pub value: f64,
    /// The standard error.
    pub error: f64,
    /// The value in cats: divided by the value of the cat.
    pub cats: f64,
    /// The expected score of White if the sides differ only in this.
    pub score: f64,
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Number of pieces of the materials.
    pub pieces: usize,
    /// Number of materials.
    pub materials: usize,
    /// Number of classes.
    pub classes: usize,
    /// The share of the variance that the model explains.
    pub r_squared: f64,
    /// The standard deviation of the residuals, in units of the logit.
    pub residual: f64,
    /// The move, the animals from the strongest to the weakest, and the pairs, if any.
    pub coefficients: Vec<Coefficient>,
}

/// The least number of pieces of a regression, unless all materials have fewer. A regression of fewer pieces depends
/// more on the side to move than on the animals.
const LEAST_PIECES: usize = 4;

/// Solves the endgames in memory and returns the samples of each number of pieces up to `pieces`, from `LEAST_PIECES`
/// if `pieces` is not less.
///
/// # Errors
/// If the memory for the tables cannot be allocated.
pub fn solve(options: &RuleOptions, pieces: usize) -> Result<Vec<Vec<Sample>>, SolveError> {
    let mut solver = Solver::new(options, pieces, Options::default());
    for n in 2..=pieces {
        solver.solve_level(n, n < pieces, &|_, _| ())?;
    }
    Ok((LEAST_PIECES.min(pieces)..=pieces).map(|n| solved_samples(&solver, options, n)).collect())
}

fn solved_samples(solver: &Solver, options: &RuleOptions, pieces: usize) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (id, class) in solver.classes().level(pieces) {
        let Some(stats) = solver.class_stats(id) else { continue };
        add(&mut samples, options, class.representative, [(&class.same, &stats.white), (&class.swapped, &stats.black)]);
    }
    samples
}

/// The samples of counted classes.
#[must_use]
pub fn from_counts(options: &RuleOptions, counts: &[ClassCounts]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for class in counts {
        let stats = [(&class.same, &class.stats.white), (&class.swapped, &class.stats.black)];
        add(&mut samples, options, class.class, stats);
    }
    samples
}

fn add(samples: &mut Vec<Sample>, options: &RuleOptions, class: Material, sides: [(&Vec<Material>, &Stats); 2]) {
    for (materials, stats) in sides {
        let s = stats.summary();
        let stalemates = if options.no_move == NoMove::Draw { s.no_move as f64 / 2.0 } else { 0.0 };
        let score = (s.wins as f64 + s.draws as f64 / 2.0 + stalemates) / s.positions as f64;
        samples.extend(materials.iter().map(|&material| Sample { material, score, class }));
    }
}

/// Animals from the strongest to the weakest.
fn animals() -> impl Iterator<Item = Animal> + Clone {
    Animal::ALL.into_iter().rev()
}

/// All pairs of different animals, the stronger first.
fn pairs() -> Vec<(Animal, Animal)> {
    animals().flat_map(|a| animals().filter(move |&b| b < a).map(move |b| (a, b))).collect()
}

/// The features of a material: 1 for the move; for each animal 1 if White has it, minus 1 if Black has it; and with
/// pairs, for each pair 1 if White's first animal faces Black's second, minus 1 for the opposite.
fn features(material: Material, with_pairs: bool) -> Vec<f64> {
    let has = |color, animal| f64::from(u8::from(material.side(color).contains(animal)));
    let (white, black) = (|animal| has(Color::White, animal), |animal| has(Color::Black, animal));
    let mut features = vec![1.0];
    features.extend(animals().map(|animal| white(animal) - black(animal)));
    if with_pairs {
        features.extend(pairs().into_iter().map(|(a, b)| white(a) * black(b) - white(b) * black(a)));
    }
    features
}

/// Fits the model; `None` if the samples do not determine the coefficients, or are not all of one number of pieces.
#[must_use]
pub fn fit(samples: &[Sample], with_pairs: bool) -> Option<Fit> {
    let pieces = samples.first()?.material.len();
    if samples.iter().any(|sample| sample.material.len() != pieces || !(sample.score > 0.0 && sample.score < 1.0)) {
        return None;
    }
    let rows: Vec<Vec<f64>> = samples.iter().map(|sample| features(sample.material, with_pairs)).collect();
    let logits: Vec<f64> = samples.iter().map(|sample| (sample.score / (1.0 - sample.score)).ln()).collect();
    let count = rows[0].len();
    let mut products = vec![vec![0.0; count]; count];
    let mut targets = vec![0.0; count];
    for (row, logit) in rows.iter().zip(&logits) {
        add_outer(&mut products, row);
        targets.iter_mut().zip(row).for_each(|(target, x)| *target += x * logit);
    }
    let inverse = invert(products)?;
    let values: Vec<f64> = inverse.iter().map(|row| dot(row, &targets)).collect();

    let mean = logits.iter().sum::<f64>() / logits.len() as f64;
    let (mut rest, mut all) = (0.0, 0.0);
    let mut scores: HashMap<Material, Vec<f64>> = HashMap::new();
    for ((row, logit), sample) in rows.iter().zip(&logits).zip(samples) {
        let residual = logit - dot(row, &values);
        rest += residual * residual;
        all += (logit - mean) * (logit - mean);
        let score = scores.entry(sample.class).or_insert_with(|| vec![0.0; count]);
        score.iter_mut().zip(row).for_each(|(score, x)| *score += x * residual);
    }
    let mut meat = vec![vec![0.0; count]; count];
    scores.values().for_each(|score| add_outer(&mut meat, score));
    let variance = |i: usize| {
        let products: Vec<f64> = meat.iter().map(|row| dot(row, &inverse[i])).collect();
        dot(&products, &inverse[i])
    };
    let names = std::iter::once("move".to_owned())
        .chain(animals().map(|animal| animal.letter().to_string()))
        .chain(pairs().into_iter().map(|(a, b)| format!("{}v{}", a.letter(), b.letter())));
    let cat = 1 + animals().position(|animal| animal == Animal::Cat)?;
    let coefficient = |(i, name)| Coefficient {
        name,
        value: values[i],
        error: variance(i).max(0.0).sqrt(),
        cats: values[i] / values[cat],
        score: 1.0 / (1.0 + (-values[i]).exp()),
    };
    Some(Fit {
        pieces,
        materials: samples.len(),
        classes: scores.len(),
        r_squared: 1.0 - rest / all,
        residual: (rest / samples.len() as f64).sqrt(),
        coefficients: (0..count).zip(names).map(coefficient).collect(),
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_outer(sum: &mut [Vec<f64>], row: &[f64]) {
    for (line, x) in sum.iter_mut().zip(row).filter(|(_, x)| **x != 0.0) {
        line.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
    }
}

/// The inverse of a symmetric matrix by Gauss and Jordan; `None` if it is singular.
fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut inverse: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-9 {
            return None;
        }
        matrix.swap(pivot, column);
        inverse.swap(pivot, column);
        let scale = matrix[column][column];
        for line in [&mut matrix[column], &mut inverse[column]] {
            line.iter_mut().for_each(|x| *x /= scale);
        }
        for row in (0..n).filter(|&row| row != column) {
            let factor = matrix[row][column];
            for lines in [&mut matrix, &mut inverse] {
                let from = lines[column].clone();
                lines[row].iter_mut().zip(from).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that follow the model exactly give back its coefficients; noise gives errors.
    #[test]
    fn the_model_is_found_again() {
        let value = |animal: Animal| 0.3 + 0.1 * animal.index() as f64;
        let logit = |material: Material| {
            let side = |color| material.side(color).strongest_first().map(value).sum::<f64>();
            let facing = material.side(Color::White).contains(Animal::Rat)
                && material.side(Color::Black).contains(Animal::Elephant);
            let faced = material.side(Color::Black).contains(Animal::Rat)
                && material.side(Color::White).contains(Animal::Elephant);
            0.5 + side(Color::White) - side(Color::Black)
                + 0.2 * (f64::from(u8::from(facing)) - f64::from(u8::from(faced)))
        };
        let sample = |material| Sample { material, score: 1.0 / (1.0 + (-logit(material)).exp()), class: material };
        let samples: Vec<Sample> = Material::all(5).into_iter().map(sample).collect();
        let found = fit(&samples, true).unwrap();
        assert_eq!((found.pieces, found.coefficients.len()), (5, 1 + 8 + 28));
        assert!(found.r_squared > 1.0 - 1e-9 && found.residual < 1e-6, "{found:?}");
        for c in &found.coefficients {
            let expected = match c.name.as_str() {
                "move" => 0.5,
                "EvR" => -0.2,
                name if name.len() == 3 => 0.0,
                name => value(Animal::from_letter(name.chars().next().unwrap()).unwrap()),
            };
            assert!((c.value - expected).abs() < 1e-6 && c.error < 1e-6, "{c:?}");
        }
        // Without pairs the model does not fit, and reports large residuals.
        let short = fit(&samples, false).unwrap();
        assert!(short.residual > 0.01 && short.coefficients.iter().any(|c| c.error > 1e-4), "{short:?}");
        assert!((short.coefficients[7].cats - 1.0).abs() < 1e-12 && short.coefficients[7].name == "C");
    }

    #[test]
    fn too_little_determines_nothing() {
        let material: Material = "EvL".parse().unwrap();
        let one = Sample { material, score: 0.5, class: material };
        assert_eq!(fit(&[], false), None);
        assert_eq!(fit(&[one; 20], false), None);
        assert_eq!(fit(&[one, Sample { material: "ELvT".parse().unwrap(), ..one }], false), None);
        assert_eq!(invert(vec![vec![1.0, 2.0], vec![2.0, 4.0]]), None);
        assert_eq!(invert(vec![vec![0.0, 2.0], vec![4.0, 0.0]]), Some(vec![vec![0.0, 0.25], vec![0.5, 0.0]]));
    }

    #[test]
    fn samples_are_the_counts() {
        let samples = &solve(&RuleOptions::PAPER, 2).unwrap()[0];
        assert_eq!(samples.len(), 64);
        let score = |name: &str| samples.iter().find(|s| s.material.to_string() == name).unwrap().score;
        // Wins and draws of elephant against elephant, White to move.
        let mut solver = Solver::new(&RuleOptions::PAPER, 2, Options::default());
        solver.solve_level(2, true, &|_, _| ()).unwrap();
        let s = solver.stats("EvE".parse().unwrap()).unwrap().white.summary();
        assert_eq!(score("EvE"), (s.wins as f64 + (s.draws + s.no_move) as f64 / 2.0) / s.positions as f64);
        assert!(score("EvC") > score("CvC") && score("CvC") > score("CvE"));
    }
}
