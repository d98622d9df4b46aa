//! `dsq --help`: the commands by what they are for.

use clap::Command;
use clap::builder::StyledStr;
use std::fmt::Write;

/// The commands of each group. What is in none is listed at the end.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Play", &["play", "analyze", "match", "uci"]),
    ("Endgame tables", &["solve", "generate", "probe", "stats", "verify", "repack", "export", "compare", "cluster"]),
    ("Measure", &["perft", "bench", "tune", "devices"]),
    ("Study", &["reproduce", "mine", "general", "gadgets", "reduce"]),
    ("Explore", &["serve"]),
];

/// The command line with its commands in groups.
pub fn grouped(command: Command) -> Command {
    let list = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{options}}{{after-help}}"
    ))
}

/// The groups with their commands and what each is for.
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

/// One group, if any of its commands is there.
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
