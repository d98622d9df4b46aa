//! Generates puzzles from random positions, with equal shares of each difficulty as far as possible.

use super::{Puzzle, Source, Theme};
use doushouqi::board::{Piece, Position, Rules};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{Material, Probe, SetError};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// Endgames of up to this many pieces are all solved in memory.
pub const MEMORY_PIECES: usize = 4;
/// Number of random positions that are examined in parallel.
const BATCH: u64 = 2048;
/// After this many random positions per puzzle the generator drops the shares of difficulties and themes; after twice
/// as many it gives up.
const TRIES: u64 = 4000;
const DIFFICULTIES: usize = 5;

/// The parameters of a generator of puzzles. The puzzles depend only on these values, not on the number of threads.
#[derive(Clone, Debug)]
pub struct Generate {
    /// The numbers of pieces, with equally many puzzles for each.
    pub pieces: RangeInclusive<usize>,
    /// The materials to choose from; all if the list is empty.
    pub materials: Vec<Material>,
    /// Number of random materials of more than [`MEMORY_PIECES`] pieces to solve if no files contain them.
    pub large: usize,
    /// The number of puzzles.
    pub count: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

/// Materials that puzzles are drawn from together.
struct Group {
    materials: Vec<Material>,
    count: usize,
}

impl Generate {
    /// Generates the puzzles and passes each to `found`. It finds fewer than `count` if the materials have too few.
    ///
    /// # Errors
    /// If a table cannot be read or solved.
    pub fn run(&self, source: &mut Source, found: &mut dyn FnMut(Puzzle)) -> Result<(), SetError> {
        let mut random = Random::new(self.seed);
        let mut seen = HashSet::new();
        for group in self.groups(source, &mut random) {
            if let [material] = group.materials[..] {
                source.prepare(material)?;
            }
            draw(source, &group, random.bits(), &mut seen, found)?;
        }
        Ok(())
    }

    /// The materials by number of pieces; materials that have to be solved one by one form groups of their own.
    fn groups(&self, source: &Source, random: &mut Random) -> Vec<Group> {
        let of_level = |pieces: usize| -> Vec<Material> {
            let all = if self.materials.is_empty() { Material::all(pieces) } else { self.materials.clone() };
            all.into_iter().filter(|material| material.len() == pieces).collect()
        };
        let levels: Vec<(usize, Vec<Material>)> =
            self.pieces.clone().map(|pieces| (pieces, of_level(pieces))).filter(|level| !level.1.is_empty()).collect();
        let mut groups = Vec::new();
        for (count, (pieces, mut materials)) in split(self.count, levels.len()).into_iter().zip(levels) {
            if source.is_complete(pieces) {
                groups.push(Group { materials, count });
                continue;
            }
            if self.materials.is_empty() {
                random.shuffle(&mut materials);
                materials.truncate(self.large);
            }
            let counts = split(count, materials.len());
            let alone = |(material, count)| Group { materials: vec![material], count };
            groups.extend(materials.into_iter().zip(counts).map(alone));
        }
        groups
    }
}

/// Splits a number into `parts` nearly equal summands, the smaller ones first.
fn split(count: usize, parts: usize) -> Vec<usize> {
    (1..=parts).map(|i| count * i / parts - count * (i - 1) / parts).collect()
}

/// Draws the puzzles of a group. Positions are examined in parallel and accepted in order.
fn draw(
    source: &Source,
    group: &Group,
    seed: u64,
    seen: &mut HashSet<Position>,
    found: &mut dyn FnMut(Puzzle),
) -> Result<(), SetError> {
    let mut shares = Shares { wanted: group.count, ..Shares::default() };
    let limit = TRIES * group.count as u64;
    for first in (0..2 * limit).step_by(BATCH as usize) {
        shares.strict = first < limit;
        let batch: Vec<Option<Puzzle>> = (first..first + BATCH)
            .into_par_iter()
            .map(|number| candidate(source, group, &mut Random::numbered(seed, number), &shares))
            .collect::<Result<_, SetError>>()?;
        for puzzle in batch.into_iter().flatten() {
            if shares.taken == group.count {
                return Ok(());
            }
            let Ok(position) = puzzle.position() else { continue };
            if shares.admits(&puzzle) && seen.insert(representative(&position)) {
                shares.add(&puzzle);
                found(puzzle);
            }
        }
    }
    Ok(())
}

/// A random position as a puzzle; `None` if it is not one.
fn candidate(source: &Source, group: &Group, random: &mut Random, shares: &Shares) -> Result<Option<Puzzle>, SetError> {
    let Some(&material) = random.choose(&group.materials) else { return Ok(None) };
    let pieces: Vec<Piece> = material.pieces().collect();
    let rules: &Rules = source.rules();
    let Some(position) = random.placement(&pieces, rules) else { return Ok(None) };
    // Most random positions are wins in one ply.
    if shares.has_one_ply() && source.value(&position)?.is_some_and(|value| value.dtw == Some(1)) {
        return Ok(None);
    }
    Puzzle::at(source, &position)
}

/// The representative of the positions that are equal up to reflection and exchange of the colours.
fn representative(position: &Position) -> Position {
    let mirror = position.mirror();
    let all = [position.swap_colors(), mirror.swap_colors(), position.clone(), mirror];
    all.into_iter().min_by_key(Position::to_fen).expect("there are four")
}

/// The numbers of puzzles of each kind so far.
#[derive(Default)]
struct Shares {
    wanted: usize,
    taken: usize,
    by_difficulty: [usize; DIFFICULTIES + 1],
    by_idea: HashMap<Theme, usize>,
    without_idea: usize,
    one_ply: usize,
    /// Whether the shares are enforced.
    strict: bool,
}

impl Shares {
    /// Whether `number` has reached one of `parts` equal shares.
    fn has_share(&self, number: usize, parts: usize) -> bool {
        self.strict && number >= self.wanted.div_ceil(parts)
    }

    /// Whether there are enough wins in one ply.
    fn has_one_ply(&self) -> bool {
        self.has_share(self.one_ply, 25)
    }

    /// Whether to accept a puzzle: equal shares of each difficulty, few puzzles without an idea, and no idea too often.
    fn admits(&self, puzzle: &Puzzle) -> bool {
        let mut ideas = ideas(puzzle).peekable();
        let fits = match ideas.peek() {
            None => !self.has_share(self.without_idea, 6),
            Some(_) => ideas.any(|idea| !self.has_share(self.by_idea.get(&idea).copied().unwrap_or(0), 5)),
        };
        fits && !self.has_share(self.by_difficulty[usize::from(puzzle.difficulty)], DIFFICULTIES)
            && (puzzle.dtw != Some(1) || !self.has_one_ply())
    }

    fn add(&mut self, puzzle: &Puzzle) {
        self.taken += 1;
        self.by_difficulty[usize::from(puzzle.difficulty)] += 1;
        self.one_ply += usize::from(puzzle.dtw == Some(1));
        self.without_idea += usize::from(ideas(puzzle).next().is_none());
        for idea in ideas(puzzle) {
            *self.by_idea.entry(idea).or_default() += 1;
        }
    }
}

fn ideas(puzzle: &Puzzle) -> impl Iterator<Item = Theme> + '_ {
    puzzle.themes.iter().copied().filter(|theme| theme.is_idea())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        assert_eq!(split(10, 3), [3, 3, 4]);
        assert_eq!(split(2, 3), [0, 1, 1]);
        assert_eq!(split(7, 0), Vec::<usize>::new());
    }

    #[test]
    fn the_four_views_of_a_position_are_one() {
        let position: Position = "7/3c3/7/7/7/3L3/7/4R2/7 b".parse().unwrap();
        for view in [position.mirror(), position.swap_colors(), position.mirror().swap_colors()] {
            assert_eq!(representative(&view), representative(&position));
        }
        assert_ne!(representative(&position.pass()), representative(&position));
    }
}
