//! Training data: random positions of endgame tables with their exact values.

use super::datagen::{MAX_SCORE, has_intruder};
use super::record::{Header, PIECES, Record};
use doushouqi::board::{Piece, Position, Repetition};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{Material, Probe, Value};
use xxhash_rust::xxh3::xxh3_64;

/// The number of positions in a batch.
const BATCH: usize = 64;
/// Wins and losses in fewer plies are near: a search finds them with any evaluation.
const NEAR_PLIES: u16 = 10;
/// One in this many of the near wins and losses is kept.
const KEEP_NEAR: usize = 8;
/// The number of attempts to find a position.
const TRIES: usize = 10_000;
/// The distance in plies at which a win scores half as much as a win at once.
const HALF_SCORE_PLIES: i32 = 20;

/// Random positions of endgame tables.
pub struct Endgames<'a, P> {
    /// The tables.
    pub tables: &'a P,
    /// The materials of the positions. The tables contain all of them.
    pub materials: &'a [Material],
    /// The seed of all random choices.
    pub seed: u64,
}

impl<P: Probe> Endgames<'_, P> {
    /// The header of the file of these positions: no search, and a hash of the materials instead of a network's.
    #[must_use]
    pub fn header(&self) -> Header {
        let names: Vec<String> = self.materials.iter().map(Material::to_string).collect();
        let rules = self.tables.rules().options().table_hash();
        Header {
            rules,
            seed: self.seed,
            nodes: 0,
            evaluation: xxh3_64(names.join(" ").as_bytes()),
            sidelines: false,
            repetition: Repetition::default(),
            pieces: PIECES,
        }
    }

    /// The 64 records of a batch; fewer if the materials have too few suitable positions. The records depend only on the
    /// seed, the materials and the number of the batch. In these positions the side to move cannot capture, and no piece
    /// stands in an enemy trap. Few of them are won or lost within ten plies. The score of a win falls with its distance,
    /// so a network learns to make progress.
    ///
    /// # Errors
    /// The error of the tables.
    pub fn batch(&self, number: u32) -> Result<Vec<Record>, P::Error> {
        let mut random = Random::numbered(self.seed, number.into());
        let mut records = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let Some((position, value)) = self.position(&mut random)? else { break };
            let (result, score) = label(value);
            records.push(Record { position, halfmove_clock: 0, score, result, score_only: true, game: number, ply: 0 });
        }
        Ok(records)
    }

    /// A position of a random material with its value.
    fn position(&self, random: &mut Random) -> Result<Option<(Position, Value)>, P::Error> {
        for _ in 0..TRIES {
            let Some(material) = random.choose(self.materials) else { break };
            let pieces: Vec<Piece> = material.pieces().collect();
            let Some(position) = random.placement(&pieces, self.tables.rules()) else { continue };
            if !self.is_quiet(&position) {
                continue;
            }
            let Some(value) = self.tables.value(&position)? else { continue };
            let near = value.dtw.is_some_and(|plies| plies < NEAR_PLIES);
            if !near || random.below(KEEP_NEAR) == 0 {
                return Ok(Some((position, value)));
            }
        }
        Ok(None)
    }

    fn is_quiet(&self, position: &Position) -> bool {
        !has_intruder(position) && position.moves(self.tables.rules()).iter().all(|mv| !mv.is_capture(position))
    }
}

/// The result and the score in cp for the side to move.
fn label(value: Value) -> (i8, i16) {
    let sign = value.wdl.sign();
    let plies = value.dtw.map_or(0, i32::from);
    let score = i32::from(sign) * MAX_SCORE * HALF_SCORE_PLIES / (HALF_SCORE_PLIES + plies);
    (sign, score as i16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::RuleOptions;
    use doushouqi::tablebase::{Solver, Wdl};
    use std::collections::HashSet;

    #[test]
    fn batches_are_quiet_positions_with_exact_labels() {
        let tables = Solver::solved(&RuleOptions::PAPER, 3).unwrap();
        let materials = Material::all(3);
        let batch = |seed, number| {
            let Ok(records) = Endgames { tables: &tables, materials: &materials, seed }.batch(number);
            records
        };
        let records = batch(1, 7);
        assert_eq!(records, batch(1, 7));
        assert!(records != batch(1, 8) && records != batch(2, 7));
        assert_eq!(records.len(), BATCH);
        let header = |materials| Endgames { tables: &tables, materials, seed: 1 }.header();
        assert_ne!(header(&materials), header(&materials[1..]), "a file is not continued from other tables");
        let mut keys = HashSet::new();
        for Record { position, score, result, score_only, game, .. } in &records {
            keys.insert(position.key());
            assert!(*score_only && *game == 7 && position.occupied().len() == 3);
            assert!(position.moves(tables.rules()).iter().all(|mv| !mv.is_capture(position)));
            let Ok(value) = tables.value(position);
            assert_eq!((*result, *score), label(value.unwrap()));
        }
        assert!(keys.len() > BATCH / 2);
    }

    #[test]
    fn near_wins_score_more_than_far_ones() {
        let decided = |wdl, plies| label(Value { wdl, dtw: Some(plies) });
        assert_eq!([decided(Wdl::Win, 1), decided(Wdl::Win, 20)], [(1, 2857), (1, 1500)]);
        assert_eq!([decided(Wdl::Loss, 20), label(Value::DRAW)], [(-1, -1500), (0, 0)]);
    }
}
