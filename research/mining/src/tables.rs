//! The results of the study as tables for the program and the report.

use crate::animals::Fit;
use crate::games::GameStatistics;
use crate::patterns::{Draws, Fortresses, Parity, Swap};
use crate::printed::PrintedPosition;
use crate::trees::Sizes;
use crate::zugzwang::{Deepest, Zugzwangs};
use doushouqi::board::Animal;
use report::plot::{PlotError, bar_chart};
use report::text::{Table, grouped};

/// A share as text: 0.1234 as 12.34 %.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Sizes of trees and of compressed values.
pub fn sizes(sizes: &[Sizes]) -> Table {
    let mut table = Table::new(&[
        "<material",
        "<class",
        "positions",
        "1",
        "10",
        "30",
        "100",
        "leaves",
        "questions",
        "wrong",
        "tree bits",
        "winner bits",
        "distance bits",
    ]);
    for s in sizes {
        let [one, ten, thirty, hundred] = [s.accuracy_1, s.accuracy_10, s.accuracy_30, s.accuracy_100].map(percent);
        table.row([
            s.material.clone(),
            s.class.clone(),
            grouped(s.positions),
            one,
            ten,
            thirty,
            hundred,
            grouped(s.leaves as u64),
            s.depth.to_string(),
            s.misclassified.to_string(),
            grouped(s.tree_bits),
            grouped(s.table_bits),
            grouped(s.distance_bits),
        ]);
    }
    table
}

/// The draws by material.
pub fn draws<'a>(draws: impl IntoIterator<Item = &'a Draws>) -> Table {
    let mut table = Table::new(&["<material", "materials alike", "draws", "of positions", "share"]);
    for d in draws {
        let numbers = [d.materials as u64, d.draws, d.positions].map(grouped);
        let [materials, drawn, positions] = numbers;
        table.row([d.material.clone(), materials, drawn, positions, percent(d.share)]);
    }
    table
}

/// Swaps of one animal for another.
pub fn swaps<'a>(swaps: impl IntoIterator<Item = &'a Swap>) -> Table {
    let mut table =
        Table::new(&["<side", "<animals", "positions turned", "of", "share", "stronger does worse", "<most in"]);
    for s in swaps {
        table.row([
            s.side.to_string(),
            format!("{} or {}", s.stronger, s.weaker),
            grouped(s.turned),
            grouped(s.positions),
            percent(s.share),
            grouped(s.worse),
            format!("{}, {}", s.most, percent(s.most_share)),
        ]);
    }
    table
}

/// The winners by the parity of a distance.
pub fn parity<'a>(parities: impl IntoIterator<Item = &'a Parity>) -> Table {
    let mut table = Table::new(&["<material", "<pair", "White wins, even", "odd", "bits a position"]);
    for p in parities {
        let gain = format!("{:.4}", p.gain);
        table.row([p.material.clone(), p.pair.clone(), percent(p.white_even), percent(p.white_odd), gain]);
    }
    table
}

/// The fortresses.
pub fn fortresses<'a>(fortresses: impl IntoIterator<Item = &'a Fortresses>) -> Table {
    let mut table = Table::new(&[
        "<material",
        "materials alike",
        "<holder",
        "draws",
        "fortresses",
        "share",
        "two squares",
        "home",
        "middle",
        "far",
        "<$such as",
    ]);
    for f in fortresses {
        let numbers = [f.draws, f.fortresses, f.two_squares, f.home, f.middle, f.far].map(grouped);
        let [draws, fortresses, two_squares, home, middle, far] = numbers;
        table.row([
            f.material.clone(),
            f.materials.to_string(),
            f.holder.to_string(),
            draws,
            fortresses,
            percent(f.share),
            two_squares,
            home,
            middle,
            far,
            f.fen.clone().unwrap_or_default(),
        ]);
    }
    table
}

/// The mutual zugzwangs.
pub fn zugzwangs(all: &[Zugzwangs]) -> Table {
    let mut table = Table::new(&["pieces", "positions", "White loses", "White draws", "materials that have any"]);
    for z in all {
        let numbers = [z.pieces as u64, z.positions, z.lost, z.drawn, z.materials].map(grouped);
        table.row(numbers);
    }
    table
}

/// The deepest mutual zugzwangs.
pub fn deepest_zugzwangs(all: &[Zugzwangs]) -> Table {
    let mut table = Table::new(&["pieces", "<$position", "<White to move", "<Black to move"]);
    for z in all {
        for d in [&z.deepest_lost, &z.deepest_drawn].into_iter().flatten() {
            let Deepest { fen, plies, other_plies, .. } = d;
            let white = plies.map_or("draw".to_owned(), |plies| format!("White loses in {plies} plies"));
            let black = format!("Black loses in {other_plies} plies");
            table.row([z.pieces.to_string(), fen.clone(), white, black]);
        }
    }
    table
}

/// The positions printed in 2014, with the values of the tables.
pub fn printed_positions(positions: &[PrintedPosition]) -> Table {
    let mut table = Table::new(&["<$position", "<paper", "<table", "<printed trees"]);
    for p in positions {
        let plies = |plies: Option<u16>| plies.map_or(String::new(), |plies| format!(", {plies} plies"));
        let trees: Vec<String> = p.trees.iter().map(|(name, says)| format!("({name}) {says}")).collect();
        table.row([
            p.fen.to_owned(),
            format!("{}{}", p.printed, plies(p.printed_plies)),
            format!("{}{}", p.winner, plies(p.plies)),
            trees.join(", "),
        ]);
    }
    table
}

/// The results and lengths of games.
pub fn games<'a>(all: impl IntoIterator<Item = &'a GameStatistics>) -> Table {
    let mut table = Table::new(&[
        "<player",
        "games",
        "seed",
        "random plies",
        "White wins",
        "Black wins",
        "drawn",
        "unfinished",
        "plies, mean",
        "median",
        "longest",
        "moves, mean",
        "most",
    ]);
    for s in all {
        let share = |games: u64| percent(games as f64 / s.games as f64);
        table.row([
            s.player.clone(),
            grouped(s.games),
            s.seed.to_string(),
            s.opening.to_string(),
            share(s.white_wins),
            share(s.black_wins),
            percent(s.draw_share),
            share(s.unfinished),
            format!("{:.1}", s.mean_plies),
            s.median_plies.to_string(),
            s.longest.to_string(),
            format!("{:.2}", s.moves.mean),
            s.moves.max.to_string(),
        ]);
    }
    table
}

/// The name of a coefficient of the model of the animals' values.
fn animal_name(name: &str) -> String {
    match *name.chars().collect::<Vec<_>>() {
        [letter] => Animal::from_letter(letter).map_or_else(|| name.to_owned(), |animal| animal.to_string()),
        _ if name == "move" => "to move".to_owned(),
        _ => name.to_owned(),
    }
}

/// The values of the animals, and of the animals that face each other.
#[must_use]
pub fn animals(fits: &[Fit]) -> Table {
    let mut table = Table::new(&["pieces", "<value of", "cats", "logit", "standard error", "score", "R²"]);
    for fit in fits {
        for c in &fit.coefficients {
            table.row([
                fit.pieces.to_string(),
                animal_name(&c.name),
                format!("{:.2}", c.cats),
                format!("{:.3}", c.value),
                format!("{:.3}", c.error),
                percent(c.score),
                format!("{:.4}", fit.r_squared),
            ]);
        }
    }
    table
}

/// The values of the last model without pairs as bars, the most valuable first.
pub fn animals_plot(fits: &[Fit]) -> Result<String, PlotError> {
    let Some(fit) = fits.iter().rfind(|fit| fit.coefficients.len() == 1 + Animal::COUNT) else {
        return bar_chart("What each animal is worth", "", "value in cats", &[]);
    };
    let mut values: Vec<_> = fit.coefficients.iter().collect();
    values.sort_by(|a, b| b.value.total_cmp(&a.value));
    let bars: Vec<(String, f64)> =
        values.iter().map(|c| (format!("{} {:.2}", animal_name(&c.name), c.cats), c.cats)).collect();
    let title = format!("What each animal is worth in endgames of {} pieces", fit.pieces);
    bar_chart(&title, "\"to move\": the value of having the next move", "value in cats", &bars)
}

/// The page on the values of the animals.
#[must_use]
pub fn animals_page(fits: &[Fit]) -> String {
    let mut page = "# The value of each animal\n\n\
        Written by `dsq-lab mine animals --pieces 5 results/six-pieces.jsonl --out results`. The values come from all endgames of a number of pieces. For\n\
        every material with White to move, the animals on the board explain the score s (a win 1, a draw 1/2, over all positions):\n\
        `ln(s / (1 - s)) = m + White's values - Black's values`, by least squares, each material counting once. The sample is complete,\n\
        so the standard errors measure how well one value per animal describes it (clustered by classes of equivalent materials).\n\n\
        ![The values as bars](animals.svg)\n"
        .to_owned();
    let of_pairs = |pairs: bool| fits.iter().filter(move |fit| (fit.coefficients.len() > 1 + Animal::COUNT) == pairs);
    for fit in of_pairs(false) {
        page += &format!(
            "\n## {} pieces\n\n{} materials in {} classes. The model explains {} of the variance. The last column is the score of a side \
             whose only advantage is this animal, or the move.\n\n",
            fit.pieces,
            grouped(fit.materials as u64),
            grouped(fit.classes as u64),
            percent(fit.r_squared)
        );
        let mut table = Table::new(&["<value of", "in cats", "logit", "standard error", "score"]);
        let mut sorted: Vec<_> = fit.coefficients.iter().collect();
        sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
        for c in sorted {
            table.row([
                animal_name(&c.name),
                format!("{:.2}", c.cats),
                format!("{:.3}", c.value),
                format!("{:.3}", c.error),
                percent(c.score),
            ]);
        }
        page += &table.markdown();
    }
    page += "\n## Pairs of animals\n\nThe model with one more value for each pair of animals: the gain (in logits) of the animal of the row when it \
             faces the animal of the column, beyond the average values of both. The other side loses the same.\n";
    for fit in of_pairs(true) {
        page += &format!(
            "\n{} pieces; the model explains {} of the variance, and the largest standard error is {:.3}.\n\n",
            fit.pieces,
            percent(fit.r_squared),
            fit.coefficients.iter().map(|c| c.error).fold(0.0, f64::max)
        );
        let mut table = Table::new(&["<", "L", "T", "P", "D", "W", "C", "R"]);
        for row in "ELTPDWC".chars() {
            let cell = |column: char| {
                let pair = format!("{row}v{column}");
                let found = fit.coefficients.iter().find(|c| c.name == pair);
                found.map_or_else(String::new, |c| format!("{:.3}", c.value))
            };
            table.row(std::iter::once(animal_name(&row.to_string())).chain("LTPDWCR".chars().map(cell)));
        }
        page += &table.markdown();
    }
    page
}
