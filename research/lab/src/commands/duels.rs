use clap::Args;
use cli::arguments::{JsonArg, ThreadsArg, open_tables};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use doushouqi::tablebase::{ClassId, Material, Wdl};
use mining::duels::{Duel, duel, ranking, tallies};
use rayon::prelude::*;
use report::matrix::matrix;
use report::text::Table;
use std::collections::HashSet;
use std::path::PathBuf;

/// Who wins with which animals? The exact results of all duels: each side has some of its animals on their home squares,
/// White moves.
///
/// The values come from tables, so all duels of their classes are look-ups. Prints how many duels of each size
/// White wins, draws and loses.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq generate --pieces 4 --out tables && dsq-lab duels tables\n  \
                        dsq-lab duels tables --json > duels.jsonl     a line for each duel, with the first moves that keep the result\n  \
                        dsq-lab duels tables --plot .                 a picture for each size of teams")]
pub struct Duels {
    /// The directory of the tables, as `dsq generate` writes it.
    tables: PathBuf,
    /// Also write duels-2-2.svg and the like, where each side has several animals, into DIR: rows are White's teams, columns
    /// Black's, the best first.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

impl Duels {
    pub fn run(self) -> Outcome {
        let tables = open_tables(&self.tables, None)?;
        let (set, classes) = (tables.set(), tables.set().classes());
        let listed: HashSet<ClassId> = set.ids().collect();
        let is_there = |&material: &Material| classes.member(material).is_some_and(|it| listed.contains(&it.class));
        let materials: Vec<Material> = (2..=classes.pieces()).flat_map(Material::all).filter(is_there).collect();
        let known = |&material: &Material| duel(&tables, material).transpose();
        let found: Result<Vec<Duel>, _> = self.threads.run(|| materials.par_iter().filter_map(known).collect())?;
        let duels = found?;
        if duels.is_empty() {
            return Err(Failure::Input(format!("{}: the tables contain no duel", self.tables.display())));
        }
        if let Some(dir) = &self.plot {
            make_dir(dir)?;
            for tally in tallies(&duels).iter().filter(|tally| tally.animals.iter().all(|&animals| animals > 1)) {
                let [white, black] = tally.animals;
                write_file(&dir.join(format!("duels-{white}-{black}.svg")), &picture(&duels, white, black))?;
            }
        }
        if self.json.on {
            return duels.iter().try_for_each(print_json);
        }
        let mut table = Table::new(&["White", "Black", "won", "drawn", "lost", "longest"]);
        for tally in tallies(&duels) {
            let numbers =
                [tally.animals[0], tally.animals[1], tally.won, tally.drawn, tally.lost, tally.longest.into()];
            table.row(numbers.map(|number| number.to_string()));
        }
        print(table.aligned().trim_end())
    }
}

/// The duels of one size as a picture.
fn picture(duels: &[Duel], white: usize, black: usize) -> String {
    let duels: Vec<&Duel> =
        duels.iter().filter(|duel| [duel.white.len(), duel.black.len()] == [white, black]).collect();
    let teams = ranking(&duels);
    let [rows, columns] = teams.each_ref().map(|teams| teams.iter().map(|(team, _)| &team[..]).collect::<Vec<_>>());
    let cell = |row: usize, column: usize| {
        let duel = duels.iter().find(|duel| duel.white == rows[row] && duel.black == columns[column])?;
        let says = match (duel.wdl, duel.dtw) {
            (Wdl::Draw, _) => "drawn".to_owned(),
            (wdl, plies) => {
                let result = if wdl == Wdl::Win { "won" } else { "lost" };
                plies.map_or_else(|| result.to_owned(), |plies| format!("{result} in {plies} plies"))
            }
        };
        Some((duel.wdl.cmp(&Wdl::Draw), format!("{} against {}: {says}", duel.white, duel.black)))
    };
    let title = format!("{white} against {black}: blue White wins, orange Black wins");
    matrix(&title, &rows, &columns, cell)
}
