//! Games, and the number of moves.

use clap::{Args, ValueEnum};
use cli::arguments::{Common, SeedArg, at_least_one};
use cli::failure::Outcome;
use cli::output::{print, print_json};
use doushouqi::tablebase::Solver;
use mining::games::{SelfPlay, SelfPlayer, play, sampled_mobility, table_mobility};
use report::text::grouped;

#[derive(Args)]
pub(super) struct Games {
    /// Number of games.
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// The player of both sides.
    #[arg(long, value_enum, default_value = "minimax")]
    player: PlayerArg,
    /// Depth of minimax in plies.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=8))]
    depth: u32,
    /// Nodes that the engine searches for each move.
    #[arg(long, value_name = "N", default_value = "5000", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Number of random plies at the start of each game.
    #[arg(long, value_name = "N", default_value = "4")]
    opening: u32,
    /// Plies after which a game is stopped as unfinished.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = at_least_one::<u32>())]
    most_plies: u32,
    #[command(flatten)]
    seed: SeedArg,
    /// Also count the moves of endgame positions of 2 to N pieces: all positions of 2 and 3 pieces, and a million
    /// random positions of each larger piece count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    pieces: Option<u8>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum PlayerArg {
    Random,
    /// Minimax with Burnett's evaluation, of depth --depth.
    Minimax,
    /// The engine, with --nodes for each move.
    Engine,
}

impl Games {
    pub(super) fn run(&self) -> Outcome {
        let options = self.common.rules();
        let player = match self.player {
            PlayerArg::Random => SelfPlayer::Random,
            PlayerArg::Engine => SelfPlayer::Engine { nodes: self.nodes },
            PlayerArg::Minimax => SelfPlayer::Minimax { depth: self.depth },
        };
        let series = SelfPlay {
            games: self.games.into(),
            seed: self.seed.seed,
            opening: self.opening,
            most_plies: self.most_plies as usize,
        };
        let s = play(player, options, series);
        if self.common.json.on {
            print_json(&s)?;
        } else {
            print(format_args!(
                "{}, {} games, seed {}, {} plies at random first: {} won, {} lost, {} drawn ({} by repetition, {} without a \
                 move), {} unfinished",
                s.player,
                grouped(s.games),
                s.seed,
                s.opening,
                grouped(s.white_wins),
                grouped(s.black_wins),
                grouped(s.repetitions + s.no_move),
                grouped(s.repetitions),
                grouped(s.no_move),
                grouped(s.unfinished)
            ))?;
            print(format_args!("  plies: mean {:.1}, median {}, longest {}", s.mean_plies, s.median_plies, s.longest))?;
            print(format_args!("  legal moves: mean {:.2}, at most {} in {}", s.moves.mean, s.moves.max, s.moves.fen))?;
        }
        let Some(most) = self.pieces else { return Ok(()) };
        let tables = Solver::solved(options, usize::from(most.min(3)))?;
        for pieces in 2..=usize::from(most) {
            let mobility = match pieces {
                2 | 3 => table_mobility(&tables, pieces),
                _ => sampled_mobility(options, pieces, 1_000_000, self.seed.seed),
            };
            if self.common.json.on {
                print_json(&serde_json::json!({"pieces": pieces, "moves": mobility}))?;
            } else {
                print(format_args!(
                    "{pieces} pieces: legal moves of {} positions: mean {:.2}, at most {} in {}",
                    grouped(mobility.positions),
                    mobility.mean,
                    mobility.max,
                    mobility.fen
                ))?;
            }
        }
        Ok(())
    }
}
