//! The needs of each number of pieces, as a Markdown table.

use cluster::{Plan, PlannedClass};
use report::text::{Table, duration, grouped};

/// Bytes in GB, with one decimal for small numbers.
fn gb(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    if gb < 100.0 { format!("{gb:.1}") } else { grouped(gb.round() as u64) }
}

/// One row for each number of pieces, and one for all.
pub(super) fn table(plan: &Plan) -> String {
    let mut table = Table::new(&[
        "pieces",
        "classes",
        "rows",
        "largest job, GiB",
        "its temporary files, GB",
        "its captures in memory, GB",
        "read, GB",
        "written, GB",
        "core-hours",
        "on one core",
    ]);
    for pieces in 2..=plan.pieces() {
        let classes: Vec<&PlannedClass> = plan.level(pieces).collect();
        table.row(row(pieces.to_string(), &classes));
    }
    table.row(row("all".to_owned(), &plan.classes.iter().collect::<Vec<_>>()));
    table.markdown()
}

fn row(name: String, classes: &[&PlannedClass]) -> [String; 10] {
    let sum = |of: &dyn Fn(&PlannedClass) -> u64| classes.iter().map(|class| of(class)).sum::<u64>();
    let most = |of: &dyn Fn(&PlannedClass) -> u64| classes.iter().map(|class| of(class)).max().unwrap_or(0);
    let seconds: f64 = classes.iter().map(|class| class.seconds).sum();
    [
        name,
        grouped(classes.len() as u64),
        grouped(sum(&|class| class.rows)),
        grouped(most(&|class| class.memory_gib)),
        gb(most(&|class| class.temporary_bytes)),
        gb(most(&|class| class.capture_bytes)),
        gb(sum(&|class| class.read_bytes + class.temporary_bytes)),
        gb(sum(&|class| class.file_bytes + class.temporary_bytes)),
        format!("{:.2}", seconds / 3600.0),
        duration(seconds),
    ]
}
