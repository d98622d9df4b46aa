//! A match: pairs of games, several at the same time, counted and reported in the order of their numbers. Without time
//! limits, the results of a match do not depend on the concurrency.

use super::adjudication::Adjudication;
use super::error::MatchError;
use super::openings::{Openings, OpeningsError};
use super::player::{Player, Requirements};
use super::referee::{Conditions, PlayedGame, Usage, play};
use super::spec::PlayerSpec;
use super::statistics::{Decision, Sprt, Tally};
use doushouqi::board::{ByColor, Color, Rules};
use doushouqi::game::{Conclusion, ForfeitReason, Record};
use doushouqi::search::{Engine, TableCache};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The settings of a match.
#[derive(Clone, Debug)]
pub struct Match {
    /// The players. Results are from the view of the first one.
    pub players: [PlayerSpec; 2],
    /// The number of games; with a test, the maximum.
    pub games: u64,
    /// The number of the first pair of games, which decides its opening.
    pub first_pair: u64,
    /// The limits of the moves.
    pub conditions: Conditions,
    /// The openings; each is played twice, with the colours exchanged.
    pub openings: Openings,
    /// The rules by which an arbiter ends games.
    pub adjudication: Adjudication,
    /// The number of games that are played at the same time.
    pub concurrency: usize,
    /// The rules of the games.
    pub rules: Rules,
    /// The plies without a capture after which a game is drawn; `None` is no limit.
    pub no_capture_limit: Option<u32>,
    /// Whether programs play by these rules without receiving them.
    pub assume_rules: bool,
    /// A test that ends the match with its decision.
    pub sprt: Option<Sprt>,
}

/// The forfeits and the usage of a player.
#[derive(Copy, Clone, Debug, Default)]
pub struct Side {
    /// Games lost on time.
    pub time_losses: u64,
    /// Games lost by an illegal move.
    pub illegal_moves: u64,
    /// Games lost by a crash.
    pub crashes: u64,
    /// Time and nodes of all games together.
    pub usage: Usage,
}

/// The results of a match so far.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The results from the view of the first player.
    pub tally: Tally,
    /// The forfeits and the usage of each player.
    pub players: [Side; 2],
    /// The number of games by the value of the tag `Termination`.
    pub terminations: BTreeMap<&'static str, u64>,
    /// The plies of all games together.
    pub plies: u64,
    /// Why the opening of the next game cannot be played, which ended the match.
    pub opening_error: Option<OpeningsError>,
    /// An incomplete pair: its number, and the points of the first player in its first game, in halves.
    half_pair: Option<(u64, usize)>,
}

impl Standing {
    fn add(&mut self, game: &MatchGame) {
        let conclusion = game.played.record.conclusion();
        let halves = game.halves();
        self.tally.add_game(halves);
        match self.half_pair.take() {
            Some((pair, first)) if pair == game.number / 2 => self.tally.add_pair(first, halves),
            _ => self.half_pair = Some((game.number / 2, halves)),
        }
        *self.terminations.entry(conclusion.termination()).or_default() += 1;
        self.plies += game.played.record.game.moves().len() as u64;
        for color in Color::ALL {
            self.players[game.players[color]].usage.add(&game.played.usage[color]);
        }
        if let Conclusion::Forfeit(forfeit) = conclusion {
            let side = &mut self.players[game.players[forfeit.loser]];
            match forfeit.reason {
                ForfeitReason::Time => side.time_losses += 1,
                ForfeitReason::IllegalMove => side.illegal_moves += 1,
                ForfeitReason::Crash => side.crashes += 1,
                _ => {}
            }
        }
    }
}

/// A game of a match.
#[derive(Clone, Debug)]
pub struct MatchGame {
    /// The number of the game, from 0. Games 2k and 2k + 1 have the same opening.
    pub number: u64,
    /// The player, 0 or 1, of each colour.
    pub players: ByColor<usize>,
    /// The game.
    pub played: PlayedGame,
}

/// The players of a game: the first player is White in games with an even number.
fn seats(number: u64) -> ByColor<usize> {
    let swapped = number % 2 == 1;
    ByColor { white: usize::from(swapped), black: usize::from(!swapped) }
}

impl MatchGame {
    /// The points of the first player in halves: 0, 1 or 2.
    #[must_use]
    pub fn halves(&self) -> usize {
        match self.played.record.conclusion().winner() {
            None => 1,
            Some(winner) if self.players[winner] == 0 => 2,
            Some(_) => 0,
        }
    }
}

/// The two players of a game.
type Team = [Box<dyn Player>; 2];

impl Match {
    /// Plays the match. `report` receives every game in the order of their numbers, and may end the match. Setting
    /// `stop` also ends the match; unfinished games then do not count.
    ///
    /// The match also ends when its test reaches a decision, or before the first opening that cannot be played.
    ///
    /// # Errors
    /// If the match cannot start: a player cannot be created, its files cannot be used, or all openings end the game.
    pub fn run(
        &self,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&MatchGame, &Standing) -> ControlFlow<()>,
    ) -> Result<Standing, MatchError> {
        self.resume(BTreeMap::new(), stop, report)
    }

    /// Continues the match: `earlier` are the games that an earlier run has played, by their numbers
    /// ([`Match::games_of`]). They are reported and count as if they had just been played.
    ///
    /// # Errors
    /// As [`Match::run`].
    pub fn resume(
        &self,
        earlier: BTreeMap<u64, MatchGame>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&MatchGame, &Standing) -> ControlFlow<()>,
    ) -> Result<Standing, MatchError> {
        let pairs = self.first_pair.saturating_add(self.games.div_ceil(2));
        self.openings.check(pairs, &self.rules, self.no_capture_limit)?;
        let (known, mut waiting): (BTreeSet<u64>, _) = (earlier.keys().copied().collect(), earlier);
        let mut standing = Standing::default();
        if self.count(&mut waiting, &mut standing, report) || known.len() as u64 >= self.games {
            return Ok(standing);
        }
        let teams = self.teams(self.games - known.len() as u64, stop)?;
        let next = AtomicU64::new(0);
        // Stops the running games when the test has decided.
        let over = AtomicBool::new(false);
        let (sender, games) = channel();
        std::thread::scope(|scope| {
            for mut team in teams {
                let (sender, next, over, known) = (sender.clone(), &next, &over, &known);
                let play = move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= self.games || over.load(Ordering::Relaxed) {
                            break;
                        }
                        if known.contains(&number) {
                            continue;
                        }
                        let played = self.play(number, &mut team, over).transpose();
                        if played.is_none_or(|game| sender.send(game).is_err()) {
                            break;
                        }
                    }
                };
                let thread = std::thread::Builder::new().stack_size(Engine::STACK);
                thread.spawn_scoped(scope, play).expect("a thread can be started");
            }
            drop(sender);
            let mut ended = false;
            let mut opening_error = None;
            loop {
                // Forwards the caller's stop to the players.
                if stop.load(Ordering::Relaxed) {
                    over.store(true, Ordering::Relaxed);
                }
                match games.recv_timeout(Duration::from_millis(20)) {
                    Ok(Ok(game)) => drop(waiting.insert(game.number, game)),
                    Ok(Err(error)) => {
                        // The games before this opening go on.
                        next.store(self.games, Ordering::Relaxed);
                        opening_error = Some(error);
                    }
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if !ended && self.count(&mut waiting, &mut standing, report) {
                    ended = true;
                    over.store(true, Ordering::Relaxed);
                }
            }
            standing.opening_error = opening_error.filter(|_| !ended);
            // The number of games after such an opening depends on the concurrency, so they do not count.
            ended |= standing.opening_error.is_some();
            // Games after a stopped one are complete, and count as well.
            for game in waiting.into_values().filter(|_| !ended) {
                standing.add(&game);
                if report(&game, &standing).is_break() {
                    break;
                }
            }
        });
        Ok(standing)
    }

    /// Counts and reports the games before which no game is missing. Returns whether the match ends with one of them.
    fn count(
        &self,
        waiting: &mut BTreeMap<u64, MatchGame>,
        standing: &mut Standing,
        report: &mut dyn FnMut(&MatchGame, &Standing) -> ControlFlow<()>,
    ) -> bool {
        while let Some(game) = waiting.remove(&standing.tally.games()) {
            standing.add(&game);
            let go_on = report(&game, standing);
            let decided = standing.half_pair.is_none() && self.decision(standing).is_some();
            if decided || go_on.is_break() {
                return true;
            }
        }
        false
    }

    /// The games of this match among saved ones, by their numbers: those of the same players, time control, rules, limit
    /// and opening. Their usage is unknown.
    #[must_use]
    pub fn games_of(&self, records: Vec<Record>) -> BTreeMap<u64, MatchGame> {
        let games = records.into_iter().filter_map(|record| {
            let tag = |name: &str| record.tags.iter().find(|(tag, _)| tag == name).map(|(_, text)| text.clone());
            let number = tag("Round")?.parse::<u64>().ok()?.checked_sub(1).filter(|&number| number < self.games)?;
            let players = seats(number);
            let opening = self.openings.game(self.opening(number), &self.rules, self.no_capture_limit).ok()?;
            let game = &record.game;
            let is_game = record.white == self.players[players.white].name()
                && record.black == self.players[players.black].name()
                && tag("TimeControl")? == self.conditions.control.to_string()
                && game.rules().options() == self.rules.options()
                && game.no_capture_limit() == self.no_capture_limit
                && game.start_fen() == opening.start_fen()
                && game.moves().starts_with(opening.moves())
                && record.conclusion().result() != "*";
            let played = PlayedGame { detail: tag("Detail"), usage: ByColor::default(), record };
            is_game.then_some((number, MatchGame { number, players, played }))
        });
        games.collect()
    }

    /// The number of a game's opening.
    fn opening(&self, number: u64) -> u64 {
        self.first_pair.wrapping_mul(2).wrapping_add(number)
    }

    /// The players of each of `games` games that are played at the same time.
    fn teams(&self, games: u64, stop: &AtomicBool) -> Result<Vec<Team>, MatchError> {
        let mut specs = self.players.clone();
        let mut cache = TableCache::default();
        for spec in &mut specs {
            spec.load(&mut cache, self.rules.options())?;
        }
        let requirements = Requirements {
            rules: *self.rules.options(),
            no_capture_limit: self.no_capture_limit,
            control: self.conditions.control,
            patience: self.conditions.patience,
            assume_rules: self.assume_rules,
            remarks: true,
        };
        let team = |worker| {
            let requirements = Requirements { remarks: worker == 0, ..requirements };
            Ok([specs[0].make(&requirements, stop)?, specs[1].make(&requirements, stop)?])
        };
        (0..self.concurrency.clamp(1, games.max(1) as usize)).map(team).collect()
    }

    /// The decision of the test, if it has one.
    #[must_use]
    pub fn decision(&self, standing: &Standing) -> Option<Decision> {
        self.sprt.and_then(|sprt| sprt.decision(&standing.tally))
    }

    /// Plays a game; `None` if the match is stopped during the game.
    fn play(
        &self,
        number: u64,
        team: &mut [Box<dyn Player>; 2],
        stop: &AtomicBool,
    ) -> Result<Option<MatchGame>, OpeningsError> {
        let game = self.openings.game(self.opening(number), &self.rules, self.no_capture_limit)?;
        let plies = game.moves().len();
        let players = seats(number);
        let [first, second] = team;
        let (white, black) = if players.white == 1 { (second, first) } else { (first, second) };
        let seats = ByColor { white: white.as_mut(), black: black.as_mut() };
        let seed = self.openings.seed().wrapping_add(number);
        let Some(mut played) = play(seats, game, &self.conditions, &self.adjudication, seed, stop) else {
            return Ok(None);
        };
        let record = &mut played.record;
        record.white = self.players[players.white].name().to_owned();
        record.black = self.players[players.black].name().to_owned();
        record.tags.push(("Round".to_owned(), (number + 1).to_string()));
        record.tags.push(("TimeControl".to_owned(), self.conditions.control.to_string()));
        record.tags.push(("OpeningPlies".to_owned(), plies.to_string()));
        if let Some(detail) = &played.detail {
            record.tags.push(("Detail".to_owned(), detail.clone()));
        }
        Ok(Some(MatchGame { number, players, played }))
    }
}
