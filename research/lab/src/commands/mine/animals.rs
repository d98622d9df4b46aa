//! The values of the animals.

use clap::Args;
use cli::arguments::Common;
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, to_json, write_file};
use cli::progress::progress_bar;
use doushouqi::tablebase::ClassCounts;
use mining::animals::{self, Sample, fit};
use mining::tables;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Animals {
    /// Further counts of classes: a directory of files CLASS.json, or a JSONL file such as
    /// results/six-pieces.jsonl.
    counts: Vec<PathBuf>,
    /// Solve all endgames of up to N pieces; 5 takes some minutes. There is a regression for each number of pieces from
    /// 4 on.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(3..=5))]
    pieces: u8,
    /// Write animals.md, animals.svg and animals.jsonl to this directory instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

impl Animals {
    pub(super) fn run(&self) -> Outcome {
        // A directory that cannot be made is an error before the tables are solved.
        self.out.as_deref().map_or(Ok(()), make_dir)?;
        let options = self.common.rules();
        let mut fits = Vec::new();
        let mut add = |samples: &[Sample], name: &str| {
            for with_pairs in [false, true] {
                let missing = || Failure::Input(format!("{name}: too few materials, or of several numbers of pieces"));
                fits.push(fit(samples, with_pairs).ok_or_else(missing)?);
            }
            Ok::<(), Failure>(())
        };
        let bar = progress_bar(0, "classes").with_message("solving");
        for samples in animals::solve(options, self.pieces.into())? {
            add(&samples, &format!("{} pieces", self.pieces))?;
        }
        bar.finish_and_clear();
        for path in &self.counts {
            let counts = ClassCounts::read_all(path)?;
            let hash = options.table_spelling();
            if let Some(other) = counts.iter().find(|counts| counts.rules != hash) {
                return Err(Failure::Input(format!("{}: the rules are {}, not {hash}", path.display(), other.rules)));
            }
            add(&animals::from_counts(options, &counts), &path.display().to_string())?;
        }
        match &self.out {
            Some(dir) => {
                let lines: Vec<String> = fits.iter().map(to_json).collect();
                let files = [
                    ("animals.jsonl", lines.join("\n") + "\n"),
                    ("animals.svg", tables::animals_plot(&fits)?),
                    ("animals.md", tables::animals_page(&fits)),
                ];
                files.iter().try_for_each(|(name, text)| {
                    write_file(&dir.join(name), text)?;
                    print(dir.join(name).display())
                })
            }
            None if self.common.json.on => fits.iter().try_for_each(print_json),
            None => print(tables::animals(&fits).aligned().trim_end()),
        }
    }
}
