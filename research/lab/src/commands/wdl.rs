use clap::Args;
use cli::arguments::JsonArg;
use cli::failure::{Failure, Outcome};
use cli::input::read_text;
use cli::output::{print, print_json};
use doushouqi::game::Record;
use doushouqi::search::WdlCurve;
use report::text::{Table, grouped};
use serde::Serialize;
use std::path::PathBuf;
use train::Scored;

/// The width of a row of the table, in centipawns.
const ROW: i32 = 100;
/// The largest score of the table.
const LAST: i32 = 600;

/// Fit the curve from scores to wins, draws and losses to the games of `dsq match --out`.
///
/// Each move with a score in centipawns is one observation: its score, the pieces on the board, and the result for the
/// mover. The curve has the greatest likelihood of those whose parameters change evenly with the number of pieces. Equal
/// games count once. Prints the parameters (WdlCurve::ENGINE in src/search/wdl.rs), and by score what was observed
/// beside the curve.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq match builtin:default,hash=4MiB builtin:default,hash=4MiB,contempt=1 --nodes 2000 --games 4064 \
                        --openings biased --out games.txt\n  dsq-lab wdl games.txt"
)]
pub struct Wdl {
    /// Files of games.
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Report {
    games: u64,
    moves: u64,
    draws: [f64; 2],
    decision: [f64; 2],
    balance: [f64; 2],
    loss: f64,
}

impl Wdl {
    pub fn run(self) -> Outcome {
        let mut scored = Scored::default();
        for path in &self.games {
            let games = Record::parse_all(&read_text(path)?);
            let games = games.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
            games.iter().for_each(|record| scored.add(record));
        }
        if scored.moves() == 0 {
            return Err(Failure::Input(
                "no finished game has moves with a score, as `dsq match --out` writes them".to_owned(),
            ));
        }
        let curve = scored.fit();
        let loss = scored.loss(&curve);
        if self.json.on {
            let (games, moves) = (scored.games, scored.moves());
            let WdlCurve { draws, decision, balance } = curve;
            return print_json(&Report { games, moves, draws, decision, balance, loss });
        }
        print(format_args!("{} games, {} moves, mean loss {loss:.4}", grouped(scored.games), grouped(scored.moves())))?;
        print(format_args!("{curve:?}"))?;
        let mut table = Table::new(&["score", "moves", "won %", "curve", "drawn %", "curve", "lost %", "curve"]);
        for middle in (-LAST..=LAST).step_by(ROW as usize) {
            let rows = scored.cells.iter().filter(|((cp, _), _)| (middle - ROW / 2..middle + ROW / 2).contains(cp));
            let (mut seen, mut expected) = ([0; 3], [0.0; 3]);
            for (&(cp, pieces), counts) in rows {
                let chances = curve.chances(cp.into(), pieces);
                let moves = counts.iter().sum::<u64>() as f64;
                for (i, chance) in [chances.win, chances.draw, chances.loss].into_iter().enumerate() {
                    seen[i] += counts[i];
                    expected[i] += chance * moves;
                }
            }
            let moves = seen.iter().sum::<u64>();
            let share = |part: f64| format!("{:.1}", 100.0 * part / moves.max(1) as f64);
            let pairs = (0..3).flat_map(|i| [share(seen[i] as f64), share(expected[i])]);
            table.row([middle.to_string(), moves.to_string()].into_iter().chain(pairs));
        }
        print(table.aligned().trim_end())
    }
}
