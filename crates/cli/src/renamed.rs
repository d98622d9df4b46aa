//! Earlier spellings of commands and options.

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// The earlier spellings, and the present ones. DIR stands for any argument that is no option.
const RENAMED: &[(&str, &str)] = &[
    ("dsq cluster plan --nodes", "dsq cluster plan --jobs"),
    ("dsq compare", "dsq bench compare"),
    ("dsq completions", "dsq help --completions"),
    ("dsq datagen", "dsq-lab datagen"),
    ("dsq devices", "dsq bench devices"),
    ("dsq export --features", "dsq export --with-features"),
    ("dsq gadgets", "dsq-lab gadgets"),
    ("dsq general", "dsq-lab general"),
    ("dsq man", "dsq help --man --out"),
    ("dsq match --save", "dsq match --out"),
    ("dsq mine", "dsq-lab mine"),
    ("dsq openings", "dsq-lab openings"),
    ("dsq perft --hash", "dsq perft --memory"),
    ("dsq play --load", "dsq play --game"),
    ("dsq puzzles --pieces", "dsq puzzles --piece-count"),
    ("dsq reduce", "dsq-lab reduce"),
    ("dsq serve --rate", "dsq serve --max-rate"),
    ("dsq train", "dsq-lab train"),
    ("dsq tune", "dsq-lab tune"),
    ("dsq verify --full", "dsq verify"),
    ("dsq-lab completions", "dsq-lab help --completions"),
    ("dsq-lab datagen --endgames", "dsq-lab datagen --tables"),
    ("dsq-lab gadgets show --svg", "dsq-lab gadgets show --out"),
    ("dsq-lab general show --svg", "dsq-lab general show --out"),
    ("dsq-lab man", "dsq-lab help --man --out"),
    ("dsq-lab mine --pieces", "dsq-lab mine --piece-count"),
    ("dsq-lab mine draws --pieces", "dsq-lab mine draws --piece-count"),
    ("dsq-lab mine fortresses --pieces", "dsq-lab mine fortresses --piece-count"),
    ("dsq-lab mine games --endgames", "dsq-lab mine games --pieces"),
    ("dsq-lab mine parity --pieces", "dsq-lab mine parity --piece-count"),
    ("dsq-lab mine report DIR", "dsq-lab mine report --out DIR"),
    ("dsq-lab mine sizes --pieces", "dsq-lab mine sizes --piece-count"),
    ("dsq-lab mine swaps --pieces", "dsq-lab mine swaps --piece-count"),
    ("dsq-lab reduce --svg", "dsq-lab reduce --out"),
    ("dsq-lab reduce --text", "dsq-lab reduce --out"),
    ("dsq-lab reduce report DIR", "dsq-lab reduce report --out DIR"),
];

/// The text for an error that rejects an earlier spelling.
pub(crate) fn explain(program: &Command, words: &[OsString], error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let Some(ContextValue::String(rejected)) = kinds.into_iter().find_map(|kind| error.get(kind)) else { return None };
    let command = command_of(program, words);
    let is_old = |old: &str| {
        let rest = old.strip_prefix(&command).and_then(|rest| rest.strip_prefix(' '));
        rest == Some(rejected) || rest == Some("DIR") && !rejected.starts_with('-')
    };
    let (old, new) = RENAMED.iter().find(|(old, _)| is_old(old))?;
    let research = new.strip_prefix("dsq-lab ").filter(|_| program.get_name() != "dsq-lab");
    let checkout =
        research.map_or(String::new(), |new| format!(" (in a checkout: cargo run --release -p dsq-lab -- {new})"));
    Some(format!("`{old}` is now `{new}`{checkout}"))
}

/// The program and the commands that these words name.
fn command_of(program: &Command, words: &[OsString]) -> String {
    let (mut command, mut names) = (program, program.get_name().to_owned());
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
            names = format!("{names} {word}");
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::RENAMED;

    #[test]
    fn every_earlier_spelling_is_listed_once_in_order() {
        assert!(RENAMED.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
