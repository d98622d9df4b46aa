//! `--help`: the commands grouped by purpose.

use clap::Command;
use clap::builder::StyledStr;
use std::fmt::Write;

/// The title of a group, and its commands.
type Group = (&'static str, &'static [&'static str]);

/// Adds the effect of Ctrl-C to the help of a command, given by its words.
fn with_ctrl_c(command: Command, words: &[&str], text: &str) -> Command {
    if let [word, rest @ ..] = words {
        return command.mut_subcommand(word, |command| with_ctrl_c(command, rest, text));
    }
    let after = command.get_after_help().map_or_else(String::new, |help| format!("{help}\n\n"));
    command.after_help(format!("{after}{text}"))
}

/// The command line with its commands in groups, and the effect of Ctrl-C in the help of each.
pub(crate) fn grouped(command: Command, groups: &[Group], on_ctrl_c: &[(&str, &str)]) -> Command {
    let add = |command: Command, (name, text): &(&str, &str)| {
        with_ctrl_c(command, &name.split(' ').collect::<Vec<_>>(), text)
    };
    let command = on_ctrl_c.iter().fold(command, add);
    let list = list(&command, groups);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{options}}{{after-help}}"
    ))
}

/// The text of the groups with their commands and descriptions.
fn list(command: &Command, groups: &[Group]) -> String {
    let header = command.get_styles().get_header();
    let mut text = String::new();
    for (title, names) in groups {
        let commands: Vec<&Command> = names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        group(&mut text, title, &commands, command);
    }
    let is_grouped = |name: &str| groups.iter().any(|group| group.1.contains(&name));
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
