//! The command line of a program, and the command `help`.

use crate::failure::{Failure, Outcome};
use crate::output::{make_dir, print};
use crate::program::{Entry, Program, rejected};
use crate::reference;
use clap::builder::{PossibleValue, StringValueParser, StyledStr, TypedValueParser};
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

/// Print help, completions for a shell, or manual pages
#[derive(Args)]
pub(crate) struct Help {
    /// The command, with its subcommand if it has one
    #[arg(value_name = "COMMAND", hide_possible_values = true)]
    command: Vec<String>,
    /// Print a script with which a shell completes commands and options
    #[arg(long, value_name = "SHELL", conflicts_with = "command")]
    completions: Option<Shell>,
    /// Write a manual page for each command into the directory of --out
    #[arg(long, requires = "out", conflicts_with_all = ["command", "completions"])]
    man: bool,
    /// Print all commands and options as Markdown
    #[arg(long, conflicts_with_all = ["command", "completions", "man"])]
    reference: bool,
    /// The directory for --man; it is created if it does not exist
    #[arg(long, value_name = "DIR", requires = "man")]
    out: Option<PathBuf>,
}

/// Parses any word; shells complete the words that name commands.
#[derive(Clone)]
struct CommandWords(Vec<&'static str>);

impl TypedValueParser for CommandWords {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

impl Help {
    pub(crate) fn run(self, program: &Program, mut command: Command) -> Outcome {
        if let Some(shell) = self.completions {
            // The script is generated in memory first, since the generator panics if it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, program.name, &mut script);
            return io::stdout().lock().write_all(&script).map_err(Failure::Output);
        }
        if let Some(dir) = &self.out {
            make_dir(dir)?;
            return clap_mangen::generate_to(command, dir).map_err(|error| Failure::cannot("write to", dir, &error));
        }
        if self.reference {
            return print(reference::page(program, command).trim_end());
        }
        let words = [program.name].into_iter().chain(self.command.iter().map(String::as_str)).chain(["--help"]);
        command.clone().try_get_matches_from(words).map_or_else(|error| rejected(&error), |_| Ok(()))
    }
}

impl Program {
    /// The command line: the commands in groups, the effect of Ctrl-C in the help of each.
    pub(crate) fn command(&self) -> Command {
        let command = Command::new(self.name)
            .version(self.version)
            .about(self.about)
            .after_help(self.after_help)
            .subcommand_required(true)
            .arg_required_else_help(true)
            .disable_help_subcommand(true)
            .subcommands(self.groups.iter().flat_map(|(_, entries)| *entries).map(Entry::command))
            .subcommand(Help::augment_args(Command::new("help")).after_help(examples(self.name)));
        let words =
            CommandWords(self.groups.iter().flat_map(|(_, entries)| *entries).map(|entry| entry.name).collect());
        let command = command.mut_subcommand("help", |help| help.mut_arg("command", |word| word.value_parser(words)));
        let list = self.list(&command);
        command.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{options}}{{after-help}}"
        ))
    }

    /// The text of the groups with their commands and descriptions.
    fn list(&self, command: &Command) -> String {
        let header = command.get_styles().get_header();
        let mut text = String::new();
        for (title, entries) in self.groups {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            group(&mut text, title, &names, command);
        }
        group(&mut text, "More", &["help"], command);
        let _ = writeln!(text, "{header}Options:{header:#}");
        text
    }
}

impl Entry {
    fn command(&self) -> Command {
        let command = (self.define)(Command::new(self.name));
        self.on_ctrl_c.iter().fold(command, |command, (subcommand, effect)| match *subcommand {
            "" => with_ctrl_c(command, effect),
            name => command.mut_subcommand(name, |command| with_ctrl_c(command, effect)),
        })
    }
}

/// Adds the effect of Ctrl-C to the help of a command.
fn with_ctrl_c(command: Command, effect: &str) -> Command {
    let after = command.get_after_help().map_or_else(String::new, |help| format!("{help}\n\n"));
    command.after_help(format!("{after}{effect}"))
}

/// Adds one group.
fn group(text: &mut String, title: &str, names: &[&str], program: &Command) {
    let (header, literal) = (program.get_styles().get_header(), program.get_styles().get_literal());
    let width = program.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let _ = writeln!(text, "{header}{title}:{header:#}");
    for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
        let (name, about) = (command.get_name(), command.get_about().map(StyledStr::to_string).unwrap_or_default());
        let _ = writeln!(text, "  {literal}{name}{literal:#}{}  {about}", " ".repeat(width - name.len()));
    }
    text.push('\n');
}

/// The examples of `help`.
fn examples(name: &str) -> String {
    format!(
        "Examples:\n  {name} help --completions bash > ~/.local/share/bash-completion/completions/{name}\n  \
         {name} help --completions fish > ~/.config/fish/completions/{name}.fish\n  \
         {name} help --completions zsh > ~/.zfunc/_{name}      (with ~/.zfunc in fpath)\n  \
         {name} help --man --out ~/.local/share/man/man1 && man {name}"
    )
}
