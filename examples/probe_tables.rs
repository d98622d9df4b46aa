//! Looks a position up in a folder of tables: its value, and that of every move, best first.
//!
//! ```sh
//! dsq generate --pieces 3 --out tables
//! cargo run --release --example probe_tables -- tables '7/7/3e3/7/7/7/3E3/7/7 w'
//! ```

use doushouqi::board::{Position, Rules};
use doushouqi::tablebase::TableSet;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(dir), Some(fen)) = (arguments.next(), arguments.next()) else {
        return Err("say a folder of tables and a position in FEN".into());
    };
    let position: Position = fen.parse()?;
    let tables = TableSet::open(Path::new(&dir))?;
    let rules = Rules::new(*tables.rules());
    println!("{position}");
    let Some(value) = tables.probe(&position)? else {
        return Err("the tables have fewer pieces than this position".into());
    };
    println!("{value}");
    for (mv, verdict) in tables.moves(&position, &rules)?.unwrap_or_default() {
        println!("{:6} {verdict:?}", mv.notation(&position));
    }
    Ok(())
}
