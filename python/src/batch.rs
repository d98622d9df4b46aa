//! Many games in lockstep, without Python: the core of `VecEnv`.

use crate::actions::{self, OBSERVATION, PLANES};
use crate::outcome;
use doushouqi::board::{Color, Fen, Move, NoMove, Position, Repetition, Rules, Square};
#[cfg(target_arch = "x86_64")]
use doushouqi::cpu::CpuLevel;
use doushouqi::game::random::Random;
use doushouqi::game::{Game, GameEnd};

/// The planes of a position in a history: an observation, and whether the position has occurred before.
pub(crate) const HISTORY_PLANES: usize = PLANES + 1;

/// The plies for which a history has space at first: more than the usual no-capture limit.
const HISTORY: usize = 128;

/// The settings of all games of a batch.
pub(crate) struct Setup {
    pub rules: Rules,
    /// `None` is no limit.
    pub no_capture_limit: Option<u32>,
    pub auto_reset: bool,
    /// One first position for all games, or one for each.
    starts: Vec<Start>,
}

/// A first position, and its legal actions.
struct Start {
    fen: Fen,
    mask: u32,
}

impl Setup {
    pub fn new(rules: Rules, no_capture_limit: Option<u32>, auto_reset: bool) -> Setup {
        Setup { rules, no_capture_limit, auto_reset, starts: Vec::new() }
    }

    /// Sets the first positions, one for all games or one for each.
    ///
    /// # Errors
    /// The number of a position in which the game is over.
    pub fn set_starts(&mut self, starts: Vec<Fen>) -> Result<(), usize> {
        let start = |(i, fen): (usize, Fen)| {
            let mask = Env::new(&fen).judge(self).0;
            if mask == 0 { Err(i) } else { Ok(Start { fen, mask }) }
        };
        self.starts = starts.into_iter().enumerate().map(start).collect::<Result<_, usize>>()?;
        Ok(())
    }

    #[inline(always)]
    fn start(&self, game: usize) -> &Start {
        if let [start] = &self.starts[..] { start } else { &self.starts[game] }
    }

    /// The first position of a game.
    pub fn first(&self, game: usize) -> &Fen {
        &self.start(game).fen
    }
}

/// A game of a batch. It has the rules of [`doushouqi::game::Game`], but distinguishes positions by their Zobrist keys
/// and keeps only the keys since the last capture.
#[derive(Clone)]
pub(crate) struct Env {
    position: Position,
    /// The keys since the last capture, the current position's last.
    keys: Vec<u64>,
    /// The actions since the last capture.
    actions: Vec<u8>,
    /// A bit for the low bits of each of these keys. Most positions are new, which a clear bit proves without reading
    /// the keys: they lie elsewhere in memory.
    seen: [u64; 8],
    halfmove_clock: u32,
    /// How often the current position has occurred, this time included.
    occurrences: usize,
    /// How the game ended, as [`outcome::number`]; 0 while it goes on.
    end: i8,
}

/// The rows of one game in the buffers that Python sees.
pub(crate) struct Row<'a> {
    /// The legal actions as bits; once the game is over, all bits are set and no action has an effect.
    pub legal: &'a mut u32,
    pub observation: &'a mut [i8],
    pub mask: &'a mut [bool],
    pub reward: &'a mut f32,
    /// The rewards of White and Black.
    pub side_rewards: &'a mut [f32],
    /// The observation in which the last game ended.
    pub last: &'a mut [i8],
    pub done: &'a mut bool,
    pub end: &'a mut i8,
    pub turn: &'a mut i8,
    pub clock: &'a mut i32,
    pub occurrences: &'a mut i32,
}

impl Env {
    pub fn new(start: &Fen) -> Env {
        let mut env = Env {
            position: start.position.clone(),
            keys: Vec::with_capacity(HISTORY),
            actions: Vec::with_capacity(HISTORY),
            seen: [0; 8],
            halfmove_clock: start.halfmove_clock,
            occurrences: 0,
            end: 0,
        };
        env.count();
        env
    }

    /// A game with its moves since the last capture; earlier ones have no effect.
    pub fn of(game: &Game, setup: &Setup) -> Env {
        let positions = game.since_capture();
        let plies = positions.len() - 1;
        let halfmove_clock = game.halfmove_clock() - plies as u32;
        let mut env = Env::new(&Fen { position: positions[0].clone(), halfmove_clock });
        for &mv in &game.moves()[game.moves().len() - plies..] {
            env.play(mv, actions::action(mv, env.position.turn()));
        }
        env.judged(setup)
    }

    /// The same game, over or not by the rules and the limit of a batch.
    pub fn judged(mut self, setup: &Setup) -> Env {
        self.end = self.judge(setup).1;
        self
    }

    /// Whether the game is over.
    pub fn is_over(&self) -> bool {
        self.end != 0
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns to the first position.
    fn restart(&mut self, start: &Fen) {
        self.position.clone_from(&start.position);
        self.halfmove_clock = start.halfmove_clock;
        self.end = 0;
        self.forget();
        self.count();
    }

    /// The game from the position after the last capture, or from the first position.
    pub fn game(&self, rules: &Rules, no_capture_limit: Option<u32>) -> Game {
        let (mut position, mut moves) = (self.position.clone(), Vec::new());
        for &action in self.actions.iter().rev() {
            let mv;
            (position, mv) = before(&position, action);
            moves.push(mv);
        }
        let halfmove_clock = self.halfmove_clock - moves.len() as u32;
        let mut game = Game::from_fen(Fen { position, halfmove_clock }, rules.clone(), no_capture_limit);
        moves.into_iter().rev().for_each(|mv| game.play(mv).expect("it was legal"));
        game
    }

    /// Writes the last positions since the last capture into `planes`, which must be zero: see `VecEnv.history_planes`.
    pub fn write_history(&self, positions: usize, planes: &mut [i8]) {
        let (of_positions, clock) = planes.split_at_mut(positions * HISTORY_PLANES * Square::COUNT);
        let mut position = self.position.clone();
        let turn = position.turn();
        let last = self.keys.len() - 1;
        for (plies, out) in of_positions.chunks_exact_mut(HISTORY_PLANES * Square::COUNT).take(last + 1).enumerate() {
            if plies > 0 {
                position = before(&position, self.actions[last - plies]).0;
            }
            let (pieces, repeated) = out.split_at_mut(OBSERVATION);
            let view = if position.turn() == turn { position.clone() } else { position.pass() };
            actions::write::<1>(&view, pieces);
            let (earlier, from_here) = self.keys.split_at(last - plies);
            repeated.fill(i8::from(earlier.contains(&from_here[0])));
        }
        clock.fill(i8::try_from(self.halfmove_clock).unwrap_or(i8::MAX));
    }

    /// Makes a move that is legal, and starts again if that ends the game and the batch resets.
    #[inline(always)]
    fn step_here(&mut self, setup: &Setup, number: usize, action: usize, row: &mut Row<'_>) {
        self.rest(row);
        if self.end != 0 {
            return;
        }
        let mv = actions::to_move(&self.position, action).expect("the action was checked");
        let mover = self.position.turn();
        actions::write::<0>(&self.position, row.observation);
        self.play(mv, action);
        let (mut legal, end, winner) = self.judge(setup);
        (self.end, *row.end, *row.done) = (end, end, end != 0);
        if end != 0 {
            if let Some(winner) = winner {
                *row.reward = if winner == mover { 1.0 } else { 0.0 };
                row.side_rewards[winner as usize] = 1.0;
                row.side_rewards[!winner as usize] = -1.0;
            }
            actions::observe(&self.position, row.last);
            legal = u32::MAX;
            if setup.auto_reset {
                let start = setup.start(number);
                self.restart(&start.fen);
                legal = start.mask;
            }
        }
        self.show(legal, row);
    }

    /// A step in which the game rests.
    #[inline(always)]
    pub fn rest(&self, row: &mut Row<'_>) {
        (*row.reward, *row.end, *row.done) = (0.0, self.end, self.end != 0);
        row.side_rewards.fill(0.0);
    }

    /// Drops the game and begins again at the first position.
    pub fn reset(&mut self, setup: &Setup, number: usize, row: &mut Row<'_>) {
        let start = setup.start(number);
        self.restart(&start.fen);
        self.rest(row);
        row.observation.fill(0);
        self.show(start.mask, row);
    }

    /// Goes on with another game.
    pub fn replace(&mut self, other: Env, setup: &Setup, row: &mut Row<'_>) {
        *self = other;
        self.rest(row);
        row.observation.fill(0);
        let legal = if self.is_over() { u32::MAX } else { self.judge(setup).0 };
        self.show(legal, row);
    }

    #[inline(always)]
    fn play(&mut self, mv: Move, action: usize) {
        if mv.is_capture(&self.position) {
            self.halfmove_clock = 0;
            self.forget();
        } else {
            self.halfmove_clock += 1;
            self.actions.push(action as u8);
        }
        self.position = self.position.make(mv);
        self.count();
    }

    /// Forgets all earlier positions.
    #[inline(always)]
    fn forget(&mut self) {
        self.keys.clear();
        self.actions.clear();
        self.seen = [0; 8];
    }

    /// Counts the occurrences of the current position and adds it to the earlier ones.
    #[inline(always)]
    fn count(&mut self) {
        let key = self.position.key();
        let (word, bit) = ((key >> 6) as usize % 8, 1 << (key % 64));
        let earlier =
            if self.seen[word] & bit == 0 { 0 } else { self.keys.iter().filter(|&&earlier| earlier == key).count() };
        self.seen[word] |= bit;
        self.keys.push(key);
        self.occurrences = earlier + 1;
    }

    /// The legal actions, how the game has ended, and who won.
    #[inline(always)]
    fn judge(&self, setup: &Setup) -> (u32, i8, Option<Color>) {
        let over = |end: GameEnd| (0, outcome::number(end), end.winner());
        if let Some(winner) = self.position.winner() {
            let taken = self.position.side(!winner).is_empty();
            return over(if taken { GameEnd::Captured(winner) } else { GameEnd::Den(winner) });
        }
        let options = setup.rules.options();
        let enough = match options.repetition {
            Repetition::Threefold => 3,
            Repetition::Twofold => 2,
            _ => usize::MAX,
        };
        if self.occurrences >= enough {
            return over(GameEnd::Repetition(None));
        }
        let mut mask = actions::legal(&self.position, &setup.rules);
        if options.repetition == Repetition::Illegal {
            mask &= self.new_positions(setup);
        }
        if mask == 0 {
            let winner = (options.no_move == NoMove::Loss).then_some(!self.position.turn());
            return over(GameEnd::NoMove(winner));
        }
        if setup.no_capture_limit.is_some_and(|limit| self.halfmove_clock >= limit) {
            return over(GameEnd::NoCapture(None));
        }
        (mask, 0, None)
    }

    /// The actions that do not lead into an earlier position.
    #[cold]
    fn new_positions(&self, setup: &Setup) -> u32 {
        let mut moves = self.position.moves(&setup.rules);
        moves.retain(|mv| mv.is_capture(&self.position) || !self.keys.contains(&self.position.make(mv).key()));
        actions::mask(&moves, self.position.turn())
    }

    /// Writes the current position into an observation without pieces, and writes the other rows.
    #[inline(always)]
    fn show(&self, legal: u32, row: &mut Row<'_>) {
        actions::write::<1>(&self.position, row.observation);
        *row.legal = legal;
        for (action, shown) in row.mask.iter_mut().enumerate() {
            *shown = legal >> action & 1 != 0;
        }
        *row.turn = self.position.turn() as i8;
        *row.clock = self.halfmove_clock as i32;
        *row.occurrences = self.occurrences as i32;
    }
}

/// The position before a move without a capture, and the move.
fn before(position: &Position, action: u8) -> (Position, Move) {
    // Without a capture the piece returns in the opposite direction.
    let position = position.pass();
    let back = actions::to_move(&position, usize::from(action) ^ 1).expect("the piece came from there");
    (position.make(back).pass(), Move { animal: back.animal, from: back.to, to: back.from })
}

/// A random legal action, each with the same probability.
#[inline(always)]
fn sample_here(mut legal: u32, random: &mut Random) -> usize {
    // The upper half of a product spreads 32 bits over the actions without a division.
    let mut skip = (((random.bits() >> 32) * u64::from(legal.count_ones())) >> 32) as u32;
    // A binary search for the bit with `skip` bits below it: no branch depends on the random number.
    let mut action = 0;
    for width in [16, 8, 4, 2, 1] {
        let below = (legal & ((1 << width) - 1)).count_ones();
        let above = u32::from(skip >= below);
        skip -= below * above;
        legal >>= width * above;
        action += width * above;
    }
    action as usize
}

/// Compiles the hot functions for a CPU level.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled {
    ($step:ident, $sample:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        fn $step(env: &mut Env, setup: &Setup, number: usize, action: usize, row: &mut Row<'_>) {
            env.step_here(setup, number, action, row);
        }

        #[target_feature(enable = $features)]
        fn $sample(legal: u32, random: &mut Random) -> usize {
            sample_here(legal, random)
        }
    };
}
#[cfg(target_arch = "x86_64")]
compiled!(step_avx2, sample_avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
compiled!(step_avx512, sample_avx512, "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq");

/// Makes a legal action in the game of a number, with the vector instructions of this CPU.
#[inline]
pub(crate) fn step(env: &mut Env, setup: &Setup, number: usize, action: usize, row: &mut Row<'_>) {
    // SAFETY: `CpuLevel::get` returns no level whose features this CPU does not have.
    #[cfg(target_arch = "x86_64")]
    match CpuLevel::get() {
        CpuLevel::Avx512 => return unsafe { step_avx512(env, setup, number, action, row) },
        CpuLevel::Avx2 => return unsafe { step_avx2(env, setup, number, action, row) },
        CpuLevel::Portable | CpuLevel::Neon => {}
    }
    env.step_here(setup, number, action, row);
}

/// A random legal action, each with the same probability; at least one must be legal.
#[inline]
pub(crate) fn sample(legal: u32, random: &mut Random) -> usize {
    // SAFETY: as in `step`.
    #[cfg(target_arch = "x86_64")]
    match CpuLevel::get() {
        CpuLevel::Avx512 => return unsafe { sample_avx512(legal, random) },
        CpuLevel::Avx2 => return unsafe { sample_avx2(legal, random) },
        CpuLevel::Portable | CpuLevel::Neon => {}
    }
    sample_here(legal, random)
}
