//! Answers of a decision tree as English clauses.

use super::features::{FeatureSet, Measure};
use doushouqi::board::Color;

/// A count with its noun: "1 move", "3 moves".
fn count(number: i8, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

impl FeatureSet {
    /// A clause that states the side of a split: feature `feature` is at most `at_most` (if `low` is set) or greater.
    ///
    /// Features are computed with White to move. `exchanged` names the pieces and ranks of the position with colours
    /// exchanged, for a position with Black to move.
    #[must_use]
    pub fn clause(&self, feature: usize, at_most: i8, low: bool, exchanged: bool) -> String {
        let color = |color: Color| if exchanged { !color } else { color };
        let piece = |i: usize| format!("{}'s {}", color(self.pieces()[i].color), self.pieces()[i].animal);
        let pair = |i, j| (piece(i), piece(j));
        // For yes-or-no features, low means no.
        let not = if low { " not" } else { "" };
        let bound = |noun: &str| format!("{} {}", if low { "at most" } else { "more than" }, count(at_most, noun));
        let ranks = |last: i8| {
            let (from, to) = if low { (1, last) } else { (last + 1, 9) };
            let (from, to) = if exchanged { (10 - to, 10 - from) } else { (from, to) };
            if from == to { format!("rank {from}") } else { format!("rank {from} to {to}") }
        };
        match self.features()[feature].what {
            Measure::Closest if low => format!("{} is nearer to the enemy's den", color(Color::Black)),
            Measure::Closest => format!("{} is at least as near to the enemy's den", color(Color::White)),
            Measure::Unopposed(i) if low => {
                format!("{} does not reach a trap at the enemy's den before every enemy piece", piece(i))
            }
            Measure::Unopposed(i) => format!("{} reaches a trap at the enemy's den before every enemy piece", piece(i)),
            Measure::Sector(i) => format!("{} is on {}", piece(i), ranks(3 * (at_most + 1))),
            Measure::Rank(i) => format!("{} is on {}", piece(i), ranks(at_most)),
            Measure::OwnDen(i) => format!("{} is {} from its own den", piece(i), bound("square")),
            Measure::Apart(i, j) => format!("{} and {} are {} apart", piece(i), piece(j), bound("square")),
            Measure::Parity(i, j) => {
                let parity = if low { "even" } else { "odd" };
                format!("the distance between {} and {} is {parity}", piece(i), piece(j))
            }
            Measure::Adjacent(i, j) => format!("{} and {} are{not} adjacent", piece(i), piece(j)),
            Measure::Trapped(i) => format!("{} is{not} in an enemy trap", piece(i)),
            Measure::CanCross(i) => {
                let verb = if low { "cannot reach" } else { "is on, or reaches," };
                format!("{} {verb} the last three ranks before every enemy piece", piece(i))
            }
            Measure::Den(i) => format!("{} needs {} to the enemy's den", piece(i), bound("move")),
            Measure::Lead => format!("{}'s lead in the race to the dens is {}", color(Color::White), bound("move")),
            Measure::Margin(i) => {
                format!(
                    "{}'s lead over every enemy piece to the best trap at the enemy's den is {}",
                    piece(i),
                    bound("move")
                )
            }
            Measure::Wing(i) => format!("{} is {} from the d-file", piece(i), bound("file")),
            Measure::Wet(i) => format!("{} is{not} in the water", piece(i)),
            Measure::Ahead(i, j) => {
                let (first, second) = if exchanged { pair(i, j) } else { pair(j, i) };
                format!("the rank of {first} minus the rank of {second} is {}", bound("rank"))
            }
            Measure::Beside(i, j) => format!("{} and {} are {} apart", piece(i), piece(j), bound("file")),
            Measure::Chase(i, j) => format!("{} needs {} to the square of {}", piece(i), bound("move"), piece(j)),
            Measure::Takes(i, j) => format!("{} could{not} take {} at once", piece(i), piece(j)),
            Measure::MayTake(i, j) => format!("{} may{not} take {} on open land", piece(i), piece(j)),
            Measure::Leaps(i) => format!("{} can{not} leap over water", piece(i)),
            Measure::Swims(i) => format!("{} can{not} swim", piece(i)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{FeatureChoice, FeatureSet};
    use doushouqi::board::RuleOptions;

    /// Clauses name the colours and ranks of the position itself, even if the tree sees it with exchanged colours.
    #[test]
    fn clauses_are_sentences() {
        let set = FeatureSet::new("LvR".parse().unwrap(), &RuleOptions::PAPER, FeatureChoice::All);
        let clause = |name: &str, at_most, low, exchanged| set.clause(set.find(name).unwrap(), at_most, low, exchanged);
        assert_eq!(clause("parity", 0, true, false), "the distance between White's lion and Black's rat is even");
        assert_eq!(clause("rank_w", 4, true, false), "White's lion is on rank 1 to 4");
        assert_eq!(clause("rank_w", 4, true, true), "Black's lion is on rank 6 to 9");
        assert_eq!(clause("sector_b", 1, false, true), "White's rat is on rank 1 to 3");
        assert_eq!(clause("den_w", 1, false, false), "White's lion needs more than 1 move to the enemy's den");
        assert_eq!(clause("closest", 0, false, true), "Black is at least as near to the enemy's den");
        assert_eq!(clause("takes_w", 0, true, false), "White's lion could not take Black's rat at once");
        for (i, feature) in set.features().iter().enumerate() {
            let [yes, no] = [true, false].map(|low| set.clause(i, 0, low, false));
            assert!(yes != no && !yes.contains('_') && !yes.contains('='), "{}: {yes}", feature.name);
        }
    }
}
