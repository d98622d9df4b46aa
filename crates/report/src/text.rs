//! Numbers, durations and tables as text.

use std::time::Duration;

/// A number with separators: 1234567 as 1,234,567.
///
/// ```
/// assert_eq!(report::text::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in binary units: a whole number, or one decimal below 10.
///
/// ```
/// use report::text::binary_bytes;
/// assert_eq!([0, 1023, 1536, 64 << 20, 834 << 30].map(binary_bytes), ["0 B", "1023 B", "1.5 KiB", "64 MiB", "834 GiB"]);
/// ```
#[must_use]
pub fn binary_bytes(bytes: u64) -> String {
    let (mut number, mut units) = (bytes as f64, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].iter());
    let mut unit = units.next().expect("there are units");
    while number >= 1023.5 {
        let Some(next) = units.next() else { break };
        (number, unit) = (number / 1024.0, next);
    }
    if number < 9.95 && bytes >= 1024 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

/// Length of a full progress bar in characters.
const BAR: usize = 30;

/// A progress bar: `[=====>    ] 12/42 classes, 3.4/s, 9 s left`. `all` is 0 if the number is unknown. For the unit `%`
/// the bar shows only the share.
#[must_use]
pub fn progress(done: u64, all: u64, elapsed: Duration, unit: &str) -> String {
    let figures = progress_figures(done, all, elapsed, unit);
    if all == 0 {
        return figures;
    }
    let full = (u128::from(done.min(all)) * BAR as u128 / u128::from(all)) as usize;
    let bar = "=".repeat(full) + if full < BAR { ">" } else { "" };
    format!("[{bar:BAR$}] {figures}")
}

/// As [`progress`], without the bar: `12/42 classes, 3.4/s, 9 s left`.
#[must_use]
pub fn progress_figures(done: u64, all: u64, elapsed: Duration, unit: &str) -> String {
    let mut text = match (unit, all) {
        ("%", _) => format!("{} %", 100.0_f64.min(100.0 * done as f64 / all.max(1) as f64).floor()),
        (_, 0) => format!("{} {unit}", grouped(done)),
        _ => format!("{}/{} {unit}", grouped(done), grouped(all)),
    };
    let seconds = elapsed.as_secs_f64();
    if unit != "%" && done > 0 && seconds >= 1.0 {
        text += &format!(", {}", rate(done as f64 / seconds));
    }
    if let Some(left) = left(done, all, seconds) {
        text += &format!(", {} left", duration(left));
    }
    text
}

/// The seconds left at the mean rate so far; `None` while that is too imprecise.
fn left(done: u64, all: u64, seconds: f64) -> Option<f64> {
    let known = done >= all / 10 && seconds >= 2.0 || done >= all / 50 && seconds >= 60.0;
    let known = known && done > 0 && done < all;
    known.then(|| seconds * (all - done) as f64 / done as f64)
}

/// A rate as text: `3.4/s`, `147 M/s`, `12/min`.
fn rate(per_second: f64) -> String {
    let (number, unit) = match per_second {
        r if r >= 1e9 => (r / 1e9, " G/s"),
        r if r >= 1e6 => (r / 1e6, " M/s"),
        r if r >= 1e4 => (r / 1e3, " k/s"),
        r if r >= 1.0 => (r, "/s"),
        r if r >= 1.0 / 60.0 => (60.0 * r, "/min"),
        r => (3600.0 * r, "/h"),
    };
    if number < 9.95 { format!("{number:.1}{unit}") } else { format!("{}{unit}", grouped(number.round() as u64)) }
}

/// A number with three digits and an SI prefix.
///
/// ```
/// use report::text::short;
/// assert_eq!([3.414e9, 12.3e6, 741e3, 9.0].map(short), ["3.41 G", "12.3 M", "741 k", "9.00"]);
/// ```
#[must_use]
pub fn short(number: f64) -> String {
    let sizes = [(1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (size, unit) = sizes.into_iter().find(|&(size, _)| number >= size).unwrap_or((1.0, ""));
    let value = number / size;
    let digits = if value >= 100.0 { 0 } else { 2 - usize::from(value >= 10.0) };
    format!("{value:.digits$}{unit}")
}

/// A duration in one unit.
///
/// ```
/// use report::text::duration;
/// assert_eq!([12.0, 1_320.0, 147_600.0, 777_600.0].map(duration), ["12 s", "22 min", "41 h", "9 days"]);
/// ```
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 90.0 * 60.0 => format!("{} min", (s / 60.0).round()),
        s if s < 48.0 * 3600.0 => format!("{} h", (s / 3600.0).round()),
        s => format!("{} days", grouped((s / 86_400.0).round() as u64)),
    }
}

/// A table, for a terminal or for Markdown.
///
/// ```
/// use report::text::Table;
/// let mut table = Table::new(&["<animal", "rank"]);
/// table.row(["cat", "2"]);
/// table.row(["elephant", "8"]);
/// assert_eq!(table.aligned(), "animal    rank\ncat          2\nelephant     8\n");
/// assert_eq!(table.markdown(), "| animal | rank |\n|---|---:|\n| cat | 2 |\n| elephant | 8 |\n");
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Column {
    name: &'static str,
    left: bool,
    code: bool,
}

impl Table {
    /// An empty table with these columns: aligned to the left if the name begins with `<`, else to the right. If the
    /// name begins with `<$`, all cells of the column are code, such as positions.
    #[must_use]
    pub fn new(names: &[&'static str]) -> Table {
        let column = |&name: &&'static str| Column {
            name: name.trim_start_matches(['<', '$']),
            left: name.starts_with('<'),
            code: name.starts_with("<$"),
        };
        Table { columns: names.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell for each column.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The table as text with aligned columns, two spaces apart.
    #[must_use]
    pub fn aligned(&self) -> String {
        let width = |i: usize, column: &Column| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([column.name.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = self.columns.iter().enumerate().map(|(i, column)| width(i, column)).collect();
        let line = |cells: Vec<&str>| {
            let cells = cells.iter().zip(&self.columns).zip(&widths).map(|((cell, column), &width)| {
                if column.left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        let head = line(self.columns.iter().map(|column| column.name).collect());
        self.rows.iter().fold(head, |text, row| text + &line(row.iter().map(String::as_str).collect()))
    }

    /// The table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let sides: Vec<&str> = self.columns.iter().map(|column| if column.left { "---|" } else { "---:|" }).collect();
        let head = format!("| {} |\n|{}\n", names.join(" | "), sides.concat());
        let cell = |(cell, column): (&String, &Column)| {
            if column.code && !cell.is_empty() { format!("`{cell}`") } else { cell.clone() }
        };
        self.rows.iter().fold(head, |text, row| {
            let cells: Vec<String> = row.iter().zip(&self.columns).map(cell).collect();
            format!("{text}| {} |\n", cells.join(" | "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: f64, done: u64, all: u64, unit: &str) -> String {
        let text = progress(done, all, Duration::from_secs_f64(seconds), unit);
        text.rsplit_once("] ").map_or(text.clone(), |(_, text)| text.to_owned())
    }

    #[test]
    fn rates_are_short() {
        let texts = [146_552_346.026_8, 12_345.0, 999.6, 42.0, 3.44, 0.5, 0.02, 0.001, 2.5e9].map(rate);
        assert_eq!(texts, ["147 M/s", "12 k/s", "1,000/s", "42/s", "3.4/s", "30/min", "1.2/min", "3.6/h", "2.5 G/s"]);
    }

    #[test]
    fn no_time_is_left_before_it_can_be_known() {
        assert_eq!(after(0.2, 0, 100, "classes"), "0/100 classes");
        assert_eq!(after(0.2, 3, 100, "classes"), "3/100 classes");
        assert_eq!(after(5.0, 0, 100, "classes"), "0/100 classes");
        // A fiftieth of the work suffices for a prediction after a minute, but not after two seconds.
        assert_eq!(after(2.0, 2, 100, "classes"), "2/100 classes, 1.0/s");
        assert_eq!(after(60.0, 2, 100, "classes"), "2/100 classes, 2.0/min, 49 min left");
        assert_eq!(after(60.0, 1, 100, "classes"), "1/100 classes, 1.0/min");
        assert_eq!(after(3.0, 25, 100, "classes"), "25/100 classes, 8.3/s, 9 s left");
        assert_eq!(after(12.0, 100, 100, "classes"), "100/100 classes, 8.3/s");
    }

    #[test]
    fn shares_and_unknown_lengths_are_plain() {
        assert_eq!(after(0.0, 0, 100, "%"), "0 %");
        assert_eq!(after(3.0, 50, 100, "%"), "50 %, 3 s left");
        assert_eq!(after(1.0, 999_999, 1_000_000, "%"), "99 %");
        assert_eq!(after(2.0, 8, 0, "tables"), "8 tables, 4.0/s");
        assert_eq!(after(0.0, 0, 0, "tables"), "0 tables");
    }

    #[test]
    fn bars_fill() {
        let bar = |done| progress(done, 10, Duration::ZERO, "%").chars().filter(|&c| c == '=').count();
        assert_eq!([0, 5, 10, 11].map(bar), [0, 15, 30, 30]);
        assert!(progress(u64::MAX / 2, u64::MAX, Duration::ZERO, "%").contains("50 %"));
    }

    #[test]
    fn durations_have_one_unit() {
        let texts = [0.1, 89.0, 91.0, 5_300.0, 7_300.0, 200_000.0, 1e9].map(duration);
        assert_eq!(texts, ["1 s", "89 s", "2 min", "88 min", "2 h", "2 days", "11,574 days"]);
    }
}
