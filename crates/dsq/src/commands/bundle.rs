use crate::bundle::{Bundle, LIST, SUMS, sha256};
use crate::commands::stats::LongestLines;
use crate::commands::verify::check_files;
use crate::counts::{class_by_class, endings};
use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use doushouqi::tablebase::{ClassId, MANIFEST, ManifestClass, Material, Metric, Stats, TableFile, TableSet};
use report::text::{Table, binary_bytes, grouped};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Make a publication of endgame tables: a directory to upload, whose copies `dsq verify` can prove.
///
/// The directory contains the tables, their manifest, the format, a page of statistics, licences, a citation,
/// instructions, and a list of all files with sizes and SHA-256. On the same file system the tables are hard links,
/// which take no more disk space. The same tables give the same bytes.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq bundle tables --out published\n  dsq verify published --sample 0     \
                        names files that are damaged, missing or of another version\n\n\
                        The fingerprint is the SHA-256 of SHA256SUMS. State it where readers can trust it, as in a paper.")]
pub struct BundleCommand {
    /// A directory written by `dsq generate`.
    dir: PathBuf,
    /// The directory to write, which must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Serialize)]
struct Report {
    files: usize,
    bytes: u64,
    fingerprint: String,
}

/// The pages that are the same in every publication.
const PAGES: [(&str, &str); 4] = [
    ("CITATION.cff", include_str!("../../publication/CITATION.cff")),
    ("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../LICENSE-MIT")),
    ("table-format.md", include_str!("../../publication/table-format.md")),
];

impl BundleCommand {
    pub fn run(self) -> Outcome {
        let tables = LongestLines::open(&self.dir)?;
        let set = tables.set();
        set.check_complete()?;
        let mut ids: Vec<ClassId> = set.ids().collect();
        ids.sort();
        self.make_out()?;
        let report = self.threads.run(|| {
            check_files(set, &ids)?;
            self.write(&tables, &ids)
        })??;
        if self.json.on {
            return print_json(&report);
        }
        print(format_args!(
            "{}: {} files, {}; fingerprint {}",
            self.out.display(),
            report.files,
            binary_bytes(report.bytes),
            report.fingerprint
        ))
    }

    /// Creates the directory.
    fn make_out(&self) -> Outcome {
        make_dir(&self.out)?;
        let mut entries = fs::read_dir(&self.out).map_err(|error| Failure::reading(self.out.display(), &error))?;
        match entries.next() {
            None => Ok(()),
            Some(_) => Err(Failure::Input(format!("{} is not empty; choose another directory", self.out.display()))),
        }
    }

    fn write(&self, tables: &LongestLines, ids: &[ClassId]) -> Result<Report, Failure> {
        let set = tables.set();
        let mut written = Written::default();
        for &id in ids {
            let class = set.classes().get(id).representative;
            link(&TableFile::path(&self.dir, class), written.add(TableFile::path(&self.out, class)))?;
        }
        link(&self.dir.join(MANIFEST), written.add(self.out.join(MANIFEST)))?;
        let pages = PAGES.map(|(name, text)| (name, text.to_owned()));
        let own = [("README.md", readme(set)), ("statistics.md", statistics(tables)?)];
        for (name, text) in pages.iter().chain(&own) {
            write_file(written.add(self.out.join(name)), text)?;
        }
        let bundle = Bundle::of(&self.out, set.manifest().rules.clone(), set.classes().pieces())?;
        let (list, sums) = bundle.texts();
        // The list is written last, so an interrupted run leaves no complete publication.
        write_file(written.add(self.out.join(LIST)), &list)?;
        write_file(written.add(self.out.join(SUMS)), &sums)?;
        written.keep();
        let (files, bytes) = bundle.size();
        let own = (list.len() + sums.len()) as u64;
        Ok(Report { files: files + 2, bytes: bytes + own, fingerprint: sha256(sums.as_bytes()) })
    }
}

/// The files that a run has written. Dropping them removes them, so that the directory is empty for another run.
#[derive(Default)]
struct Written(Vec<PathBuf>);

impl Written {
    fn add(&mut self, path: PathBuf) -> &Path {
        self.0.push(path);
        self.0.last().expect("it was added")
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| _ = fs::remove_file(path));
    }
}

/// Links a file, or copies it to another file system. Tables and manifests are replaced, never overwritten, so a link
/// does not change with them.
fn link(from: &Path, to: &Path) -> Outcome {
    let from = fs::canonicalize(from).map_err(|error| Failure::reading(from.display(), &error))?;
    fs::hard_link(&from, to)
        .or_else(|_| fs::copy(&from, to).map(|_| ()))
        .map_err(|error| Failure::cannot("write", to, &error))
}

/// The instructions.
fn readme(set: &TableSet) -> String {
    let manifest = set.manifest();
    let under = set
        .no_capture_limit()
        .map_or_else(String::new, |limit| format!(", in games that are drawn after {limit} plies without a capture"));
    include_str!("../../publication/README.md")
        .replace("{classes}", &grouped(manifest.classes.len() as u64))
        .replace("{materials}", &grouped(manifest.classes.iter().map(materials).sum()))
        .replace("{pieces}", &set.classes().pieces().to_string())
        .replace("{distance}", &format!("{}{under}", distance(set.classes().metric())))
        .replace("{rules}", &manifest.rules)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
}

/// What a distance leads to.
fn distance(metric: Metric) -> &'static str {
    match metric {
        Metric::Dtw => "to the end",
        Metric::Dtz(_) => "to the next capture or den entry",
    }
}

/// The number of materials of a class.
fn materials(class: &ManifestClass) -> u64 {
    (class.same.len() + class.swapped.len()) as u64
}

/// The page of statistics.
fn statistics(tables: &LongestLines) -> Result<String, Failure> {
    let set = tables.set();
    let classes = set.manifest().classes.iter().filter_map(|class| Some((class.class.parse().ok()?, class)));
    let classes: Vec<(Material, &ManifestClass)> = classes.collect();
    let parts = [
        format!("# Statistics\n\nThe rules are `{}`.", set.manifest().rules),
        by_pieces(set, &classes),
        longest_lines(tables)?,
        class_by_class(set.classes().metric(), classes.iter().map(|(class, listed)| (*class, &listed.stats))),
    ];
    Ok(parts.join("\n\n").replace("\n\n\n", "\n\n"))
}

fn by_pieces(set: &TableSet, classes: &[(Material, &ManifestClass)]) -> String {
    let mut table = Table::new(&[
        "pieces",
        "classes",
        "materials",
        "bytes",
        "positions",
        "no legal move",
        "wins",
        "losses",
        "draws",
        "longest",
    ]);
    for pieces in 2..=set.classes().pieces() {
        let level: Vec<&ManifestClass> = classes.iter().filter(|(c, _)| c.len() == pieces).map(|(_, c)| *c).collect();
        let mut stats = Stats::default();
        for class in &level {
            stats.add_times(&class.stats.white, class.same.len() as u64);
            stats.add_times(&class.stats.black, class.swapped.len() as u64);
        }
        let of = set.classes().level(pieces).count();
        let count = if level.len() == of { of.to_string() } else { format!("{} of {of}", level.len()) };
        let sizes = [level.iter().map(|class| materials(class)).sum(), level.iter().map(|class| class.bytes).sum()];
        let summary = set.classes().metric().summary(&stats);
        let [materials, bytes] = sizes.map(grouped);
        let head = [pieces.to_string(), count, materials, bytes];
        table.row(head.into_iter().chain(endings(&summary)).chain([summary.longest.to_string()]));
    }
    format!(
        "## By number of pieces\n\nAll materials of the tables, White to move; the longest line in plies.\n\n{}",
        table.markdown()
    )
}

fn longest_lines(tables: &LongestLines) -> Result<String, Failure> {
    let to = distance(tables.set().classes().metric());
    let mut text = format!(
        "## Longest lines\n\nFor each number of pieces a position with the longest distance {to}, and best play to the end.\n"
    );
    for pieces in 2..=tables.set().classes().pieces() {
        let Some((position, plies)) = tables.set().deepest(pieces)? else { continue };
        let line = tables.line(&position)?;
        let moves: Vec<String> = line.iter().map(|(mv, position)| mv.notation(position)).collect();
        text +=
            &format!("\n{pieces} pieces: `{}`, {plies} plies\n\n```\n{}\n```\n", position.to_fen(), wrapped(&moves));
    }
    Ok(text)
}

/// Moves in lines of twelve.
fn wrapped(moves: &[String]) -> String {
    moves.chunks(12).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
}
