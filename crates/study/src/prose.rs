//! Answers of a decision tree as English clauses.

use super::features::{FeatureSet, Measure};
use doushouqi::board::{Color, Piece};

/// A count with its noun: "1 move", "3 moves".
fn count(number: i8, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// One side of a split of a decision tree, in English and as data for other languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What the clause states, without its subjects and numbers, such as `own_den.at_most`.
    pub key: &'static str,
    /// The side that it is about, if it is not about pieces.
    pub side: Option<Color>,
    /// The pieces that it is about, in the order of the English text.
    pub pieces: Vec<Piece>,
    /// A bound, or the first and the last rank.
    pub numbers: Vec<i8>,
    /// The clause in English.
    pub text: String,
}

impl FeatureSet {
    /// A clause that states the side of a split: feature `feature` is at most `at_most` (if `low` is set) or greater.
    ///
    /// Features are computed with White to move. `exchanged` names the pieces and ranks of the position with colours
    /// exchanged, for a position with Black to move.
    #[must_use]
    pub fn clause(&self, feature: usize, at_most: i8, low: bool, exchanged: bool) -> Clause {
        let color = |color: Color| if exchanged { !color } else { color };
        let piece = |i: usize| Piece { color: color(self.pieces()[i].color), ..self.pieces()[i] };
        let name = |i: usize| format!("{}'s {}", piece(i).color, piece(i).animal);
        // For yes-or-no features, low means no.
        let not = if low { " not" } else { "" };
        let bound = |noun: &str| format!("{} {}", if low { "at most" } else { "more than" }, count(at_most, noun));
        let state = |[if_low, if_high]: [&'static str; 2], pieces: &[usize], text: String| {
            let pieces = pieces.iter().map(|&i| piece(i)).collect();
            let numbers = if if_low.ends_with(".at_most") { vec![at_most] } else { Vec::new() };
            Clause { key: if low { if_low } else { if_high }, side: None, pieces, numbers, text }
        };
        let about = |side: Color, clause: Clause| Clause { side: Some(color(side)), ..clause };
        let ranks = |i: usize, last: i8| {
            let (from, to) = if low { (1, last) } else { (last + 1, 9) };
            let (from, to) = if exchanged { (10 - to, 10 - from) } else { (from, to) };
            let text = if from == to { format!("rank {from}") } else { format!("rank {from} to {to}") };
            let key = if from == to { "rank.one" } else { "rank.several" };
            Clause { numbers: vec![from, to], ..state([key; 2], &[i], format!("{} is on {text}", name(i))) }
        };
        match self.features()[feature].what {
            Measure::Closest if low => about(
                Color::Black,
                state(["closest.nearer"; 2], &[], format!("{} is nearer to the enemy's den", color(Color::Black))),
            ),
            Measure::Closest => about(
                Color::White,
                state(
                    ["closest.as_near"; 2],
                    &[],
                    format!("{} is at least as near to the enemy's den", color(Color::White)),
                ),
            ),
            Measure::Unopposed(i) => {
                let verb = if low { "does not reach" } else { "reaches" };
                let text = format!("{} {verb} a trap at the enemy's den before every enemy piece", name(i));
                state(["unopposed.no", "unopposed.yes"], &[i], text)
            }
            Measure::Sector(i) => ranks(i, 3 * (at_most + 1)),
            Measure::Rank(i) => ranks(i, at_most),
            Measure::OwnDen(i) => state(
                ["own_den.at_most", "own_den.more_than"],
                &[i],
                format!("{} is {} from its own den", name(i), bound("square")),
            ),
            Measure::Apart(i, j) => state(
                ["apart.at_most", "apart.more_than"],
                &[i, j],
                format!("{} and {} are {} apart", name(i), name(j), bound("square")),
            ),
            Measure::Parity(i, j) => {
                let parity = if low { "even" } else { "odd" };
                let text = format!("the distance between {} and {} is {parity}", name(i), name(j));
                state(["parity.even", "parity.odd"], &[i, j], text)
            }
            Measure::Adjacent(i, j) => state(
                ["adjacent.no", "adjacent.yes"],
                &[i, j],
                format!("{} and {} are{not} adjacent", name(i), name(j)),
            ),
            Measure::Trapped(i) => {
                state(["trapped.no", "trapped.yes"], &[i], format!("{} is{not} in an enemy trap", name(i)))
            }
            Measure::CanCross(i) => {
                let verb = if low { "cannot reach" } else { "is on, or reaches," };
                let text = format!("{} {verb} the last three ranks before every enemy piece", name(i));
                state(["can_cross.no", "can_cross.yes"], &[i], text)
            }
            Measure::Den(i) => state(
                ["den.at_most", "den.more_than"],
                &[i],
                format!("{} needs {} to the enemy's den", name(i), bound("move")),
            ),
            Measure::Lead => {
                let text = format!("{}'s lead in the race to the dens is {}", color(Color::White), bound("move"));
                about(Color::White, state(["lead.at_most", "lead.more_than"], &[], text))
            }
            Measure::Margin(i) => {
                let what = "lead over every enemy piece to the best trap at the enemy's den";
                let text = format!("{}'s {what} is {}", name(i), bound("move"));
                state(["margin.at_most", "margin.more_than"], &[i], text)
            }
            Measure::Wing(i) => state(
                ["wing.at_most", "wing.more_than"],
                &[i],
                format!("{} is {} from the d-file", name(i), bound("file")),
            ),
            Measure::Wet(i) => state(["wet.no", "wet.yes"], &[i], format!("{} is{not} in the water", name(i))),
            Measure::Ahead(i, j) => {
                let (i, j) = if exchanged { (i, j) } else { (j, i) };
                let text = format!("the rank of {} minus the rank of {} is {}", name(i), name(j), bound("rank"));
                state(["ahead.at_most", "ahead.more_than"], &[i, j], text)
            }
            Measure::Beside(i, j) => state(
                ["beside.at_most", "beside.more_than"],
                &[i, j],
                format!("{} and {} are {} apart", name(i), name(j), bound("file")),
            ),
            Measure::Chase(i, j) => state(
                ["chase.at_most", "chase.more_than"],
                &[i, j],
                format!("{} needs {} to the square of {}", name(i), bound("move"), name(j)),
            ),
            Measure::Takes(i, j) => {
                state(["takes.no", "takes.yes"], &[i, j], format!("{} could{not} take {} at once", name(i), name(j)))
            }
            Measure::MayTake(i, j) => state(
                ["may_take.no", "may_take.yes"],
                &[i, j],
                format!("{} may{not} take {} on open land", name(i), name(j)),
            ),
            Measure::Leaps(i) => {
                state(["leaps.no", "leaps.yes"], &[i], format!("{} can{not} leap over water", name(i)))
            }
            Measure::Swims(i) => state(["swims.no", "swims.yes"], &[i], format!("{} can{not} swim", name(i))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clause;
    use crate::{FeatureChoice, FeatureSet};
    use doushouqi::board::{Color, RuleOptions};

    /// Clauses name the colours and ranks of the position itself, even if the tree sees it with exchanged colours.
    #[test]
    fn clauses_are_sentences() {
        let set = FeatureSet::new("LvR".parse().unwrap(), &RuleOptions::PAPER, FeatureChoice::All);
        let clause =
            |name: &str, at_most, low, exchanged| set.clause(set.find(name).unwrap(), at_most, low, exchanged).text;
        assert_eq!(clause("parity", 0, true, false), "the distance between White's lion and Black's rat is even");
        assert_eq!(clause("rank_w", 4, true, false), "White's lion is on rank 1 to 4");
        assert_eq!(clause("rank_w", 4, true, true), "Black's lion is on rank 6 to 9");
        assert_eq!(clause("sector_b", 1, false, true), "White's rat is on rank 1 to 3");
        assert_eq!(clause("den_w", 1, false, false), "White's lion needs more than 1 move to the enemy's den");
        assert_eq!(clause("closest", 0, false, true), "Black is at least as near to the enemy's den");
        assert_eq!(clause("takes_w", 0, true, false), "White's lion could not take Black's rat at once");
        for (i, feature) in set.features().iter().enumerate() {
            let [yes, no] = [true, false].map(|low| set.clause(i, 0, low, false).text);
            assert!(yes != no && !yes.contains('_') && !yes.contains('='), "{}: {yes}", feature.name);
        }
    }

    /// The data of a clause name what its text names.
    #[test]
    fn clauses_are_data() {
        let set = FeatureSet::new("LvR".parse().unwrap(), &RuleOptions::PAPER, FeatureChoice::All);
        let of = |name: &str, at_most, low, exchanged| {
            let clause = set.clause(set.find(name).unwrap(), at_most, low, exchanged);
            let pieces: String = clause.pieces.iter().map(|piece| piece.letter()).collect();
            (clause.key, pieces, clause.numbers, clause.side)
        };
        assert_eq!(of("rank_w", 4, true, true), ("rank.several", "l".into(), vec![6, 9], None));
        assert_eq!(of("rank_w", 8, false, false), ("rank.one", "L".into(), vec![9, 9], None));
        assert_eq!(of("den_w", 3, true, false), ("den.at_most", "L".into(), vec![3], None));
        assert_eq!(of("closest", 0, false, true), ("closest.as_near", String::new(), vec![], Some(Color::Black)));
        assert_eq!(of("takes_w", 0, true, false), ("takes.no", "Lr".into(), vec![], None));
        for (feature, low) in (0..set.features().len()).flat_map(|i| [(i, true), (i, false)]) {
            let Clause { key, side, pieces, numbers, text } = set.clause(feature, 2, low, false);
            assert_eq!(text.matches("'s lion").count() + text.matches("'s rat").count(), pieces.len(), "{text}");
            assert_eq!(side.is_some(), pieces.is_empty(), "{text}");
            let is_bound = ["at_most", "more_than"].iter().any(|form| key.ends_with(form));
            assert_eq!(is_bound, numbers.len() == 1, "{text}");
        }
    }
}
