//! `dsq --help`: the commands grouped by purpose.

use clap::Command;
use clap::builder::StyledStr;
use std::fmt::Write;

/// The commands of each group. Commands in no group are listed at the end.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Play", &["play", "puzzles", "analyze", "match", "openings", "uci", "gtp", "convert"]),
    (
        "Endgame tables",
        &["solve", "generate", "probe", "stats", "verify", "repack", "bundle", "export", "compare", "cluster"],
    ),
    ("Measure", &["perft", "bench", "devices"]),
    ("Train", &["tune", "datagen", "train"]),
    ("Study", &["reproduce", "mine", "general", "gadgets", "reduce"]),
    ("Explore", &["serve"]),
];

/// The effect of Ctrl-C on each command that may run longer than a minute. `docs/commands.md` contains the same table.
const ON_CTRL_C: [(&str, &str); 23] = [
    ("analyze", "Ctrl-C keeps the lines that are printed."),
    ("bench", "Ctrl-C keeps nothing: the figures are printed at the end."),
    ("cluster solve", "Ctrl-C keeps the classes that are finished; the same command resumes."),
    ("cluster check", "Ctrl-C keeps nothing: the result is printed at the end."),
    ("compare", "Ctrl-C keeps the lines that are printed."),
    ("datagen", "Ctrl-C keeps the games that are finished; the same command continues."),
    ("export", "Ctrl-C leaves an incomplete file: rows are written as they are computed."),
    ("gadgets check", "Ctrl-C keeps the lines that are printed."),
    ("general", "Ctrl-C keeps nothing: the result is printed at the end."),
    ("generate", "Ctrl-C keeps the classes that are finished; the same command resumes."),
    ("match", "Ctrl-C keeps the games that are finished: they count, and are in the file of --save."),
    ("mine", "Ctrl-C keeps nothing: results are printed or written at the end."),
    ("openings", "Ctrl-C keeps the lines that are printed."),
    ("perft", "Ctrl-C keeps nothing: the count is printed at the end."),
    ("play", "Ctrl-C loses the game unless it was saved."),
    ("puzzles", "Ctrl-C keeps the lines that are printed."),
    ("reduce", "Ctrl-C keeps the lines that are printed; `report` writes its files at the end."),
    ("repack", "Ctrl-C keeps the files that are finished; the same command resumes."),
    ("reproduce", "Ctrl-C keeps nothing: the tables are printed or written at the end."),
    ("solve", "Ctrl-C keeps the lines that are printed."),
    ("train", "Ctrl-C keeps the network and the checkpoint so far; a recipe with `start` continues."),
    ("tune", "Ctrl-C keeps nothing: the weights are written at the end."),
    ("verify", "Ctrl-C keeps the classes in the file of --record, and nothing without it."),
];

/// Adds the effect of Ctrl-C to the help of a command, given by its words.
fn with_ctrl_c(command: Command, words: &[&str], text: &str) -> Command {
    if let [word, rest @ ..] = words {
        return command.mut_subcommand(word, |command| with_ctrl_c(command, rest, text));
    }
    let after = command.get_after_help().map_or_else(String::new, |help| format!("{help}\n\n"));
    command.after_help(format!("{after}{text}"))
}

/// The command line with its commands in groups, and the effect of Ctrl-C in the help of each.
pub fn grouped(command: Command) -> Command {
    let add = |command: Command, (name, text): &(&str, &str)| {
        with_ctrl_c(command, &name.split(' ').collect::<Vec<_>>(), text)
    };
    let command = ON_CTRL_C.iter().fold(command, add);
    let list = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{options}}{{after-help}}"
    ))
}

/// The text of the groups with their commands and descriptions.
fn list(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let commands: Vec<&Command> = names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        group(&mut text, title, &commands, command);
    }
    let is_grouped = |name: &str| GROUPS.iter().any(|group| group.1.contains(&name));
    let others: Vec<&Command> =
        command.get_subcommands().filter(|c| !c.is_hide_set() && !is_grouped(c.get_name())).collect();
    group(&mut text, "More", &others, command);
    let _ = writeln!(text, "{header}Options:{header:#}");
    text
}

/// Adds one group, if it has a command.
fn group(text: &mut String, title: &str, commands: &[&Command], all: &Command) {
    let (header, literal) = (all.get_styles().get_header(), all.get_styles().get_literal());
    let width = all.get_subcommands().map(|c| c.get_name().len()).max().unwrap_or(0);
    if commands.is_empty() {
        return;
    }
    let _ = writeln!(text, "{header}{title}:{header:#}");
    for command in commands {
        let (name, about) = (command.get_name(), command.get_about().map(StyledStr::to_string).unwrap_or_default());
        let _ = writeln!(text, "  {literal}{name}{literal:#}{}  {about}", " ".repeat(width - name.len()));
    }
    text.push('\n');
}
