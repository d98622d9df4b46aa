use crate::failure::failure_of_session;
use clap::Args;
use cli::failure::Outcome;
use std::io::{self, BufReader};

/// Run the engine under UCI, the protocol of chess GUIs and match runners, on standard input and output.
///
/// Options: Hash (MiB), Threads, MultiPV, Ponder, Move Overhead (ms), Contempt (centipawns that the engine gives up to
/// avoid a draw), Evaluation (network, burnett), EvalFile (a network), Rules (as --rules elsewhere),
/// NoCaptureLimit (0: none), TablePath (tables with distances, of results alone, and under a no-capture limit, one directory
/// of each kind, separated by `:`, on Windows `;`), TableProbeDepth (the least depth at which the search probes tables of more than four pieces),
/// OnDemandCache (classes counted from these tables). A FEN contains the board, the side to move and optionally the
/// halfmove clock and the move number; moves are in coordinates. The engine also accepts Mistboard's commands (r or b to
/// move, reps). It reports malformed input in an info string. A search ends with the input; the command
/// wait waits for its end.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq uci\n  dsq match 'dsq uci' builtin:burnett --movetime 100\n\n\
                        An exchange:\n  > position startpos moves a3b3\n  > go movetime 1000\n  \
                        info depth 1 ... score cp 13 ... pv g7f7\n  bestmove g7f7\n  > quit\n\n\
                        In a script:\n  printf 'go depth 12\\nwait\\n' | dsq uci")]
pub struct Uci {}

impl Uci {
    pub fn run(self) -> Outcome {
        let input = BufReader::new(io::stdin());
        protocols::uci::serve(input, io::stdout()).map_err(failure_of_session)
    }
}
