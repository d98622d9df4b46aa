//! A plan as Slurm arrays: a script that submits one array for each level and memory size. Each array waits for the
//! previous level. Waiting for whole levels costs little, since the last level is nearly all the work.

use super::plan::{Bundle, Plan, bundles};
use std::fmt::Write;

/// The options of the jobs.
#[derive(Clone, Debug)]
pub struct Jobs<'a> {
    /// The program.
    pub program: &'a str,
    /// The directory of the tables, the same on all nodes.
    pub dir: &'a str,
    /// The rules, with every option.
    pub rules: &'a str,
    /// Whether to keep only the counts of classes with the most pieces.
    pub stats_only: bool,
    /// The directory for the jobs' temporary files; `None` for the directory of the tables.
    pub spill: Option<&'a str>,
    /// The number of tasks that may run at the same time. Each level has four times as many bundles, which keeps a slow
    /// node from delaying the level.
    pub nodes: usize,
}

/// The number of bundles for each node.
const BUNDLES: usize = 4;

/// Quotes a text as one word of the shell.
fn word(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), |quoted| quoted.into_owned())
}

/// The script. Running it (`sh submit.sh`) submits all jobs and prints the number of the last one.
#[must_use]
pub fn script(plan: &Plan, jobs: &Jobs<'_>) -> String {
    let mut text = String::from(
        "#!/bin/sh\n# Submits all classes to Slurm, level by level. Running it again is harmless: solved classes are skipped.\n\
         # sbatch reads SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_QOS and SBATCH_TIMELIMIT from the environment.\n\
         set -eu\nqueued=\n\
         trap 'test -z \"$queued\" || echo \"submit: sbatch failed after these arrays were queued; to cancel them: scancel$queued\" >&2' EXIT\n",
    );
    let spill = jobs.spill.unwrap_or(jobs.dir);
    let words = [jobs.program, jobs.dir, jobs.rules, spill].map(word);
    let [program, dir, rules, spill] = &words;
    let _ = writeln!(text, "export DSQ={program} DIR={dir} RULES={rules} SPILL={spill}");
    text.push_str("mkdir -p \"$DIR/jobs\"\nafter=\n");
    for pieces in 2..=plan.pieces() {
        let all = bundles(plan.level(pieces), jobs.nodes * BUNDLES);
        let mut by_memory: Vec<(u64, Vec<Bundle>)> = Vec::new();
        for bundle in all {
            match by_memory.iter_mut().find(|(gib, _)| *gib == bundle.memory_gib) {
                Some((_, bundles)) => bundles.push(bundle),
                None => by_memory.push((bundle.memory_gib, vec![bundle])),
            }
        }
        let stats = if jobs.stats_only && pieces == plan.pieces() { " --stats-only" } else { "" };
        text.push_str("these=\n");
        for (gib, bundles) in by_memory {
            let file = format!("$DIR/jobs/level-{pieces}-{gib}g.txt");
            let _ = writeln!(text, "cat > \"{file}\" <<'CLASSES'");
            for bundle in &bundles {
                let names: Vec<String> = bundle.classes.iter().map(ToString::to_string).collect();
                let _ = writeln!(text, "{}", names.join(" "));
            }
            let longest = bundles.iter().map(|bundle| bundle.seconds).fold(0.0, f64::max);
            let _ = write!(
                text,
                "CLASSES\n# The longest task is predicted to take {:.0} s.\n\
                 job=$(sbatch --parsable --requeue --kill-on-invalid-dep=yes ${{after:+--dependency=afterok:$after}} --job-name=dsq-{pieces} \
                 --array=1-{} --mem={gib}G --output=\"$DIR/jobs/%x-%A_%a.log\" --open-mode=append --export=ALL --wrap \
                 'exec \"$DSQ\" cluster solve $(sed -n \"${{SLURM_ARRAY_TASK_ID}}p\" \"$DIR/jobs/level-{pieces}-{gib}g.txt\") \
                 --tables \"$DIR\" --rules \"$RULES\" --memory {gib}GiB --spill \"$SPILL\" --threads \"${{SLURM_CPUS_ON_NODE:-1}}\"{stats}')\n\
                 these=\"${{these:+$these:}}${{job%%;*}}\" queued=\"$queued ${{job%%;*}}\"\n",
                longest,
                bundles.len()
            );
        }
        text.push_str("after=$these\n");
    }
    text.push_str("trap - EXIT\necho \"$after\"\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;
    use doushouqi::board::RuleOptions;

    #[test]
    fn every_class_is_in_one_bundle_and_levels_wait() {
        let rate = Rate { rows_per_second: 1e5, job_seconds: 0.1 };
        let plan = Plan::new(&RuleOptions::PAPER, 4, true, rate, None);
        let jobs =
            Jobs { program: "a b/dsq", dir: "/t", rules: "paper", stats_only: true, spill: Some("/my disk"), nodes: 3 };
        let text = script(&plan, &jobs);
        for class in &plan.classes {
            let name = class.class.to_string();
            let times = text.lines().flat_map(|line| line.split(' ')).filter(|word| *word == name).count();
            assert_eq!(times, 1, "{name}");
        }
        assert_eq!(text.matches("sbatch --parsable").count(), 3, "one array a level, as all fit one size of memory");
        assert_eq!(text.matches("--stats-only").count(), 1);
        assert!(
            text.contains("DSQ='a b/dsq'")
                && text.contains("SPILL='/my disk'")
                && text.contains("--dependency=afterok:$after")
        );
    }
}
