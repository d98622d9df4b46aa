use crate::arguments::{LevelArgs, NoCaptureArg, SearchArgs, game_start};
use crate::games::{notation, read_game, score_text};
use clap::Args;
use cli::arguments::{JsonArg, RulesArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::board::{Color, Position, Rules};
use doushouqi::game::{Conclusion, Game, Record};
use doushouqi::search::{Engine, Info, Limits, Score};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Search for the best moves of a position, or of every position of a game.
///
/// Scores are for the side to move: centipawns (100 is the value of a cat), or the plies to a certain win or loss. "win
/// within 60" is a win by endgame tables whose distance is not known, but at most 60 plies.
///
/// With --game the engine searches every position. The loss of a move is the score of the position before it minus the
/// score after it. The second search is one ply deeper, so small losses mean little.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq analyze --movetime 5000 --multipv 3\n  \
                        dsq analyze --fen '7/7/3e3/7/7/7/3E3/7/7 w' --depth 20 --tables tables\n  \
                        dsq analyze --game games.txt --number 3 --movetime 200 --json")]
pub struct Analyze {
    /// The position, with an optional halfmove clock as third field [default: the initial position]
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// A file of games, of `dsq match --out` or `dsq play` or of a site (docs/files.md), also compressed by gzip; it also sets
    /// the rules and the no-capture limit
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fen", "rules", "multipv", "no_capture_limit"])]
    game: Option<PathBuf>,
    /// The number of the game in the file, from 1
    #[arg(long, value_name = "N", default_value = "1", requires = "game", value_parser = at_least_one::<usize>())]
    number: usize,
    #[command(flatten)]
    level: LevelArgs,
    /// Number of best moves to find.
    #[arg(long, value_name = "K", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=32))]
    multipv: u16,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    no_capture: NoCaptureArg,
    #[command(flatten)]
    json: JsonArg,
}

/// A score as JSON. Exactly one of `cp`, `win_within` and `loss_within` is not null; `win_in` and `loss_in` are the
/// exact distance, if known.
#[derive(Copy, Clone, Serialize)]
struct ScoreReport {
    cp: Option<i32>,
    win_in: Option<u32>,
    loss_in: Option<u32>,
    win_within: Option<u32>,
    loss_within: Option<u32>,
}

impl From<Score> for ScoreReport {
    fn from(score: Score) -> ScoreReport {
        ScoreReport {
            cp: (!score.is_win() && !score.is_loss()).then_some(score.value()),
            win_in: score.win_in(),
            loss_in: score.loss_in(),
            win_within: score.win_within(),
            loss_within: score.loss_within(),
        }
    }
}

#[derive(Serialize)]
struct Report {
    fen: String,
    /// How the game ended, if it is over.
    end: Option<&'static str>,
    lines: Vec<LineReport>,
}

#[derive(Serialize)]
struct LineReport {
    r#move: String,
    score: ScoreReport,
    depth: u32,
    seldepth: u32,
    nodes: u64,
    seconds: f64,
    tbhits: u64,
    pv: Vec<String>,
}

#[derive(Serialize)]
struct MoveReport {
    ply: usize,
    fen: String,
    r#move: String,
    score: ScoreReport,
    best: String,
    best_score: ScoreReport,
    loss: Option<i32>,
    depth: u32,
    pv: Vec<String>,
}

impl Analyze {
    pub fn run(self) -> Outcome {
        let limits = self.level.or_a_second().limits(Duration::ZERO);
        let record = self.game.as_deref().map(|path| read_game(path, self.number)).transpose()?;
        let rules = record.as_ref().map_or_else(|| Rules::new(self.rules.rules), |r| r.game.rules().clone());
        let options = self.search.engine(rules.options())?.multipv(self.multipv.into());
        let mut engine = Engine::new(options);
        match record {
            Some(record) => self.game(&mut engine, &limits, &record),
            None => {
                let game = Game::from_fen(game_start(self.fen.as_deref())?, rules, self.no_capture.get());
                self.position(&mut engine, &limits, &game)
            }
        }
    }

    fn position(&self, engine: &mut Engine, limits: &Limits, game: &Game) -> Outcome {
        let lines = search(engine, game, limits);
        let report = Report {
            fen: game.fen().to_string(),
            end: game.end().map(|end| Conclusion::Rules(end).termination()),
            lines: lines.iter().map(|info| line_report(game.position(), info)).collect(),
        };
        if self.json.on {
            return print_json(&report);
        }
        print(format_args!("{}{}", game.position().to_picture(), report.fen))?;
        if let Some(end) = game.end() {
            return print(Conclusion::Rules(end));
        }
        for (info, line) in lines.iter().zip(&report.lines) {
            print(format_args!(
                "{:>3}. {:<8} depth {}/{}  {}",
                info.multipv,
                score_text(info.score),
                info.depth,
                info.seldepth,
                line.pv.join(" ")
            ))?;
        }
        Ok(())
    }

    fn game(&self, engine: &mut Engine, limits: &Limits, record: &Record) -> Outcome {
        let played = &record.game;
        let mut game = Game::from_fen(played.start_fen(), played.rules().clone(), played.no_capture_limit());
        if !self.json.on {
            print(format_args!("{} - {}", name(&record.white, "White"), name(&record.black, "Black")))?;
        }
        let mut here = search(engine, &game, limits);
        for (ply, &mv) in played.moves().iter().enumerate() {
            let (before, fen) = (game.position().clone(), game.fen().to_string());
            game.play(mv).map_err(|error| Failure::Input(error.to_string()))?;
            let next = search(engine, &game, limits);
            let Some(best) = here.first() else { break };
            let score = after(&game, next.first(), before.turn());
            // The move that the search chose has no loss.
            let loss = match (ScoreReport::from(best.score).cp, ScoreReport::from(score).cp) {
                _ if best.pv[0] == mv => Some(0),
                (Some(best), Some(score)) => Some((best - score).max(0)),
                _ => None,
            };
            let report = MoveReport {
                ply: ply + 1,
                fen,
                r#move: mv.notation(&before),
                score: score.into(),
                best: best.pv[0].notation(&before),
                best_score: best.score.into(),
                loss,
                depth: best.depth,
                pv: notation(&before, &best.pv),
            };
            if self.json.on {
                print_json(&report)?;
            } else {
                let lost = match loss {
                    Some(0) => String::new(),
                    Some(loss) => format!("loses {}.{:02}", loss / 100, loss % 100),
                    None if best.score == score => String::new(),
                    None => format!("from {}", score_text(best.score)),
                };
                let better = if lost.is_empty() { String::new() } else { format!("better {}", report.pv.join(" ")) };
                let (turn, text) = (before.turn(), &report.r#move);
                let line = format!("{:>3} {turn} {text:<6} {:<12} {lost:<14} {better}", ply + 1, score_text(score));
                print(line.trim_end())?;
            }
            here = next;
        }
        if self.json.on { Ok(()) } else { print(record.conclusion()) }
    }
}

fn search(engine: &mut Engine, game: &Game, limits: &Limits) -> Vec<Info> {
    engine.search(game, limits).run().lines
}

/// The score of the last move for `mover`, the side that made it, from the search of the position after it.
fn after(game: &Game, next: Option<&Info>, mover: Color) -> Score {
    let Some(next) = next else {
        return match game.end().and_then(|end| end.winner()) {
            Some(winner) if winner == mover => Score::win(1),
            Some(_) => Score::loss(1),
            None => Score::estimate(0),
        };
    };
    next.score.before_move()
}

fn line_report(position: &Position, info: &Info) -> LineReport {
    let pv = notation(position, &info.pv);
    LineReport {
        r#move: pv.first().cloned().unwrap_or_default(),
        score: info.score.into(),
        depth: info.depth,
        seldepth: info.seldepth,
        nodes: info.nodes,
        seconds: info.time.as_secs_f64(),
        tbhits: info.tbhits,
        pv,
    }
}

fn name<'a>(name: &'a str, otherwise: &'a str) -> &'a str {
    if name.is_empty() { otherwise } else { name }
}
