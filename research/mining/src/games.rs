//! Statistics of games: numbers of legal moves, lengths and results.

use doushouqi::board::{Color, Move, NoMove, Position, RuleOptions, Rules};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, GameEnd};
use doushouqi::search::{Engine, EngineOptions, Limits};
use doushouqi::tablebase::{Material, SolveError, Solver, position_of, squares_in_play};
use rayon::prelude::*;
use serde::Serialize;
use std::convert::Infallible;
use study::minimax;

/// Numbers of legal moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mobility {
    /// Number of positions, each weighted by the number of materials of its class.
    pub positions: u64,
    /// The mean number of moves.
    pub mean: f64,
    /// The largest number of moves.
    pub max: u32,
    /// The first position found with the largest number of moves.
    pub fen: String,
    /// The number of positions with 0, 1, 2 ... moves.
    pub by_moves: Vec<u64>,
}

impl Mobility {
    fn add(&mut self, moves: u32, times: u64, fen: impl FnOnce() -> Option<String>) {
        if moves as usize >= self.by_moves.len() {
            self.by_moves.resize(moves as usize + 1, 0);
            self.max = moves;
            self.fen = fen().unwrap_or_default();
        }
        self.by_moves[moves as usize] += times;
    }

    fn merge(&mut self, other: Mobility) {
        if self.fen.is_empty() || other.max > self.max {
            (self.max, self.fen) = (other.max, other.fen);
        }
        self.by_moves.resize(self.by_moves.len().max(other.by_moves.len()), 0);
        for (n, more) in self.by_moves.iter_mut().zip(other.by_moves) {
            *n += more;
        }
    }

    fn finish(mut self) -> Mobility {
        self.positions = self.by_moves.iter().sum();
        let moves: u64 = self.by_moves.iter().zip(0..).map(|(n, moves)| n * moves).sum();
        self.mean = moves as f64 / self.positions.max(1) as f64;
        self
    }
}

/// The mobility of all positions of exactly `pieces` pieces with White to move. `tables` must contain them.
#[must_use]
pub fn table_mobility(tables: &Solver, pieces: usize) -> Mobility {
    let rules = Rules::new(*tables.classes().options());
    let materials: Vec<(Material, u64)> = tables
        .classes()
        .level(pieces)
        .flat_map(|(_, class)| [&class.same, &class.swapped])
        .filter_map(|materials| Some((*materials.first()?, materials.len() as u64)))
        .collect();
    let count = |(material, times): (Material, u64)| {
        let mut mobility = Mobility::default();
        if let Some(table) = tables.material_table(material) {
            let _ = table.each(Color::White, |squares, _| {
                if let Some(position) = position_of(table.pieces(), squares, Color::White) {
                    mobility.add(position.count_moves(&rules), times, || Some(position.to_fen()));
                }
                Ok::<(), Infallible>(())
            });
        }
        mobility
    };
    let all: Vec<Mobility> = materials.into_par_iter().map(count).collect();
    let mut sum = Mobility::default();
    all.into_iter().for_each(|mobility| sum.merge(mobility));
    sum.finish()
}

/// The mobility of `positions` random positions of exactly `pieces` pieces, each placement of each material with the
/// same probability.
#[must_use]
pub fn sampled_mobility(options: &RuleOptions, pieces: usize, positions: u64, seed: u64) -> Mobility {
    let rules = Rules::new(*options);
    let mut random = Random::new(seed);
    let materials = Material::all(pieces);
    let mut mobility = Mobility::default();
    let mut found = 0;
    while found < positions {
        let Some(material) = random.choose(&materials) else { break };
        let pieces: Vec<_> = material.pieces().collect();
        // One of 63 squares for each piece. If a piece does not fit, everything including the material is drawn again,
        // so that each placement of each material has the same probability.
        let squares: Option<Vec<_>> =
            pieces.iter().map(|_| doushouqi::board::Square::new((random.bits() % 63) as usize)).collect();
        let Some(squares) = squares else { continue };
        let fits = pieces.iter().zip(&squares).all(|(&piece, &square)| squares_in_play(piece).contains(square));
        let distinct = (1..squares.len()).all(|i| !squares[..i].contains(&squares[i]));
        if let Some(position) = position_of(&pieces, &squares, Color::White).filter(|_| fits && distinct) {
            mobility.add(position.count_moves(&rules), 1, || Some(position.to_fen()));
            found += 1;
        }
    }
    mobility.finish()
}

/// A player of games against itself.
#[derive(Copy, Clone, Debug)]
pub enum SelfPlayer {
    /// A random legal move.
    Random,
    /// A random one of the best moves by minimax with Burnett's evaluation.
    Minimax {
        /// The depth in plies, at least 1.
        depth: u32,
    },
    /// The engine on one thread, with a fixed number of nodes for each move.
    Engine {
        /// The most nodes searched for a move.
        nodes: u64,
    },
}

impl SelfPlayer {
    fn name(self) -> String {
        match self {
            SelfPlayer::Random => "random".to_owned(),
            SelfPlayer::Minimax { depth } => format!("minimax {depth}"),
            SelfPlayer::Engine { nodes } => format!("engine, {nodes} nodes"),
        }
    }

    /// The engine of one game, if the player is the engine.
    fn engine(self) -> Option<Engine> {
        matches!(self, SelfPlayer::Engine { .. }).then(|| Engine::new(EngineOptions::default().hash_mib(1)))
    }

    /// The next move of a game, with random choices from `random`; `None` only if no move is legal.
    fn choose(self, engine: Option<&mut Engine>, game: &Game, random: &mut Random) -> Option<Move> {
        match self {
            SelfPlayer::Random => random.choose(&game.legal_moves()).copied(),
            SelfPlayer::Minimax { depth } => {
                let legal = game.legal_moves();
                let mut best = minimax(game.position(), game.rules(), depth.max(1)).best;
                best.retain(|mv| legal.contains(mv));
                random.choose(&best).copied().or_else(|| random.choose(&legal).copied())
            }
            SelfPlayer::Engine { nodes } => {
                let limits = Limits::default().nodes(nodes);
                engine?.search(game, &limits).run().best()
            }
        }
    }
}

/// A series of games of a player against itself.
#[derive(Copy, Clone, Debug)]
pub struct SelfPlay {
    /// The number of games.
    pub games: u64,
    /// Seed of the openings and of random moves.
    pub seed: u64,
    /// Number of random plies at the start of each game.
    pub opening: u32,
    /// Plies after which a game is stopped as unfinished.
    pub most_plies: usize,
}

/// The results of a series of games.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameStatistics {
    /// The player of both sides.
    pub player: String,
    /// The number of games.
    pub games: u64,
    /// Seed of the openings and of random moves.
    pub seed: u64,
    /// Random plies at the start of each game.
    pub opening: u32,
    /// Games that White won.
    pub white_wins: u64,
    /// Games that Black won.
    pub black_wins: u64,
    /// Games drawn by repetition.
    pub repetitions: u64,
    /// Games drawn by stalemate.
    pub no_move: u64,
    /// Games stopped as unfinished.
    pub unfinished: u64,
    /// The share of drawn games.
    pub draw_share: f64,
    /// The mean length of a game, in plies.
    pub mean_plies: f64,
    /// The median length of a game, in plies.
    pub median_plies: u64,
    /// Plies of the longest game.
    pub longest: u64,
    /// The numbers of legal moves in all positions with a move to make.
    pub moves: Mobility,
    /// The length of each game, in plies, sorted.
    #[serde(skip)]
    pub lengths: Vec<u64>,
}

/// Plays games of a player against itself from the initial position. The games depend only on the seed, not on the
/// number of threads.
#[must_use]
pub fn play(player: SelfPlayer, options: &RuleOptions, series: SelfPlay) -> GameStatistics {
    let rules = Rules::new(*options);
    let games: Vec<(Option<GameEnd>, u64, Mobility)> = (0..series.games)
        .into_par_iter()
        .map(|game| {
            // A separate stream for each game.
            let mut random = Random::new(series.seed.wrapping_add(game.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            play_one(player, &rules, series, &mut random)
        })
        .collect();
    let ended = |how: &dyn Fn(GameEnd) -> bool| games.iter().filter(|game| game.0.is_some_and(how)).count() as u64;
    let won = |color| ended(&|end| end.winner() == Some(color));
    let repetitions = ended(&|end| matches!(end, GameEnd::Repetition(_)));
    let no_move = ended(&|end| matches!(end, GameEnd::NoMove(None)));
    let mut lengths: Vec<u64> = games.iter().map(|game| game.1).collect();
    lengths.sort_unstable();
    let count = series.games.max(1) as f64;
    let statistics = GameStatistics {
        player: player.name(),
        games: series.games,
        seed: series.seed,
        opening: series.opening,
        white_wins: won(Color::White),
        black_wins: won(Color::Black),
        repetitions,
        no_move,
        unfinished: games.iter().filter(|game| game.0.is_none()).count() as u64,
        draw_share: (repetitions + no_move) as f64 / count,
        mean_plies: lengths.iter().sum::<u64>() as f64 / count,
        median_plies: lengths.get(lengths.len() / 2).copied().unwrap_or(0),
        longest: lengths.last().copied().unwrap_or(0),
        moves: Mobility::default(),
        lengths,
    };
    let mut moves = Mobility::default();
    games.into_iter().for_each(|(_, _, mobility)| moves.merge(mobility));
    GameStatistics { moves: moves.finish(), ..statistics }
}

fn play_one(
    player: SelfPlayer,
    rules: &Rules,
    series: SelfPlay,
    random: &mut Random,
) -> (Option<GameEnd>, u64, Mobility) {
    let mut mobility = Mobility::default();
    let mut game = Game::new(Position::start(), rules.clone(), None);
    let mut engine = player.engine();
    while game.end().is_none() && game.moves().len() < series.most_plies {
        let position = game.position();
        mobility.add(position.count_moves(rules), 1, || Some(position.to_fen()));
        let mover = if (game.moves().len() as u32) < series.opening { SelfPlayer::Random } else { player };
        let mv = mover.choose(engine.as_mut(), &game, random);
        if mv.is_none_or(|mv| game.play(mv).is_err()) {
            break;
        }
    }
    (game.end(), game.moves().len() as u64, mobility)
}

/// The share of drawn positions of each piece count with White to move, including stalemates that are draws.
pub(crate) fn drawn_shares(options: &RuleOptions, pieces: usize) -> Result<Vec<f64>, SolveError> {
    let mut solver = Solver::new(options, pieces, doushouqi::tablebase::Options::default());
    let mut shares = Vec::new();
    for n in 2..=pieces {
        solver.solve_level(n, n < pieces, &|_, _| ())?;
        let summary = solver.level_stats(n).unwrap_or_default().summary();
        let no_move = if options.no_move == NoMove::Draw { summary.no_move } else { 0 };
        shares.push((summary.draws + no_move) as f64 / summary.positions as f64);
    }
    Ok(shares)
}
