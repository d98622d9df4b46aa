//! The reference: all commands and options as a page of Markdown.

use crate::program::Program;
use clap::builder::StyledStr;
use clap::{Arg, Command};
use std::fmt::Write;

/// The page of a program.
pub(crate) fn page(program: &Program, mut command: Command) -> String {
    command.build();
    let name = program.name;
    let mut page = format!(
        "# Reference of `{name}`\n\nWritten by `{name} help --reference`. `{name} help COMMAND` prints the same text with more details.\n"
    );
    for (title, entries) in program.groups {
        let _ = write!(page, "\n## {title}\n");
        for command in entries.iter().filter_map(|entry| command.find_subcommand(entry.name)) {
            section(&mut page, command, "###");
        }
    }
    let _ = write!(page, "\n## More\n");
    command.find_subcommand("help").into_iter().for_each(|command| section(&mut page, command, "###"));
    page
}

/// Adds a command and its subcommands.
fn section(page: &mut String, command: &Command, heading: &str) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = write!(page, "\n{heading} `{name}`\n\n");
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let _ = write!(page, "{}\n\n", about.to_string().trim_end());
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let _ = write!(page, "```text\n{usage}\n");
    if let Some(after) = command.get_after_help() {
        let _ = write!(page, "\n{}\n", after.to_string().trim_end());
    }
    page.push_str("```\n");
    let is_own =
        |argument: &&Arg| !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str());
    let options = command.get_arguments().filter(|argument| !argument.is_positional());
    let rows: String = command.get_positionals().chain(options).filter(is_own).map(row).collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n| argument | meaning |\n|---|---|\n{rows}");
    }
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        section(page, subcommand, &format!("{heading}#"));
    }
}

/// The row of an argument.
fn row(argument: &Arg) -> String {
    let help = argument.get_help().map(StyledStr::to_string).unwrap_or_default();
    let mut text = help.trim_end_matches('.').to_owned();
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && !argument.is_hide_possible_values_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(text, ": {}", values.join(", "));
    }
    text.push('.');
    let default: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !default.is_empty() && argument.get_action().takes_values() {
        let _ = write!(text, " Default: `{}`.", default.join(" "));
    }
    format!("| `{argument}` | {} |\n", text.replace('|', "\\|"))
}
