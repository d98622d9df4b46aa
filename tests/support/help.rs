//! Checks of help, completions and manual pages, for both programs.

use crate::program::{failure, folder, name, stdout};
use std::collections::BTreeMap;
use std::path::Path;

/// Every command that a shell completes, except `help`.
fn commands() -> Vec<String> {
    let completions = stdout(&["help", "--completions", "bash"]);
    let line = completions.lines().find(|line| line.trim_start().starts_with("opts=\"-")).expect("what is completed");
    line.trim()
        .split([' ', '"'])
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .map(str::to_owned)
        .filter(|word| !["opts=", "help"].contains(&word.as_str()))
        .collect()
}

/// `--help` lists every command once, and each of these in its group.
pub fn lists_every_command_in_its_group(examples: &[(&str, &str)]) {
    let help = stdout(&["--help"]);
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut title = "";
    for line in help.lines() {
        if let Some(begun) = line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            title = begun;
        } else if let Some(text) = line.strip_prefix("  ") {
            groups.entry(title).or_default().push(text.split(' ').next().expect("a word"));
        }
    }
    for (title, command) in examples {
        assert!(groups.get(title).is_some_and(|group| group.contains(command)), "{title}: {help}");
    }
    for command in commands() {
        let times = groups.values().flatten().filter(|&&name| name == command).count();
        assert_eq!(times, 1, "{command}: {help}");
    }
}

/// Shells complete at least `least` commands, and each has a manual page.
pub fn completes_and_describes_every_command(least: usize) {
    let commands = commands();
    assert!(commands.len() >= least, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["help", "--completions", shell]);
        assert!(script.contains(name()) && commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    assert!(failure(2, &["help", "--completions", "tcsh"]).contains("tcsh"));
    let folder = folder("man").join("new");
    assert_eq!(stdout(&["help", "--man", "--out", folder.to_str().unwrap()]), "");
    let page =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page(&format!("{}.1", name())).contains("Dou Shou Qi"));
    for command in commands {
        assert!(page(&format!("{}-{command}.1", name())).contains(".SH"), "{command}");
    }
    assert!(failure(3, &["help", "--man", "--out", "/dev/null/nowhere"]).contains("/dev/null/nowhere"));
}

/// The committed page of docs is the reference that the program prints; with `DSQ_WRITE_REFERENCE` it is written.
pub fn agrees_with_the_reference(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let printed = stdout(&["help", "--reference"]);
    if std::env::var_os("DSQ_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    for (i, (written, printed)) in written.lines().zip(printed.lines()).enumerate() {
        assert_eq!(
            written,
            printed,
            "docs/{page}, line {}: write it with DSQ_WRITE_REFERENCE=1 ./test reference",
            i + 1
        );
    }
    assert_eq!(written.lines().count(), printed.lines().count(), "docs/{page}");
}
