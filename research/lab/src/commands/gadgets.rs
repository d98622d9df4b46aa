use crate::board_out::BoardOut;
use clap::{Args, Subcommand};
use cli::arguments::{JsonArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::input::read_text;
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use hardness::{Claim, DEFAULT_BOUND, Gadget, GadgetError, Solved, gadget, gadgets};
use report::text::grouped;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Check the gadgets of the PSPACE-hardness proof, deciding their lemmas by exhaustive search.
///
/// A gadget is a part of a board with named entrances. A claim lists the pieces that wait outside each entrance, and
/// states whether their side can force a number of them out through given exits. Both sides may pass at any time, since
/// they can move elsewhere. The command also checks gadgets in files (`dsq-lab gadgets show AND --source` is an example).
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq-lab gadgets check\n  dsq-lab gadgets check AND --claims\n  dsq-lab gadgets check my-gadget.txt\n  \
                        dsq-lab gadgets show AND\n  dsq-lab gadgets play 'BLACK EDGE PROTECTOR' 'top=2 > bottom=1 forced'\n\n\
                        Exit code 1 if a claim does not hold; the play that refutes it is printed."
)]
pub struct Gadgets {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Decide the claims of all gadgets or of the given ones, with one line for each gadget.
    Check {
        /// Names of gadgets, or files.
        gadgets: Vec<String>,
        /// Print one line for each claim.
        #[arg(long)]
        claims: bool,
        /// Abandon a claim that needs more states.
        #[arg(long, default_value_t = DEFAULT_BOUND, value_name = "N", value_parser = at_least_one::<usize>())]
        states: usize,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Draw a gadget, with its entrances and claims.
    Show {
        /// A name or a file.
        gadget: String,
        /// Print the file as it is.
        #[arg(long)]
        source: bool,
        #[command(flatten)]
        out: BoardOut,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Show a claim move by move: best play if it can be forced, the defence against attempts if it is prevented.
    Play {
        /// A name or a file.
        gadget: String,
        /// The claim, as in a file: 'left=1 right=1 > out=1 forced'.
        claim: String,
        /// Maximum number of plies to show.
        #[arg(long, default_value_t = 60, value_name = "N", value_parser = at_least_one::<usize>())]
        plies: usize,
    },
    /// List the gadgets.
    List,
}

/// A gadget with all its claims.
#[derive(Serialize)]
struct LemmaReport<'a> {
    gadget: &'a str,
    lemma: Option<&'a str>,
    /// Whether the paper prints this gadget.
    as_printed: bool,
    holds: bool,
    claims: usize,
    states: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct ClaimReport<'a> {
    gadget: &'a str,
    lemma: Option<&'a str>,
    as_printed: bool,
    claim: &'a str,
    holds: bool,
    forced: bool,
    states: u64,
    plies: Option<u16>,
    /// For a prevented claim: whether the preventing side can pass again and again to move elsewhere.
    free: Option<bool>,
    seconds: f64,
}

impl Gadgets {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Check { gadgets, claims, states, json } => check_all(&gadgets, claims, states, json.on),
            Command::Show { gadget, source, out, json } => show(&gadget, source, &out, json.on),
            Command::Play { gadget, claim, plies } => play(&gadget, &claim, plies),
            Command::List => gadgets().iter().try_for_each(|gadget| print(&gadget.name)),
        }
    }
}

/// The text of a gadget, by name or from a file.
fn source(name: &str) -> Result<String, Failure> {
    let known = hardness::catalog::FILES;
    let mut known =
        known.iter().filter(|(_, text)| Gadget::parse(text).is_ok_and(|g| g.name.eq_ignore_ascii_case(name)));
    if let Some((_, text)) = known.next() {
        return Ok((*text).to_owned());
    }
    if !Path::new(name).exists() {
        let names: Vec<String> = gadgets().into_iter().map(|g| g.name).collect();
        return Err(Failure::Input(format!(
            "{name:?} is neither a gadget nor a file; the gadgets are {}",
            names.join(", ")
        )));
    }
    read_text(Path::new(name))
}

fn read(name: &str) -> Result<Gadget, Failure> {
    if let Some(gadget) = gadget(name) {
        return Ok(gadget);
    }
    Gadget::parse(&source(name)?).map_err(|e| Failure::Input(format!("{name}: {e}")))
}

fn check_all(names: &[String], claims: bool, states: usize, json: bool) -> Outcome {
    let chosen = if names.is_empty() { gadgets() } else { names.iter().map(|n| read(n)).collect::<Result<_, _>>()? };
    let mut failed = Vec::new();
    let bar = progress_bar(chosen.iter().map(|gadget| gadget.claims.len() as u64).sum(), "claims");
    for gadget in &chosen {
        bar.set_message(gadget.name.clone());
        let start = Instant::now();
        let mut total = LemmaReport {
            gadget: &gadget.name,
            lemma: gadget.lemma.as_deref(),
            as_printed: gadget.figure.is_some(),
            holds: true,
            claims: gadget.claims.len(),
            states: 0,
            seconds: 0.0,
        };
        for claim in &gadget.claims {
            let report = check_one(gadget, claim, states)?;
            bar.inc(1);
            total.states += report.states;
            if claims {
                bar.suspend(|| if json { print_json(&report) } else { print(claim_line(&report)) })?;
            }
            if !report.holds {
                total.holds = false;
                failed.push(format!("{}: {}", gadget.name, claim.text));
                if !json {
                    bar.suspend(|| refute(gadget, claim, states))?;
                }
            }
        }
        total.seconds = start.elapsed().as_secs_f64();
        if !claims {
            bar.suspend(|| if json { print_json(&total) } else { print(lemma_line(&total)) })?;
        }
    }
    bar.finish_and_clear();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Mismatch(format!("does not hold: {}", failed.join("; ")))) }
}

fn too_large(error: GadgetError) -> Failure {
    match error {
        GadgetError::TooLarge { .. } => Failure::Environment(error.to_string()),
        _ => Failure::Input(error.to_string()),
    }
}

fn check_one<'a>(gadget: &'a Gadget, claim: &'a Claim, bound: usize) -> Result<ClaimReport<'a>, Failure> {
    let start = Instant::now();
    let checked = hardness::check(gadget, claim, bound).map_err(too_large)?;
    Ok(ClaimReport {
        gadget: &gadget.name,
        lemma: gadget.lemma.as_deref(),
        as_printed: gadget.figure.is_some(),
        claim: &claim.text,
        holds: checked.holds,
        forced: checked.forced,
        states: checked.states as u64,
        plies: checked.plies,
        free: checked.free,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Prints a play that refutes a claim.
fn refute(gadget: &Gadget, claim: &Claim, bound: usize) -> Outcome {
    print(format_args!("{}: \"{}\" does not hold:", gadget.name, claim.text))?;
    let solved = Solved::new(gadget, claim, bound).map_err(too_large)?;
    solved.play(40, true).iter().try_for_each(print)
}

fn lemma_line(report: &LemmaReport) -> String {
    format!(
        "{:32} {:6} {:5} {:2} claims, {:>11} states, {:6.2} s",
        report.gadget,
        report.lemma.map_or(String::new(), |l| format!("({l})")),
        if report.holds { "holds" } else { "FAILS" },
        report.claims,
        grouped(report.states),
        report.seconds
    )
}

fn claim_line(report: &ClaimReport) -> String {
    let how = match (report.plies, report.free) {
        (Some(plies), _) => format!("forced in {plies} plies"),
        (None, Some(false)) => "prevented, but without a free move".to_owned(),
        _ => "prevented".to_owned(),
    };
    format!(
        "{:32} {:5} {:62} {how}, {} states, {:.2} s",
        report.gadget,
        if report.holds { "holds" } else { "FAILS" },
        report.claim,
        grouped(report.states),
        report.seconds
    )
}

fn show(name: &str, as_source: bool, out: &BoardOut, json: bool) -> Outcome {
    let gadget = read(name)?;
    if as_source {
        return print(source(name)?.trim_end());
    }
    if out.write(&gadget.position)? {
        return Ok(());
    }
    let board = gadget.position.board();
    if json {
        #[derive(Serialize)]
        struct Shown<'a> {
            gadget: &'a str,
            lemma: Option<&'a str>,
            board: String,
            entrances: Vec<(&'a str, String)>,
            claims: Vec<&'a str>,
        }
        return print_json(&Shown {
            gadget: &gadget.name,
            lemma: gadget.lemma.as_deref(),
            board: gadget.position.to_text(),
            entrances: gadget.entrances.iter().map(|e| (e.name.as_str(), board.name(e.place))).collect(),
            claims: gadget.claims.iter().map(|c| c.text.as_str()).collect(),
        });
    }
    let lemma = gadget.lemma.as_ref().map_or(String::new(), |l| format!(", lemma {l}"));
    let picture = gadget.position.to_picture();
    let picture = picture.trim_end().strip_suffix("White to move").unwrap_or(&picture);
    print(format_args!("{}{lemma}\n\n{picture}", gadget.name))?;
    for entrance in &gadget.entrances {
        print(format_args!("{:8} {}", entrance.name, board.name(entrance.place)))?;
    }
    gadget.claims.iter().try_for_each(|claim| print(format_args!("claim    {}", claim.text)))
}

fn play(name: &str, claim: &str, plies: usize) -> Outcome {
    let gadget = Gadget::parse(&format!("{}\nclaim: {claim}\n", source(name)?.trim_end()))
        .map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let claim = gadget.claims.last().expect("one was added");
    let solved = Solved::new(&gadget, claim, DEFAULT_BOUND).map_err(too_large)?;
    solved.play(plies, true).iter().try_for_each(print)
}
