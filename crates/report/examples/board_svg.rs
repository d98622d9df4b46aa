//! Draws a position as SVG. The picture in the README shows the initial position.
//!
//! ```sh
//! cargo run --release --example board_svg > docs/board.svg
//! ```

use doushouqi::board::{Position, fen};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let position: Position = std::env::args().nth(1).as_deref().unwrap_or(fen::START).parse()?;
    print!("{}", report::board::picture(&position));
    Ok(())
}
