//! Positions, features and winners for other programs.

use crate::program::{fails, run, stdout};
use crate::skip::skip;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Material, Solver};
use std::path::{Path, PathBuf};
use std::process::Command;
use study::learn::learn;

/// The names and rows of a table that the program writes.
fn csv(arguments: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let text = stdout(arguments);
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().expect("a head"), lines.collect())
}

#[test]
fn exported_features_walk_a_tree_to_the_winner() {
    for name in ["LvE", "RvT", "PDvR"] {
        let (names, rows) = csv(&["export", "--material", name, "--format", "csv", "--with-features"]);
        assert_eq!(names[0], "white_piece0_strength");
        assert_eq!(names.last().map(String::as_str), Some("class"));
        let material: Material = name.parse().expect("a material");
        let tables = Solver::solved_material(&RuleOptions::PAPER, material).expect("solved");
        let found = learn(&tables, material, None, None).expect("a tree");
        assert_eq!(found.positions, rows.len() as u64);
        let place = |name: &String| names.iter().position(|column| column == name).expect("a column");
        let places: Vec<usize> = found.set.features().iter().map(|feature| place(&feature.name)).collect();
        for row in &rows {
            let values: Vec<i8> = places.iter().map(|&place| row[place].parse().expect("a number")).collect();
            let winner = found.tree.classify(&values).letter().to_string();
            assert_eq!(Some(&winner), row.last(), "{row:?}");
        }
        // Without the features the rows are the same, and equal to the rows from tables on disk.
        let (plain_names, plain) = csv(&["export", "--material", name, "--format", "csv"]);
        let pieces = plain_names.len() - 1;
        assert_eq!(plain_names[..pieces], names[..pieces]);
        assert!(plain.iter().zip(&rows).all(|(a, b)| a[..pieces] == b[..pieces] && a.last() == b.last()));
    }
}

#[test]
fn parquet_is_written_or_refused() {
    let arguments = ["export", "--material", "EvL", "--format", "parquet", "--with-features"];
    if cfg!(feature = "parquet") {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"));
        assert!(output.stdout.len() > 1000);
    } else {
        fails(3, &arguments, "feature `parquet`");
    }
}

#[test]
fn wrong_input_is_told() {
    fails(2, &["export", "--material", "EvE", "--format", "text"], "--tables");
    fails(2, &["export", "--material", "ELTPvDWC", "--format", "csv"], "at most 6");
}

/// Runs the example for Python users, with the first Python that has its packages: python3, or that of the system.
#[test]
fn the_python_example_runs() {
    let has = |python: &str, code: &str| {
        Command::new(python).args(["-c", code]).output().is_ok_and(|output| output.status.success())
    };
    let pythons = ["python3", "/usr/bin/python3"];
    let Some(python) = pythons.into_iter().find(|python| has(python, "import pandas, sklearn")) else {
        return skip("there is no python3 with pandas and scikit-learn (Debian: python3-pandas python3-sklearn)");
    };
    let dir = tempfile::tempdir().expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/train_tree.py");
    let train = |file: &PathBuf| {
        let output = Command::new(python).arg(&script).arg(file).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let data = dir.path().join("LvE.csv");
    std::fs::write(&data, stdout(&["export", "--material", "LvE", "--format", "csv", "--with-features"]))
        .expect("written");
    let printed = train(&data);
    assert!(printed.contains("2352 positions") && printed.contains("0 misclassified"), "{printed}");
    if cfg!(feature = "parquet") && has(python, "import pyarrow") {
        let parquet = dir.path().join("LvE.parquet");
        let bytes = run(&["export", "--material", "LvE", "--format", "parquet", "--with-features"]).stdout;
        std::fs::write(&parquet, bytes).expect("written");
        assert_eq!(train(&parquet), printed, "the same data, the same tree");
    }
}
