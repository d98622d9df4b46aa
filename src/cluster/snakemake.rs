//! A plan for Snakemake: the exact graph of classes, a file each, so that a run is taken up by what is there. Its storage
//! plugins bring the files to and from object stores.

use super::plan::Plan;
use super::slurm::Jobs;

/// The Snakefile. It reads the plan from `plan.jsonl` beside it.
#[must_use]
pub fn snakefile(plan: &Plan, jobs: &Jobs<'_>) -> String {
    let last = plan.pieces();
    let python = |text: &str| format!("{text:?}");
    format!(
        r#"# All classes of 2 to {last} pieces, each made when those that captures lead to are there.
#   snakemake --cores all                                  on this machine
#   snakemake --executor slurm --jobs 100                  on a cluster
import json

with open("plan.jsonl") as lines:
    PLAN = {{p["class"]: p for p in map(json.loads, lines)}}

DSQ = {program}
RULES = {rules}
STATS_ONLY = {stats_only}


def target(name):
    counted = STATS_ONLY and PLAN[name]["pieces"] == {last}
    return f"tables/{{name}}." + ("json" if counted else "dsq")


def memory(wildcards):
    return max(1, -(-PLAN[wildcards.name]["bytes"] // 2**20))


rule all:
    input: [target(name) for name in PLAN]
    output: "tables/manifest.json"
    params: dsq=DSQ
    shell: "{{params.dsq}} cluster finish tables"


rule solve:
    input: lambda w: [f"tables/{{c}}.dsq" for c in PLAN[w.name]["captures"]]
    output: "tables/{{name}}.dsq"
    wildcard_constraints: name="[A-Za-z]+"
    resources: mem_mb=memory
    params: dsq=DSQ, rules=RULES
    shell: "{{params.dsq}} cluster solve {{wildcards.name}} --tables tables --rules {{params.rules}} --threads {{threads}} 2>&1"


rule count:
    input: lambda w: [f"tables/{{c}}.dsq" for c in PLAN[w.name]["captures"]]
    output: "tables/{{name}}.json"
    wildcard_constraints: name="(?!manifest)[A-Za-z]+"
    resources: mem_mb=memory
    params: dsq=DSQ, rules=RULES
    shell: "{{params.dsq}} cluster solve {{wildcards.name}} --tables tables --rules {{params.rules}} --threads {{threads}} --stats-only 2>&1"
"#,
        program = python(jobs.program),
        rules = python(jobs.rules),
        stats_only = if jobs.stats_only { "True" } else { "False" },
    )
}
