use super::{Failure, Outcome, RulesArg, ThreadsArg, grouped, print, print_json};
use clap::{Args, Subcommand, ValueEnum};
use doushouqi::mining::printed::{judge, judge_positions, wrong_of_tree};
use doushouqi::mining::{FeatureSet, Learner, Sample, Tables, Tree, Which};
use doushouqi::tablebase::Material;

#[derive(Args)]
pub struct Mine {
    #[arg(long)]
    pieces: Option<u8>,
    #[arg(long)]
    material: Option<Material>,
    #[arg(long, default_value = "1")]
    width: usize,
    #[arg(long)]
    which: Option<String>,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}
impl Mine {
    pub fn run(self) -> Outcome {
        let tables = Tables::solve(&self.rules.rules, 3)?;
        for j in judge(&tables) {
            print(format_args!("{} {} {} {} {}", j.tree, j.material, j.positions, j.printed, j.misclassified))?;
        }
        for j in judge_positions(&tables) {
            print(format_args!("{j:?}"))?;
        }
        let list: Vec<Material> = match self.material {
            Some(m) => vec![m],
            None => {
                let mut v = vec![];
                for (_, c) in tables.classes().level(self.pieces.unwrap_or(2).into()) {
                    v.push(c.representative);
                    v.extend(c.swapped.first());
                }
                v
            }
        };
        for m in list {
            for which in [Which::Paper, Which::All] {
                if self.which.as_deref() == Some("all") && which == Which::Paper {
                    continue;
                }
                let t = std::time::Instant::now();
                let set = FeatureSet::new(m, &self.rules.rules, which);
                let table = tables.table(m).unwrap();
                let sample = Sample::new([(&set, &table)], &self.rules.rules);
                let t1 = t.elapsed().as_secs_f64();
                let learner = Learner::new(&sample);
                let mut out = String::new();
                let g = learner.grow(usize::MAX);
                for n in [10, 30, 100] {
                    out += &format!(
                        " {n}:{:.4}",
                        1.0 - *g.errors.get(n - 1).unwrap_or(g.errors.last().unwrap()) as f64
                            / sample.positions() as f64
                    );
                }
                for w in [1, 4, 16].into_iter().take(self.width) {
                    let t = std::time::Instant::now();
                    let tree = learner.smallest(w);
                    out += &format!(
                        " w{w}: {}/{}/{} {}bits {:.2}s",
                        tree.leaves(),
                        tree.depth(),
                        tree.misclassified(),
                        tree.bits(&sample),
                        t.elapsed().as_secs_f64()
                    );
                    if self.material.is_some() && which == Which::All {
                        print(tree.to_text(set.features()))?;
                    }
                }
                print(format_args!(
                    "{m} {which:?} rows {} indist {} feats {} sample {t1:.2} grow {}/{} {out}",
                    sample.rows(),
                    sample.indistinct(),
                    set.features().len(),
                    g.tree.leaves(),
                    g.errors.last().unwrap()
                ))?;
            }
        }
        Ok(())
    }
}
