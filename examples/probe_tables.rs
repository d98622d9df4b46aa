//! Looks a position up in a directory of tables: its value, and the value of every move, best first.
//!
//! ```sh
//! dsq generate --pieces 3 --out tables
//! cargo run --release --example probe_tables -- tables '7/7/3e3/7/7/7/3E3/7/7 w'
//! ```

use doushouqi::board::{Position, RuleOptions};
use doushouqi::tablebase::{Probe, TableSet, Value, Wdl};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(dir), Some(fen)) = (arguments.next(), arguments.next()) else {
        return Err("give a directory of tables and a position in FEN".into());
    };
    let position: Position = fen.parse()?;
    let tables = TableSet::open(Path::new(&dir))?.prober(&RuleOptions::PAPER)?;
    print!("{}", position.to_picture());
    let value = tables.value(&position)?.ok_or("the tables have fewer pieces than this position")?;
    println!("{}", text(value));
    for (mv, value) in tables.moves(&position)?.unwrap_or_default() {
        println!("{:6} {}", mv.notation(&position), text(value));
    }
    Ok(())
}

fn text(value: Value) -> String {
    match (value.wdl, value.dtw) {
        (Wdl::Win, Some(plies)) => format!("win in {plies}"),
        (Wdl::Loss, Some(plies)) => format!("loss in {plies}"),
        _ => "draw".to_owned(),
    }
}
