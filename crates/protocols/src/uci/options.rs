//! The options: their declarations, and `setoption`.

use super::Uci;
use super::output::quoted;
use doushouqi::board::{RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::search::network::Network;
use doushouqi::search::{EngineOptions, Evaluation, Level, Parameter, Tables};
use doushouqi::tablebase::{CountCache, SetError, TablePath, TableProber};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The faults of tables that messages name.
const NAMED_FAULTS: usize = 8;

impl<W: Write + Send + 'static> Uci<W> {
    pub(super) fn set_option(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = split_option(text).ok_or("setoption: write setoption name NAME value VALUE")?;
        let Some(option) = OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            return self.set_parameter(name, value);
        };
        match option.name {
            "Hash" => self.options.hash_mib = option.number(value)? as usize,
            "Clear Hash" => {
                self.engine().new_game();
                return Ok(());
            }
            "Threads" => self.options.threads = option.number(value)? as usize,
            "MultiPV" => {
                self.options.multipv = option.number(value)? as usize;
                let multipv = self.options.multipv;
                self.engine().set_multipv(multipv);
                return Ok(());
            }
            "Move Overhead" => {
                self.options.move_overhead = Duration::from_millis(option.number(value)?.into());
                let move_overhead = self.options.move_overhead;
                self.engine().set_move_overhead(move_overhead);
                return Ok(());
            }
            "Contempt" => self.options.contempt = option.number(value)? as u16,
            "Ponder" => {
                self.ponder = option.boolean(value)?;
                return Ok(());
            }
            "UCI_ShowWDL" => {
                self.show_wdl = option.boolean(value)?;
                return Ok(());
            }
            "UCI_LimitStrength" => {
                self.limit_strength = option.boolean(value)?;
                if self.limit_strength && self.seed == 0 {
                    self.seed = RandomState::new().hash_one(0) as u32 | 1;
                    self.complain(&format!("Seed is {}", self.seed));
                }
                return Ok(());
            }
            "UCI_Elo" => {
                self.elo = option.number(value)? as u16;
                return Ok(());
            }
            "Seed" => {
                self.seed = option.number(value)?;
                return Ok(());
            }
            "Evaluation" => {
                self.evaluation = match value.to_ascii_lowercase().as_str() {
                    "network" => Evaluation::Default,
                    "burnett" => Evaluation::Burnett,
                    _ => return Err(option.refuse("network or burnett", value)),
                };
                self.choose_evaluation();
            }
            "EvalFile" => {
                self.network = self.network(value)?;
                self.choose_evaluation();
            }
            "Rules" => {
                let options: RuleOptions = value.parse().map_err(|error| format!("setoption: {error}"))?;
                self.rules = Rules::new(options);
                let path = self.table_path.to_string_lossy().into_owned();
                match &self.options.tables {
                    Some(tables) if !tables.supports_rules(self.rules.options()) => {
                        self.complain("the endgame tables are for other rules and are not used");
                    }
                    None if !path.is_empty() => {
                        if let Err(problem) = self.set_tables(&path) {
                            self.complain(&problem);
                        }
                    }
                    _ => {}
                }
                if let Some(network) = &self.network {
                    self.warn_of_rules(network);
                }
                return self.replay();
            }
            "TablePath" => return self.set_tables(value),
            "TableProbeDepth" => self.options.tb_probe_depth = option.number(value)? as u8,
            "OnDemandCache" => {
                self.counted = self.counted(value)?.map(Arc::new);
                return Ok(());
            }
            _ => {
                let limit = option.number(value)?;
                self.no_capture_limit = (limit > 0).then_some(limit);
                return self.replay();
            }
        }
        self.end_search();
        self.engine = None;
        Ok(())
    }

    /// Sets a parameter of the search, which is an option if the build can change parameters.
    fn set_parameter(&mut self, name: &str, value: &str) -> Result<(), String> {
        if !Parameter::TUNABLE || Parameter::find(name).is_err() {
            let names = OPTIONS.iter().map(|option| option.name).chain(tunable().map(|parameter| parameter.name));
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(format!("setoption: no option is called {}; there are {names}", quoted(name)));
        }
        self.options.set_parameter(name, value).map_err(|error| format!("setoption: {error}"))?;
        self.end_search();
        self.engine = None;
        Ok(())
    }

    fn choose_evaluation(&mut self) {
        let network = self.network.clone().map(Evaluation::Network);
        self.options.evaluation = network.unwrap_or_else(|| self.evaluation.clone());
    }

    /// The network in a file.
    fn network(&self, path: &str) -> Result<Option<Arc<Network>>, String> {
        if path.is_empty() || path == "<empty>" {
            return Ok(None);
        }
        let network = Network::open(path.as_ref());
        let network = network.map_err(|error| format!("setoption: EvalFile {}: {error}", quoted(path)))?;
        self.warn_of_rules(&network);
        Ok(Some(Arc::new(network)))
    }

    fn warn_of_rules(&self, network: &Network) {
        if !network.trained_under(self.rules.options()) {
            self.complain("the network learned from games under other rules");
        }
    }

    /// Uses the tables of a path from here on. If they are for other rules, they wait for these.
    fn set_tables(&mut self, path: &str) -> Result<(), String> {
        let path = if path == "<empty>" { "" } else { path };
        let (tables, problem) = match self.tables(path) {
            Ok(tables) => (tables, None),
            Err(error @ SetError::Rules { .. }) => (None, Some(error)),
            Err(error) => return Err(format!("setoption: TablePath is unchanged: {error}")),
        };
        self.end_search();
        self.engine = None;
        self.options.tables = tables;
        self.table_path = path.into();
        self.counted = None;
        problem.map_or(Ok(()), |error| Err(format!("setoption: TablePath: {error}; set Rules to use them")))
    }

    /// The tables of a path, which must be for the current rules. Reports parts that cannot be used.
    fn tables(&self, path: &str) -> Result<Option<Arc<Tables>>, SetError> {
        if path.is_empty() {
            return Ok(None);
        }
        self.complain("TablePath: loading");
        let start = Instant::now();
        let (tables, faults) = Tables::open_intact(path.as_ref(), self.rules.options())?;
        for fault in faults.iter().take(NAMED_FAULTS) {
            self.complain(&format!("TablePath: {fault}; the other tables are used"));
        }
        if faults.len() > NAMED_FAULTS {
            self.complain(&format!("TablePath: {} more faults", faults.len() - NAMED_FAULTS));
        }
        self.complain(&format!(
            "TablePath: up to {} pieces, loaded in {} ms",
            tables.largest(),
            start.elapsed().as_millis()
        ));
        Ok(Some(Arc::new(tables)))
    }

    /// The classes in a directory that were counted on demand from the current tables.
    fn counted(&self, dir: &str) -> Result<Option<TableProber>, String> {
        if dir.is_empty() || dir == "<empty>" {
            return Ok(None);
        }
        if self.options.tables.is_none() {
            return Err("setoption: OnDemandCache needs the tables in TablePath, which is set first".to_owned());
        }
        let tables = TablePath::open(&self.table_path).and_then(|path| match path.distances {
            Some(distances) => distances.prober(self.rules.options()),
            None => Err(SetError::NoDistances { path: self.table_path.clone() }),
        });
        let tables = tables.map_err(|error| format!("setoption: {error}"))?;
        // Nothing is written, so the cache does not grow.
        let cache = CountCache { dir: dir.into(), size: u64::MAX, memory: None };
        tables.on_demand(&cache).map(Some).map_err(|error| format!("setoption: {error}"))
    }
}

/// An option as UCI declares it.
struct Setting {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    Spin { default: u32, min: u32, max: u32 },
    Button,
    Check { default: bool },
    Combo { default: &'static str, values: &'static [&'static str] },
    Text { default: &'static str },
}

/// No value is a keyword of UCI, such as `default`: clients split declarations at keywords.
const OPTIONS: [Setting; 18] = [
    Setting { name: "Hash", kind: Kind::Spin { default: 64, min: 1, max: 65_536 } },
    Setting { name: "Clear Hash", kind: Kind::Button },
    Setting { name: "Threads", kind: Kind::Spin { default: 1, min: 1, max: 256 } },
    Setting { name: "MultiPV", kind: Kind::Spin { default: 1, min: 1, max: 32 } },
    Setting { name: "Ponder", kind: Kind::Check { default: false } },
    Setting { name: "Move Overhead", kind: Kind::Spin { default: 10, min: 0, max: 10_000 } },
    Setting { name: "Contempt", kind: Kind::Spin { default: 0, min: 0, max: EngineOptions::MAX_CONTEMPT as u32 } },
    Setting { name: "Evaluation", kind: Kind::Combo { default: "network", values: &["network", "burnett"] } },
    Setting { name: "EvalFile", kind: Kind::Text { default: "<empty>" } },
    Setting { name: "Rules", kind: Kind::Text { default: "paper" } },
    Setting { name: "TablePath", kind: Kind::Text { default: "<empty>" } },
    Setting {
        name: "TableProbeDepth",
        kind: Kind::Spin { default: EngineOptions::TB_PROBE_DEPTH as u32, min: 0, max: 100 },
    },
    Setting { name: "OnDemandCache", kind: Kind::Text { default: "<empty>" } },
    Setting { name: "NoCaptureLimit", kind: Kind::Spin { default: Game::NO_CAPTURE_LIMIT, min: 0, max: 10_000 } },
    Setting { name: "UCI_ShowWDL", kind: Kind::Check { default: false } },
    Setting { name: "UCI_LimitStrength", kind: Kind::Check { default: false } },
    Setting {
        name: "UCI_Elo",
        kind: Kind::Spin { default: Level::MAX_ELO as u32, min: 0, max: Level::MAX_ELO as u32 },
    },
    Setting { name: "Seed", kind: Kind::Spin { default: 0, min: 0, max: u32::MAX } },
];

/// The parameters of the search that are options of this build.
fn tunable() -> impl Iterator<Item = &'static Parameter> {
    Parameter::ALL.iter().filter(|_| Parameter::TUNABLE)
}

/// The declarations of all options, a line each.
pub(super) fn declarations() -> String {
    let mut text: String = OPTIONS.iter().map(|option| format!("{option}\n")).collect();
    for Parameter { name, default, least, most } in tunable() {
        text.push_str(&format!("option name {name} type spin default {default} min {least} max {most}\n"));
    }
    text
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match self.kind {
            Kind::Spin { default, min, max } => write!(f, "spin default {default} min {min} max {max}"),
            Kind::Button => f.write_str("button"),
            Kind::Check { default } => write!(f, "check default {default}"),
            Kind::Combo { default, values } => write!(f, "combo default {default} var {}", values.join(" var ")),
            Kind::Text { default } => write!(f, "string default {default}"),
        }
    }
}

impl Setting {
    /// Parses a value as a number within the limits of the option.
    fn number(&self, value: &str) -> Result<u32, String> {
        let (min, max) = match self.kind {
            Kind::Spin { min, max, .. } => (min, max),
            _ => (0, u32::MAX),
        };
        let number = value.parse().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| self.refuse(&format!("a number from {min} to {max}"), value))
    }

    fn boolean(&self, value: &str) -> Result<bool, String> {
        value.to_ascii_lowercase().parse().map_err(|_| self.refuse("true or false", value))
    }

    fn refuse(&self, expected: &str, value: &str) -> String {
        format!("setoption: {} is {expected}, not {}", self.name, quoted(value))
    }
}

/// The name and the value of `name NAME value VALUE`. The value may be missing, and may contain spaces.
fn split_option(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix("name")?;
    if !text.starts_with(char::is_whitespace) {
        return None;
    }
    let is_value = |&(i, _): &(usize, &str)| {
        text[..i].ends_with(char::is_whitespace) && text[i + 5..].chars().next().is_none_or(char::is_whitespace)
    };
    let (name, value) = match text.match_indices("value").find(is_value) {
        Some((i, word)) => (&text[..i], &text[i + word.len()..]),
        None => (text, ""),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| (name, value.trim()))
}
