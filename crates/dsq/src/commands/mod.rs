//! The commands: one file each, which parses arguments, calls a library and prints.

mod analyze;
mod bench;
mod bundle;
mod cluster;
mod convert;
mod export;
mod generate;
mod gtp;
mod matches;
mod perft;
mod play;
mod probe;
mod puzzles;
mod repack;
mod reproduce;
mod serve;
mod solve;
mod stats;
mod uci;
mod verify;

use cli::{Entry, Program, command};

/// The program `dsq`.
pub const PROGRAM: Program = Program {
    name: "dsq",
    version: env!("CARGO_PKG_VERSION"),
    about: "Dou Shou Qi (Jungle chess): an engine, perft, endgame tables, and the published results recomputed",
    after_help: "Start with:\n  dsq serve --open           tables and engine in a browser\n  dsq reproduce              recompute the published tables and compare, cell by cell\n  \
                 dsq perft 7                count move sequences from the start\n  \
                 dsq solve --pieces 4       solve every endgame of 2 to 4 pieces\n  \
                 dsq solve --material EPvLR solve one endgame\n  \
                 dsq generate --pieces 4 --out tables\n  \
                 dsq play                   a game against the engine; dsq uci for other programs\n  \
                 dsq match builtin:default builtin:burnett --movetime 100\n  \
                 dsq bench compare --pieces 3    solve on CPU and GPU and compare\n\n\
                 Exit codes: 0 success, 1 a comparison or verification failed, 2 wrong input,\n\
                 3 the environment (memory, disk), 130 interrupted by Ctrl-C.\n\
                 With --json every line of stdout is one JSON object.\n\n\
                 Training, patterns in the tables, boards of any size and the hardness proof: dsq-lab.",
    groups: &[
        ("Play", PLAY),
        ("Endgame tables", TABLES),
        ("Measure", MEASURE),
        (
            "Study",
            &[command!(
                "reproduce",
                reproduce::Reproduce,
                "Ctrl-C keeps nothing: the tables are printed or written at the end."
            )],
        ),
        ("Explore", &[command!("serve", serve::Serve)]),
    ],
};

const LINES: &str = "Ctrl-C keeps the lines that are printed.";
const CLASSES: &str = "Ctrl-C keeps the classes that are finished; the same command resumes.";

const PLAY: &[Entry] = &[
    command!("play", play::Play, "Ctrl-C adds the game to ~/.local/state/dsq/games.txt."),
    command!("puzzles", puzzles::Puzzles, LINES),
    command!("analyze", analyze::Analyze, LINES),
    command!(
        "match",
        matches::MatchCommand,
        "Ctrl-C keeps the games that are finished: they count, and are in the file of --out."
    ),
    command!("uci", uci::Uci),
    command!("gtp", gtp::Gtp),
    command!("convert", convert::Convert),
];

const TABLES: &[Entry] = &[
    command!("solve", solve::Solve, LINES),
    command!("generate", generate::Generate, CLASSES),
    command!("probe", probe::Probe),
    command!("stats", stats::StatsCommand),
    command!("verify", verify::Verify, "Ctrl-C keeps the classes in the file of --record, and nothing without it."),
    command!("repack", repack::Repack, "Ctrl-C keeps the files that are finished; the same command resumes."),
    command!("bundle", bundle::BundleCommand),
    command!("export", export::Export, "Ctrl-C leaves an incomplete file: rows are written as they are computed."),
    command!(
        "cluster",
        cluster::Cluster;
        "solve" => CLASSES,
        "check" => "Ctrl-C keeps nothing: the result is printed at the end."
    ),
];

const MEASURE: &[Entry] = &[
    command!("perft", perft::Perft, "Ctrl-C keeps nothing: the count is printed at the end."),
    command!("bench", bench::Bench, "Ctrl-C keeps nothing: the figures are printed at the end."; "compare" => LINES),
];
