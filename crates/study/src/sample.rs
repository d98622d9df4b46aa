use super::features::FeatureSet;
use doushouqi::board::{Color, NoMove, RuleOptions};
use doushouqi::tablebase::{CellValue, MaterialTable};
use serde::Serialize;
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;

/// The winner of a position under best play.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Winner {
    #[serde(rename = "w")]
    White,
    #[serde(rename = "d")]
    Draw,
    #[serde(rename = "b")]
    Black,
}

impl Winner {
    /// All winners, in the order of their numbers.
    pub const ALL: [Winner; 3] = [Winner::White, Winner::Draw, Winner::Black];

    /// The winner if the side to move has this value.
    #[must_use]
    pub fn of(value: CellValue, turn: Color, options: &RuleOptions) -> Winner {
        let mover_wins = match value {
            CellValue::Draw => return Winner::Draw,
            CellValue::NoMove if options.no_move == NoMove::Draw => return Winner::Draw,
            CellValue::NoMove => false,
            CellValue::Decided(plies) => plies % 2 == 1,
        };
        if mover_wins == (turn == Color::White) { Winner::White } else { Winner::Black }
    }

    /// The published data set's letter.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Winner::White => 'w',
            Winner::Draw => 'd',
            Winner::Black => 'b',
        }
    }
}

impl fmt::Display for Winner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Winner::White => "White",
            Winner::Draw => "draw",
            Winner::Black => "Black",
        })
    }
}

/// The weighted training rows of a learner: positions with the same features and the same winner form one row.
pub struct TrainingSet {
    /// For each feature its value in each row.
    pub(super) columns: Vec<Vec<i8>>,
    pub(super) winners: Vec<Winner>,
    pub(super) weights: Vec<u64>,
}

impl TrainingSet {
    /// The positions of some materials with White to move. All sets must have the same features.
    #[must_use]
    pub fn new<'a>(
        tables: impl IntoIterator<Item = (&'a FeatureSet, &'a MaterialTable<'a>)>,
        options: &RuleOptions,
    ) -> TrainingSet {
        let mut weights: HashMap<(Vec<i8>, Winner), u64> = HashMap::new();
        for (set, table) in tables {
            let _ = table.each(Color::White, |squares, value| {
                let winner = Winner::of(value, Color::White, options);
                *weights.entry((set.values(squares), winner)).or_default() += 1;
                Ok::<(), Infallible>(())
            });
        }
        // Sorted, so that the same positions give the same tree.
        let mut rows: Vec<_> = weights.into_iter().collect();
        rows.sort_unstable();
        let features = rows.first().map_or(0, |((values, _), _)| values.len());
        TrainingSet {
            columns: (0..features).map(|f| rows.iter().map(|((values, _), _)| values[f]).collect()).collect(),
            winners: rows.iter().map(|((_, winner), _)| *winner).collect(),
            weights: rows.iter().map(|&(_, weight)| weight).collect(),
        }
    }

    /// Number of distinct rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.winners.len()
    }

    /// Number of positions.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The least number of positions that any tree on these features misclassifies, because positions with different
    /// winners share all features.
    #[must_use]
    pub fn indistinct(&self) -> u64 {
        let mut counts: HashMap<Vec<i8>, [u64; 3]> = HashMap::new();
        for row in 0..self.rows() {
            let values = self.columns.iter().map(|column| column[row]).collect();
            counts.entry(values).or_default()[self.winners[row] as usize] += self.weights[row];
        }
        counts.values().map(|counts| counts.iter().sum::<u64>() - counts.iter().max().unwrap_or(&0)).sum()
    }

    /// The least and the greatest value of each feature.
    pub(super) fn ranges(&self) -> Vec<(i8, i8)> {
        let ends =
            |column: &Vec<i8>| (column.iter().min().copied().unwrap_or(0), column.iter().max().copied().unwrap_or(0));
        self.columns.iter().map(ends).collect()
    }
}
