//! The program as a user runs it: errors, help, exit codes.

use crate::help;
use crate::program::{fails, failure, folder, stdout};

/// Every error begins in the same way, those of the argument parser too; help and version are no errors.
#[test]
fn errors_begin_with_the_name_of_the_program() {
    for arguments in [&["datagen"][..], &["mine", "--piece-count", "x"], &["perft", "3"], &["train", "/no/such"]] {
        let stderr = failure(2, arguments);
        assert!(stderr.starts_with("dsq-lab: ") && !stderr.contains("error: "), "{stderr}");
    }
    assert!(failure(2, &["train"]).contains("Usage: dsq-lab train"));
    assert!(failure(2, &["general"]).contains("Usage: dsq-lab general"));
    assert!(
        stdout(&["--version"]).starts_with("dsq-lab ") && stdout(&["mine", "--help"]).contains("Usage: dsq-lab mine")
    );
    let recipe = folder("recipe").join("wrong.toml");
    std::fs::write(&recipe, "data = [1]").unwrap();
    let stderr = failure(2, &["train", recipe.to_str().unwrap()]);
    assert!(stderr.lines().count() == 1 && stderr.contains("wrong.toml: line 1: "), "{stderr}");
}

#[test]
fn help_lists_every_command_in_its_group() {
    help::lists_every_command_in_its_group(&[("Train", "datagen"), ("Study", "mine")]);
}

#[test]
fn shells_complete_and_every_command_has_a_manual_page() {
    help::completes_and_describes_every_command(9);
}

#[test]
fn the_reference_describes_every_command() {
    help::agrees_with_the_reference("reference-lab.md");
}

/// A file that does not exist or is no text, and an output that cannot be written.
#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = folder("files");
    let (absent, latin) = (folder.join("nothing"), folder.join("latin"));
    std::fs::write(&latin, b"caf\xe9").unwrap();
    let (absent, latin) = (absent.to_str().unwrap(), latin.to_str().unwrap());
    for path in [absent, latin] {
        for arguments in [["general", "moves", path], ["gadgets", "check", path]] {
            fails(2, &arguments, path);
        }
        fails(2, &["train", path], path);
    }
    assert!(!folder.join("nothing").exists());
    let nowhere = format!("{latin}/file");
    for arguments in [&["help", "--man", "--out", &nowhere][..], &["reduce", "(a | b)", "--out", &nowhere]] {
        fails(3, arguments, &nowhere);
    }
}

/// A directory in place of a file is not missing and not wrong: it cannot be read.
#[cfg(unix)]
#[test]
fn the_same_fault_has_the_same_code() {
    for command in [&["train", "/"][..], &["datagen", "--evaluation", "/", "--out", "x"]] {
        assert!(failure(3, command).starts_with("dsq-lab: cannot read /: "), "{command:?}");
    }
}

/// Counts of 0 that would do nothing.
#[test]
fn zero_is_refused() {
    let commands: [&[&str]; 6] = [
        &["datagen", "--out", "x", "--games", "0"],
        &["datagen", "--out", "x", "--nodes", "0"],
        &["reduce", "x & y", "--games", "0"],
        &["mine", "draws", "--top", "0"],
        &["mine", "games", "--most-plies", "0"],
        &["gadgets", "check", "--states", "0"],
    ];
    for command in commands {
        fails(2, command, "0");
    }
}
