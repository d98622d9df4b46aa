//! How numbers are shown to people.

/// 1234567 as 1,234,567.
///
/// ```
/// assert_eq!(doushouqi::text::grouped(1_234_567), "1,234,567");
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

/// A table, for a terminal or for Markdown.
///
/// ```
/// use doushouqi::text::Table;
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
    /// Columns by name: to the left if the name begins with `<`, else to the right. Below a name that begins with `<$` all
    /// cells are code, such as positions.
    #[must_use]
    pub fn new(names: &[&'static str]) -> Table {
        let column = |&name: &&'static str| Column {
            name: name.trim_start_matches(['<', '$']),
            left: name.starts_with('<'),
            code: name.starts_with("<$"),
        };
        Table { columns: names.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row, a cell for each column.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The table in columns of one width, two spaces apart.
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
