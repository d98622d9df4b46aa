//! Answers of a decision tree as English clauses.

use super::features::{FeatureSet, Measure};
use doushouqi::board::{Color, Piece};

/// A count with its noun: "1 move", "3 moves".
fn count(number: i8, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// What a clause says about the result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bearing {
    /// It speaks for a side.
    For(Color),
    /// It speaks for neither side: the parity of a distance.
    Neutral,
    /// It only excludes an extreme, which explains nothing: a lead of at most 5.
    Weak,
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
    /// What it says about the result.
    pub bearing: Bearing,
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
        let named = |i: usize| Piece { color: color(self.pieces()[i].color), ..self.pieces()[i] };
        let what = self.features()[feature].what;
        let Wording { sides, mut pieces, keys, text } = wording(what);
        // The rank of the second piece minus that of the first, which the exchange of colours turns around.
        if matches!(what, Measure::Ahead(..)) && !exchanged {
            pieces.reverse();
        }
        let pieces: Vec<Piece> = pieces.into_iter().map(named).collect();
        let side = sides.map(|[if_low, if_high]| color(if low { if_low } else { if_high }));
        let ranks = match what {
            Measure::Sector(_) => Some(ranks(3 * (at_most + 1), low, exchanged)),
            Measure::Rank(_) => Some(ranks(at_most, low, exchanged)),
            _ => None,
        };
        let mut key = keys[usize::from(!low)];
        let mut numbers = if keys[0].ends_with(".at_most") { vec![at_most] } else { Vec::new() };
        if let Some((from, to)) = ranks {
            key = keys[usize::from(from != to)];
            numbers = vec![from, to];
        }
        let text = filled(text, |part| match (part, ranks) {
            ("a" | "b", _) => {
                let piece = pieces.get(usize::from(part == "b"));
                piece.map_or_else(|| side.map(|side| side.to_string()), |piece| Some(name(*piece))).unwrap_or_default()
            }
            ("ranks", Some((from, to))) if from == to => format!("rank {from}"),
            ("ranks", Some((from, to))) => format!("rank {from} to {to}"),
            (part, _) => match part.split_once('|') {
                Some((if_low, if_high)) => if low { if_low } else { if_high }.to_owned(),
                None => format!("{} {}", if low { "at most" } else { "more than" }, count(at_most, part)),
            },
        });
        let bearing = match self.bearing(what, at_most, low) {
            Bearing::For(side) => Bearing::For(color(side)),
            other => other,
        };
        Clause { key, side, pieces, numbers, bearing, text }
    }

    /// What a side of a split says about the result, with White to move.
    fn bearing(&self, what: Measure, at_most: i8, low: bool) -> Bearing {
        let owner = |i: usize| self.pieces()[i].color;
        // `yes` speaks for the owner of a piece, its contrary for the opponent.
        let either = |i: usize, yes: bool| Bearing::For(if yes { owner(i) } else { !owner(i) });
        let lead = |color: Color| match low {
            false if at_most >= 0 => Bearing::For(color),
            true if at_most < 0 => Bearing::For(!color),
            _ => Bearing::Weak,
        };
        let advance = |i: usize, last: i8| match ranks(last, low, owner(i) == Color::Black) {
            (6.., _) => either(i, true),
            (_, ..=4) => either(i, false),
            _ => Bearing::Weak,
        };
        match what {
            Measure::Closest => Bearing::For(if low { Color::Black } else { Color::White }),
            Measure::Unopposed(i) | Measure::CanCross(i) => either(i, !low),
            Measure::Den(i) => either(i, low),
            Measure::Lead => lead(Color::White),
            Measure::Margin(i) => lead(owner(i)),
            Measure::Chase(i, j) if self.may_take(i, j) => either(i, low),
            Measure::Trapped(i) if !low => either(i, false),
            Measure::Takes(i, _) if !low => either(i, true),
            Measure::Sector(i) => advance(i, 3 * (at_most + 1)),
            Measure::Rank(i) => advance(i, at_most),
            Measure::Trapped(_) | Measure::Takes(..) => Bearing::Weak,
            Measure::MayTake(..) | Measure::Leaps(_) | Measure::Swims(_) => Bearing::Weak,
            Measure::Parity(..) | Measure::Adjacent(..) | Measure::Apart(..) | Measure::Chase(..) => Bearing::Neutral,
            Measure::OwnDen(_) | Measure::Wing(_) | Measure::Wet(_) => Bearing::Neutral,
            Measure::Ahead(..) | Measure::Beside(..) => Bearing::Neutral,
        }
    }
}

fn name(piece: Piece) -> String {
    format!("{}'s {}", piece.color, piece.animal)
}

/// The ranks of a clause about ranks up to `last`, or after it.
fn ranks(last: i8, low: bool, exchanged: bool) -> (i8, i8) {
    let (from, to) = if low { (1, last) } else { (last + 1, 9) };
    if exchanged { (10 - to, 10 - from) } else { (from, to) }
}

/// A text whose parts in braces are replaced.
fn filled(text: &str, part: impl Fn(&str) -> String) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(&part(name));
        rest = after;
    }
    filled + rest
}

/// The words of both sides of a split.
struct Wording {
    /// The side that the clause is about if the feature is low, and if it is high.
    sides: Option<[Color; 2]>,
    /// The pieces that it is about.
    pieces: Vec<usize>,
    /// The keys for low and high; for ranks, those of one rank and of several.
    keys: [&'static str; 2],
    /// The text: `{a}` and `{b}` are the subjects, `{low|high}` is a word for each side, and a noun in braces a bound.
    text: &'static str,
}

#[rustfmt::skip]
fn wording(what: Measure) -> Wording {
    let of = |pieces: &[usize], keys, text| Wording { sides: None, pieces: pieces.to_vec(), keys, text };
    let about = |sides, keys, text| Wording { sides: Some(sides), ..of(&[], keys, text) };
    match what {
        Measure::Closest => about([Color::Black, Color::White], ["closest.nearer", "closest.as_near"],
            "{a} is {nearer|at least as near} to the enemy's den"),
        Measure::Unopposed(i) => of(&[i], ["unopposed.no", "unopposed.yes"],
            "{a} {does not reach|reaches} a trap at the enemy's den before every enemy piece"),
        Measure::Sector(i) | Measure::Rank(i) => of(&[i], ["rank.one", "rank.several"], "{a} is on {ranks}"),
        Measure::OwnDen(i) => of(&[i], ["own_den.at_most", "own_den.more_than"], "{a} is {square} from its own den"),
        Measure::Apart(i, j) => of(&[i, j], ["apart.at_most", "apart.more_than"], "{a} and {b} are {square} apart"),
        Measure::Parity(i, j) => of(&[i, j], ["parity.even", "parity.odd"],
            "the distance between {a} and {b} is {even|odd}"),
        Measure::Adjacent(i, j) => of(&[i, j], ["adjacent.no", "adjacent.yes"], "{a} and {b} are{ not|} adjacent"),
        Measure::Trapped(i) => of(&[i], ["trapped.no", "trapped.yes"], "{a} is{ not|} in an enemy trap"),
        Measure::CanCross(i) => of(&[i], ["can_cross.no", "can_cross.yes"],
            "{a} {cannot reach|is on, or reaches,} the last three ranks before every enemy piece"),
        Measure::Den(i) => of(&[i], ["den.at_most", "den.more_than"], "{a} needs {move} to the enemy's den"),
        Measure::Lead => about([Color::White; 2], ["lead.at_most", "lead.more_than"],
            "{a}'s lead in the race to the dens is {move}"),
        Measure::Margin(i) => of(&[i], ["margin.at_most", "margin.more_than"],
            "{a}'s lead over every enemy piece to the best trap at the enemy's den is {move}"),
        Measure::Wing(i) => of(&[i], ["wing.at_most", "wing.more_than"], "{a} is {file} from the d-file"),
        Measure::Wet(i) => of(&[i], ["wet.no", "wet.yes"], "{a} is{ not|} in the water"),
        Measure::Ahead(i, j) => of(&[i, j], ["ahead.at_most", "ahead.more_than"],
            "the rank of {a} minus the rank of {b} is {rank}"),
        Measure::Beside(i, j) => of(&[i, j], ["beside.at_most", "beside.more_than"], "{a} and {b} are {file} apart"),
        Measure::Chase(i, j) => of(&[i, j], ["chase.at_most", "chase.more_than"],
            "{a} needs {move} to the square of {b}"),
        Measure::Takes(i, j) => of(&[i, j], ["takes.no", "takes.yes"], "{a} could{ not|} take {b} at once"),
        Measure::MayTake(i, j) => of(&[i, j], ["may_take.no", "may_take.yes"], "{a} may{ not|} take {b} on open land"),
        Measure::Leaps(i) => of(&[i], ["leaps.no", "leaps.yes"], "{a} can{not|} leap over water"),
        Measure::Swims(i) => of(&[i], ["swims.no", "swims.yes"], "{a} can{not|} swim"),
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
            let Clause { key, side, pieces, numbers, text, .. } = set.clause(feature, 2, low, false);
            assert_eq!(text.matches("'s lion").count() + text.matches("'s rat").count(), pieces.len(), "{text}");
            assert_eq!(side.is_some(), pieces.is_empty(), "{text}");
            let is_bound = ["at_most", "more_than"].iter().any(|form| key.ends_with(form));
            assert_eq!(is_bound, numbers.len() == 1, "{text}");
        }
    }
}
