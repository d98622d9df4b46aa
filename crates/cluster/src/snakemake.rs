//! A plan for Snakemake: the exact graph of classes with one file for each. An interrupted run resumes with the missing
//! files. Snakemake's storage plugins copy the files to and from object stores.

use super::plan::Plan;
use super::slurm::Jobs;

/// A string in Python, which reads all escapes of JSON.
fn python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The Snakefile. It reads the plan from `plan.jsonl` beside it.
#[must_use]
pub fn snakefile(plan: &Plan, jobs: &Jobs<'_>) -> String {
    let last = plan.pieces();
    format!(
        r#"# All classes of 2 to {last} pieces, each made when those that captures lead to are there.
#   snakemake --cores all                                  on this machine
#   snakemake --executor slurm --jobs 100                  on a cluster
#   snakemake --default-storage-provider s3 ...            with the files in an object store
import json
import os

with open("plan.jsonl") as lines:
    PLAN = {{p["class"]: p for p in map(json.loads, lines)}}

DSQ = {program}
TABLES = {dir}
RULES = {rules}
SPILL = {spill}
STATS_ONLY = {stats_only}
SOLVE = (
    "{{params.dsq:q}} cluster solve {{wildcards.name}} --tables {{params.tables:q}} --rules {{params.rules:q}}"
    " --spill {{params.spill:q}} --threads {{threads}} --memory {{resources.mem_mb}}MiB"
)


def target(name):
    counted = STATS_ONLY and PLAN[name]["pieces"] == {last}
    return f"{{TABLES}}/{{name}}." + ("json" if counted else "dsq")


def captures(wildcards):
    return [f"{{TABLES}}/{{name}}.dsq" for name in PLAN[wildcards.name]["captures"]]


# Where Snakemake keeps the files of an object store while a job runs is its own affair.
def here(wildcards, output):
    return os.path.dirname(output[0])


def spill(wildcards, output):
    return SPILL or here(wildcards, output)


def memory(wildcards):
    return 1024 * PLAN[wildcards.name]["memory_gib"]


rule all:
    input: [target(name) for name in PLAN]
    output: TABLES + "/manifest.json"
    params: dsq=DSQ, tables=here, rules=RULES
    shell: "{{params.dsq:q}} cluster finish {{params.tables:q}} --pieces {last} --rules {{params.rules:q}}"


rule solve:
    input: captures
    output: TABLES + "/{{name}}.dsq"
    wildcard_constraints: name="[A-Za-z]+"
    resources: mem_mb=memory
    params: dsq=DSQ, tables=here, rules=RULES, spill=spill
    shell: SOLVE


rule count:
    input: captures
    output: TABLES + "/{{name}}.json"
    wildcard_constraints: name="(?!manifest)[A-Za-z]+"
    resources: mem_mb=memory
    params: dsq=DSQ, tables=here, rules=RULES, spill=spill
    shell: SOLVE + " --stats-only"
"#,
        program = python(jobs.program),
        dir = python(jobs.dir),
        rules = python(jobs.rules),
        spill = jobs.spill.map_or_else(|| "None".to_owned(), python),
        stats_only = if jobs.stats_only { "True" } else { "False" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_python() {
        assert_eq!(python("my \"tables\"\\"), r#""my \"tables\"\\""#);
        // Rust would write a combining accent as \u{301}, which Python refuses.
        assert_eq!(python("cafe\u{301}"), "\"cafe\u{301}\"");
        assert_eq!(python("a\u{1}b"), r#""a\u0001b""#);
    }
}
