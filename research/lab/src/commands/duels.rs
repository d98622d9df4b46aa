use clap::Args;
use cli::arguments::{JsonArg, MemoryArg, ThreadsArg, at_least_one, open_tables};
use cli::continued::ContinuedFile;
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, parse_json_lines, print, print_json, to_json, write_file};
use cli::progress::{exit_on_interrupt, progress_bar};
use doushouqi::board::{Animal, Color, Position, Rules};
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Limits, Tables as SearchTables};
use doushouqi::tablebase::{
    BufferPool, Class, ClassId, ClassJob, Classes, MAX_PIECES, Material, Probe, Provenance, SetError, TableProber, Wdl,
};
use mining::duels::{Duel, Noted, duel, position, positions, ranking, table_rules_name, tallies};
use rayon::prelude::*;
use report::matrix::matrix;
use report::text::{Table, grouped};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who wins with which animals? The exact results of all duels: each side has some of its animals on their home squares,
/// White moves.
///
/// The values come from tables, so all duels of their classes are look-ups. --count adds duels of one more piece, for which only
/// the tables that captures lead to are needed: each class is counted once, and the values of its duels are noted when they are
/// decided. The file of --out contains a line for each of these duels; the same command continues it. --check compares them with
/// searches by the engine, which know only the tables. Prints how many duels of each size White wins, draws and loses.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq generate --pieces 4 --out tables && dsq-lab duels tables\n  \
                        dsq-lab duels tables --json > duels.jsonl     a line for each duel, with the first moves that keep the result\n  \
                        dsq-lab duels tables --plot .                 a picture for each size of teams\n  \
                        dsq generate --pieces 5 --out tables && dsq-lab duels tables --count 3,3 --out three.jsonl")]
pub struct Duels {
    /// The directory of the tables, as `dsq generate` writes it.
    tables: PathBuf,
    /// Also write duels-2-2.svg and the like, where each side has several animals, into DIR: rows are White's teams, columns
    /// Black's, the best first.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Also count the classes of the duels of so many of White's animals against so many of Black's
    #[arg(long, value_name = "WHITE,BLACK", value_parser = sizes, requires = "out")]
    count: Option<Sizes>,
    /// The file of the duels of --count, to write or to continue
    #[arg(long, value_name = "FILE", requires = "count")]
    out: Option<PathBuf>,
    /// Also search each duel of --count for so many nodes; a search that proves another result fails the command
    #[arg(long, value_name = "NODES", requires = "count", value_parser = at_least_one::<u64>())]
    check: Option<u64>,
    /// The directory of temporary files of --count; by default the directory of the tables
    #[arg(long, value_name = "DIR", requires = "count")]
    spill: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

/// The numbers of White's and of Black's animals.
type Sizes = [usize; 2];

fn sizes(text: &str) -> Result<Sizes, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number| (1..=Animal::COUNT).contains(number));
    let sizes = text.split_once(',').and_then(|(white, black)| Some([number(white)?, number(black)?]));
    sizes
        .filter(|sizes| sizes.iter().sum::<usize>() <= MAX_PIECES)
        .ok_or_else(|| format!("{text:?} is not two numbers of animals, at most {MAX_PIECES} together, such as 3,3"))
}

impl Duels {
    pub fn run(self) -> Outcome {
        let tables = open_tables(&self.tables, None)?;
        let (counted, left_out) = match (self.count, &self.out) {
            (Some(sizes), Some(out)) => self.count(&tables, sizes, out)?,
            _ => (Vec::new(), 0),
        };
        let proved = self.check.map(|nodes| self.check(&counted, tables.rules(), nodes)).transpose()?;
        let (set, classes) = (tables.set(), tables.set().classes());
        let listed: HashSet<ClassId> = set.ids().collect();
        let is_there = |&material: &Material| {
            self.count != Some(animals(material))
                && classes.member(material).is_some_and(|it| listed.contains(&it.class))
        };
        let materials: Vec<Material> = (2..=classes.pieces()).flat_map(Material::all).filter(is_there).collect();
        let known = |&material: &Material| duel(&tables, material).transpose();
        let found: Result<Vec<Duel>, _> = self.threads.run(|| materials.par_iter().filter_map(known).collect())?;
        let mut duels = found?;
        duels.extend(counted);
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
        self.print(&duels)?;
        if let Some(proved) = proved.filter(|_| !self.json.on) {
            print(proved)?;
        }
        if left_out == 0 {
            return Ok(());
        }
        Err(Failure::Environment(format!("{left_out} duels are left out, as their classes need more memory")))
    }

    fn print(&self, duels: &[Duel]) -> Outcome {
        if self.json.on {
            return duels.iter().try_for_each(print_json);
        }
        let mut table = Table::new(&["White", "Black", "won", "drawn", "lost", "longest"]);
        for tally in tallies(duels) {
            let numbers =
                [tally.animals[0], tally.animals[1], tally.won, tally.drawn, tally.lost, tally.longest.into()];
            table.row(numbers.map(|number| number.to_string()));
        }
        print(table.aligned().trim_end())
    }
}

impl Duels {
    /// The duels of these sizes: those in the file, to which it appends the others; and the number of duels of classes that do
    /// not fit into the memory.
    fn count(&self, tables: &TableProber, sizes: Sizes, out: &Path) -> Result<(Vec<Duel>, usize), Failure> {
        let (rules, options) = (tables.rules(), tables.rules().options());
        let pieces = sizes.iter().sum();
        if options.no_capture_limit.is_some() {
            let text = "the distances of duels need tables without a no-capture limit";
            return Err(Failure::Input(format!("{}: {text}", self.tables.display())));
        }
        let (mut file, text) = ContinuedFile::open(out, "{\"white\":")?;
        let mut duels: Vec<Duel> = parse_json_lines(out, &text)?;
        if let Some(other) = duels.iter().find(|duel| duel.rules != table_rules_name(options) || size(duel) != sizes) {
            let Duel { white, black, rules, .. } = other;
            let text =
                format!("{white} against {black} under the rules {rules} is no duel of this run; use another file");
            return Err(Failure::Input(format!("{}: {text}", out.display())));
        }
        let is_asked = |&material: &Material| animals(material) == sizes;
        let known = |material: &Material, duels: &[Duel]| {
            let is = |duel: &Duel| format!("{}v{}", duel.white, duel.black) == material.to_string();
            duels.iter().any(is)
        };
        let classes = Classes::new(options, pieces);
        let all = Material::all(pieces).iter().filter(|material| is_asked(material)).count();
        let members =
            |class: &Class| class.same.iter().chain(&class.swapped).copied().filter(is_asked).collect::<Vec<_>>();
        let mut left: Vec<Vec<Material>> = classes.level(pieces).map(|(_, class)| members(class)).collect();
        left.retain(|members| members.iter().any(|material| !known(material, &duels)));
        // Most duels for a row first, so that an unfinished run has many.
        left.sort_by_key(|members| classes.get(member_class(&classes, members[0])).index().rows / members.len());
        let bar = progress_bar(all as u64, "duels");
        bar.set_position(duels.len() as u64);
        bar.reset_eta();
        exit_on_interrupt(&bar, "the duels of finished classes are in the file; the same command continues");
        let (pool, mut left_out) = (BufferPool::default(), 0);
        for members in left {
            bar.set_message(members[0].to_string());
            let watched: Vec<Position> = members.iter().flat_map(|&material| positions(material, rules)).collect();
            let job = ClassJob {
                dir: &self.tables,
                rules: *options,
                material: members[0],
                stats_only: None,
                memory: self.memory.get().bytes(),
                spill: self.spill.as_deref().unwrap_or(&self.tables),
                provenance: Provenance::default(),
                pool: pool.clone(),
            };
            let values = match self.threads.run(|| job.watch(&watched, None))? {
                Ok((_, values)) => values,
                Err(error @ SetError::Memory { .. }) => {
                    bar.suspend(|| eprintln!("dsq-lab: {error}"));
                    left_out += members.len();
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let noted = Noted::new(tables, watched.into_iter().zip(values));
            let new = members.iter().filter(|material| !known(material, &duels));
            let new: Vec<Duel> =
                new.filter_map(|&material| duel(&noted, material).transpose()).collect::<Result<_, _>>()?;
            file.append(&new.iter().map(|duel| to_json(duel) + "\n").collect::<String>())?;
            bar.inc(new.len() as u64);
            duels.extend(new);
        }
        bar.finish_and_clear();
        Ok((duels, left_out))
    }
}

impl Duels {
    /// Searches duels with the tables of fewer pieces. What a search proves must be the result of the duel. Returns how many
    /// it proves.
    fn check(&self, duels: &[Duel], rules: &Rules, nodes: u64) -> Result<String, Failure> {
        let tables = Arc::new(SearchTables::open(&self.tables, rules.options())?);
        let engine = || Engine::new(EngineOptions::default().hash_mib(16).tables(tables.clone()));
        let proved = |engine: &mut Engine, duel: &Duel| -> Option<Wdl> {
            let material = format!("{}v{}", duel.white, duel.black).parse().ok()?;
            engine.new_game();
            let game = Game::new(position(material), rules.clone(), None);
            let found = engine.search(&game, &Limits::default().nodes(nodes)).run();
            match found.lines.first()?.score {
                score if score.is_win() => Some(Wdl::Win),
                score if score.is_loss() => Some(Wdl::Loss),
                _ => None,
            }
        };
        let proved: Vec<Option<Wdl>> = self.threads.run(|| duels.par_iter().map_init(engine, proved).collect())?;
        let both = duels.iter().zip(&proved).filter_map(|(duel, proved)| Some((duel, (*proved)?)));
        if let Some((duel, proved)) = both.clone().find(|(duel, proved)| *proved != duel.wdl) {
            let text = format!("a search proves {} for White, not {}", to_json(&proved), to_json(duel));
            return Err(Failure::Mismatch(text));
        }
        let decided = duels.iter().filter(|duel| duel.wdl != Wdl::Draw).count();
        let (proved, nodes) = (both.count(), grouped(nodes));
        Ok(format!("searches of {nodes} nodes prove {proved} of {decided} decided duels and contradict none"))
    }
}

fn animals(material: Material) -> Sizes {
    Color::ALL.map(|color| material.side(color).len())
}

/// The class of a material.
fn member_class(classes: &Classes, material: Material) -> ClassId {
    classes.member(material).expect("the classes have as many pieces").class
}

fn size(duel: &Duel) -> Sizes {
    [duel.white.len(), duel.black.len()]
}

/// The duels of one size as a picture.
fn picture(duels: &[Duel], white: usize, black: usize) -> String {
    let duels: Vec<&Duel> = duels.iter().filter(|duel| size(duel) == [white, black]).collect();
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
