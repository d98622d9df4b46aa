//! The commands: one file each, which parses arguments, calls a library and prints.

mod datagen;
mod duels;
mod gadgets;
mod general;
mod handicaps;
mod mine;
mod opening_tree;
mod openings;
mod reduce;
mod train;
mod tune;
mod wdl;

use cli::{Entry, Program, command};

/// The program `dsq-lab`.
pub const PROGRAM: Program = Program {
    name: "dsq-lab",
    version: env!("CARGO_PKG_VERSION"),
    about: "Dou Shou Qi (Jungle chess) for researchers: training of the engine, patterns in the endgame tables, boards of any size, and the hardness proof",
    after_help: "Start with:\n  dsq-lab mine --piece-count 2   decision trees that predict the winner\n  \
                 dsq-lab mine zugzwang          positions in which nobody wants to move\n  \
                 dsq-lab duels TABLES           who wins with which animals\n  \
                 dsq-lab handicaps --out FILE   what an animal is worth at the start\n  \
                 dsq-lab opening-tree --out FILE   which first moves keep the balance\n  \
                 dsq-lab gadgets check          decide the lemmas of the hardness proof\n  \
                 dsq-lab general small          solve small boards\n  \
                 dsq-lab datagen --out first.data && dsq-lab train first.toml\n\n\
                 Exit codes and --json are those of dsq.",
    groups: &[("Train", TRAIN), ("Study", STUDY)],
};

const LINES: &str = "Ctrl-C keeps the lines that are printed.";

const TRAIN: &[Entry] = &[
    command!("datagen", datagen::Datagen, "Ctrl-C keeps the games that are finished; the same command continues."),
    command!(
        "train",
        train::Train,
        "Ctrl-C keeps the network and the checkpoint so far; a recipe with `start` continues."
    ),
    command!("openings", openings::OpeningsCommand, LINES),
    command!("tune", tune::Tune, "Ctrl-C keeps the trials that are finished; the same command continues."),
    command!("wdl", wdl::Wdl),
];

const STUDY: &[Entry] = &[
    command!("mine", mine::Mine, "Ctrl-C keeps nothing: results are printed or written at the end."),
    command!("duels", duels::Duels, "Ctrl-C keeps nothing: results are printed or written at the end."),
    command!(
        "handicaps",
        handicaps::Handicaps,
        "Ctrl-C keeps the pairs of games that are finished; the same command continues."
    ),
    command!(
        "opening-tree",
        opening_tree::OpeningTree,
        "Ctrl-C keeps the scores that are written; the same command continues."
    ),
    command!("general", general::General, "Ctrl-C keeps nothing: the result is printed at the end."),
    command!("gadgets", gadgets::Gadgets; "check" => LINES),
    command!(
        "reduce",
        reduce::Reduce,
        "Ctrl-C keeps the lines that are printed; `report` writes its files at the end."
    ),
];
