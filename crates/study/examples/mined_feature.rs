//! A custom feature of positions, and how well it predicts the winner: for each value of the feature, the numbers of
//! positions won by White, drawn, and won by Black, over all positions of a material.
//!
//! ```sh
//! cargo run --release --example mined_feature -- LvE
//! ```

use doushouqi::board::geometry::DEN;
use doushouqi::board::{Color, Piece, RuleOptions, Square};
use doushouqi::tablebase::{Material, Solver};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use study::Winner;

/// White's lead in the race: the steps of Black's nearest piece to White's den minus those of White's to Black's den.
fn lead(pieces: &[Piece], squares: &[Square]) -> i32 {
    let nearest = |side: Color| {
        let own = pieces.iter().zip(squares).filter(|(piece, _)| piece.color == side);
        own.map(|(_, square)| square.distance(DEN[!side]) as i32).min().unwrap_or(0)
    };
    nearest(Color::Black) - nearest(Color::White)
}

fn main() -> Result<(), Box<dyn Error>> {
    let material: Material = std::env::args().nth(1).as_deref().unwrap_or("LvE").parse()?;
    let rules = RuleOptions::PAPER;
    let solver = Solver::solved_material(&rules, material)?;
    let table = solver.material_table(material).ok_or("it was not solved")?;

    let mut counts: BTreeMap<i32, BTreeMap<Winner, u64>> = BTreeMap::new();
    let _ = table.each(Color::White, |squares, value| {
        let winner = Winner::of(value, Color::White, &rules);
        *counts.entry(lead(table.pieces(), squares)).or_default().entry(winner).or_default() += 1;
        Ok::<(), Infallible>(())
    });
    println!("{material}, White to move: positions by White's lead in the race to the dens");
    println!("{:>5} {:>10} {:>10} {:>10}", "lead", "White", "draw", "Black");
    for (lead, by_winner) in &counts {
        let count = |winner| by_winner.get(&winner).copied().unwrap_or(0);
        println!("{lead:>5} {:>10} {:>10} {:>10}", count(Winner::White), count(Winner::Draw), count(Winner::Black));
    }

    // The positions of a prediction that names, for each lead, its more frequent winner.
    let most: u64 = counts.values().map(|by_winner| by_winner.values().max().copied().unwrap_or(0)).sum();
    let all: u64 = counts.values().flat_map(BTreeMap::values).sum();
    println!("the lead alone tells the winner of {:.1} % of {all} positions", 100.0 * most as f64 / all as f64);
    Ok(())
}
