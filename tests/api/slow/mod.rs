//! The slow twin: a second implementation of the rules, written from their text alone, on a plain array of squares,
//! with plain loops. It shares only the names of animals, colours, squares and options with the library. The results of
//! both must be equal.

// Every test crate with `mod slow;` compiles its own copy and uses a part of it.
#![allow(dead_code)]

use doushouqi::board::{
    Animal, Color, DogOverWolf, ElephantTakesRat, NoMove, OwnRatBlocks, PantherLeap, Position, RuleOptions, Shore,
    Square, TigerLeap, Traps,
};
use std::collections::BTreeMap;

/// A drawing of the board, rank 9 first: `#` a den, `x` a trap, `~` water.
const MAP: [&str; 9] = [
    "..x#x..", //
    "...x...", //
    ".......", //
    ".~~.~~.", //
    ".~~.~~.", //
    ".~~.~~.", //
    ".......", //
    "...x...", //
    "..x#x..",
];

/// The number of squares of the board.
pub const SQUARES: usize = 63;

/// The piece on each square; the index of a square is `rank * 7 + file`, both from 0, so a1 is 0 and g9 is 62.
pub type Board = [Option<(Color, Animal)>; SQUARES];

/// A board without pieces.
pub const EMPTY: Board = [None; SQUARES];

/// The board of a position of the library.
pub fn board_of(position: &Position) -> Board {
    let mut board = EMPTY;
    for (piece, square) in position.pieces() {
        board[square.index()] = Some((piece.color, piece.animal));
    }
    board
}

fn terrain(square: usize) -> u8 {
    MAP[8 - square / 7].as_bytes()[square % 7]
}

fn is_water(square: usize) -> bool {
    terrain(square) == b'~'
}

/// The side that a square belongs to: White is at the bottom.
fn owner(square: usize) -> Color {
    if square / 7 < 4 { Color::White } else { Color::Black }
}

fn den_owner(square: usize) -> Option<Color> {
    if terrain(square) == b'#' { Some(owner(square)) } else { None }
}

fn trap_owner(square: usize) -> Option<Color> {
    if terrain(square) == b'x' { Some(owner(square)) } else { None }
}

/// Rat 1 to elephant 8.
fn strength(animal: Animal, options: &RuleOptions) -> u8 {
    let dog_over_wolf = options.dog_over_wolf == DogOverWolf::Yes;
    match animal {
        Animal::Rat => 1,
        Animal::Cat => 2,
        Animal::Wolf => {
            if dog_over_wolf {
                3
            } else {
                4
            }
        }
        Animal::Dog => {
            if dog_over_wolf {
                4
            } else {
                3
            }
        }
        Animal::Panther => 5,
        Animal::Tiger => 6,
        Animal::Lion => 7,
        Animal::Elephant => 8,
    }
}

/// Whether an attacker of side `color` that can move from `from` to `to` may capture the enemy's `victim` there.
fn may_take(options: &RuleOptions, color: Color, attacker: Animal, from: usize, victim: Animal, to: usize) -> bool {
    let leaves_water = is_water(from) && !is_water(to);
    let enters_water = !is_water(from) && is_water(to);
    let allowed_by_shore = match options.shore {
        Shore::ElephantSafe => !(leaves_water && attacker == Animal::Rat && victim == Animal::Elephant),
        Shore::None => !leaves_water && !enters_water,
        Shore::NoExit => !leaves_water,
        other => unreachable!("{other} has no slow twin"),
    };
    if !allowed_by_shore {
        return false;
    }
    if let Some(owner) = trap_owner(to) {
        let trap_is_the_victims_own = owner != color;
        match options.traps {
            Traps::Opponent => {
                if !trap_is_the_victims_own {
                    return true;
                }
            }
            Traps::Any => return true,
            Traps::None => {}
            Traps::Sanctuary => return !trap_is_the_victims_own,
            other => unreachable!("{other} has no slow twin"),
        }
    }
    if attacker == Animal::Rat && victim == Animal::Elephant {
        return true;
    }
    if attacker == Animal::Elephant && victim == Animal::Rat {
        return options.elephant_takes_rat == ElephantTakesRat::Yes;
    }
    strength(attacker, options) >= strength(victim, options)
}

/// The winner, if a den is entered or a side has no piece left.
pub fn winner(board: &Board) -> Option<Color> {
    for square in 0..SQUARES {
        if let (Some(den), Some((color, _))) = (den_owner(square), board[square])
            && den != color
        {
            return Some(color);
        }
    }
    for (color, enemy) in [(Color::White, Color::Black), (Color::Black, Color::White)] {
        if !board.iter().flatten().any(|&(c, _)| c == enemy) {
            return Some(color);
        }
    }
    None
}

/// The square that the animal on `from` reaches in one direction: the neighbour, or the far bank of a lake. `None` if
/// there is no such square, or the animal may never move there.
fn destination(
    board: &Board,
    color: Color,
    animal: Animal,
    from: usize,
    (dx, dy): (i32, i32),
    options: &RuleOptions,
) -> Option<usize> {
    let (mut file, mut rank) = ((from % 7) as i32 + dx, (from / 7) as i32 + dy);
    let square = |file: i32, rank: i32| {
        if (0..7).contains(&file) && (0..9).contains(&rank) { Some((rank * 7 + file) as usize) } else { None }
    };
    let mut to = square(file, rank)?;
    if is_water(to) && animal != Animal::Rat {
        let leaps = match animal {
            Animal::Lion => true,
            Animal::Tiger => match options.tiger_leap {
                TigerLeap::Both => true,
                TigerLeap::Files => dy != 0,
                TigerLeap::Ranks => dx != 0,
                TigerLeap::None => false,
                other => unreachable!("{other} has no slow twin"),
            },
            Animal::Panther => match options.panther_leap {
                PantherLeap::None => false,
                PantherLeap::Ranks => dx != 0,
                other => unreachable!("{other} has no slow twin"),
            },
            _ => false,
        };
        if !leaps {
            return None;
        }
        while is_water(to) {
            // Only rats are ever in the water.
            if let Some((rat, _)) = board[to]
                && (rat != color || options.own_rat_blocks == OwnRatBlocks::Yes)
            {
                return None;
            }
            file += dx;
            rank += dy;
            to = square(file, rank)?;
        }
    }
    if den_owner(to) == Some(color) { None } else { Some(to) }
}

fn moves_by_index(board: &Board, turn: Color, options: &RuleOptions) -> Vec<(usize, usize)> {
    let mut moves = Vec::new();
    if winner(board).is_some() {
        return moves;
    }
    for from in 0..SQUARES {
        let Some((color, animal)) = board[from] else { continue };
        if color != turn {
            continue;
        }
        for direction in [(0, 1), (0, -1), (-1, 0), (1, 0)] {
            let Some(to) = destination(board, color, animal, from, direction, options) else { continue };
            let allowed = match board[to] {
                None => true,
                Some((c, _)) if c == color => false,
                Some((_, victim)) => may_take(options, color, animal, from, victim, to),
            };
            if allowed {
                moves.push((from, to));
            }
        }
    }
    moves
}

/// The legal moves of the side `turn`, as pairs of squares. A finished game has none.
pub fn legal_moves(board: &Board, turn: Color, options: &RuleOptions) -> Vec<(Square, Square)> {
    let square = |index| Square::new(index).expect("the index of a square");
    moves_by_index(board, turn, options).into_iter().map(|(from, to)| (square(from), square(to))).collect()
}

/// The board after a move.
pub fn make(board: &Board, from: Square, to: Square) -> Board {
    after(board, from.index(), to.index())
}

fn after(board: &Board, from: usize, to: usize) -> Board {
    let mut next = *board;
    next[to] = next[from].take();
    next
}

/// The number of sequences of `depth` moves. A finished game has only the empty one.
pub fn perft(board: &Board, turn: Color, options: &RuleOptions, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    moves_by_index(board, turn, options)
        .into_iter()
        .map(|(from, to)| perft(&after(board, from, to), !turn, options, depth - 1))
        .sum()
}

/// The number of leaves of the tree of that depth. A position that already occurred on the path, a finished game and a
/// stalemate are leaves, too.
pub fn perft_leaf(board: &Board, turn: Color, options: &RuleOptions, depth: u32) -> u64 {
    leaves(&mut Vec::new(), board, turn, options, depth)
}

fn leaves(path: &mut Vec<(Board, Color)>, board: &Board, turn: Color, options: &RuleOptions, depth: u32) -> u64 {
    if depth == 0 || path.contains(&(*board, turn)) {
        return 1;
    }
    let moves = moves_by_index(board, turn, options);
    if moves.is_empty() {
        return 1;
    }
    path.push((*board, turn));
    let count =
        moves.into_iter().map(|(from, to)| leaves(path, &after(board, from, to), !turn, options, depth - 1)).sum();
    path.pop();
    count
}

/// The value of a position for the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Neither side can force a win.
    Draw,
    /// The side to move has no legal move (stalemate), under any rules.
    NoMove,
    /// The game ends after this number of plies under best play: a win of the side to move if odd, a loss if even.
    Decided(u16),
}

/// The pieces on the board, in a fixed order.
type Material = Vec<(Color, Animal)>;

fn material(white: &[Animal], black: &[Animal]) -> Material {
    let mut pieces: Material = Vec::new();
    pieces.extend(white.iter().map(|&a| (Color::White, a)));
    pieces.extend(black.iter().map(|&a| (Color::Black, a)));
    pieces.sort();
    pieces.dedup();
    pieces
}

/// The stored value of a placement that is not a position, or a finished game.
const INVALID: u16 = u16::MAX;
/// The stored value of a stalemate.
const NO_MOVE: u16 = u16::MAX - 1;
/// The stored value of a draw and, while solving, of an undecided position.
const OPEN: u16 = u16::MAX - 2;

/// The values of all placements of one material.
struct Table {
    pieces: Material,
    /// Two values for each placement: White to move, then Black to move.
    values: Vec<u16>,
}

impl Table {
    /// The index in the table of the position on a board: the squares of the pieces as digits of a number in base 63,
    /// and the side to move.
    fn index(&self, board: &Board, turn: Color) -> usize {
        let mut index = 0;
        for piece in &self.pieces {
            let square = board.iter().position(|&p| p == Some(*piece)).expect("the board has the material's pieces");
            index = index * SQUARES + square;
        }
        index * 2 + turn as usize
    }

    /// The position at an index; `None` if two pieces share a square, a piece is on a forbidden square, or the game is
    /// over.
    fn position(&self, index: usize) -> Option<(Board, Color)> {
        let turn = if index.is_multiple_of(2) { Color::White } else { Color::Black };
        let mut rest = index / 2;
        let mut board = EMPTY;
        for &(color, animal) in self.pieces.iter().rev() {
            let square = rest % SQUARES;
            rest /= SQUARES;
            let drowned = is_water(square) && animal != Animal::Rat;
            if board[square].is_some() || drowned || den_owner(square).is_some() {
                return None;
            }
            board[square] = Some((color, animal));
        }
        Some((board, turn))
    }
}

/// The values of one material and of all materials that its captures lead to.
pub struct Tables {
    options: RuleOptions,
    tables: BTreeMap<Material, Table>,
}

/// Solves one material and all materials that its captures lead to. Both sides need a piece.
pub fn solve(white: &[Animal], black: &[Animal], options: &RuleOptions) -> Tables {
    let mut tables = Tables { options: *options, tables: BTreeMap::new() };
    tables.solve(white, black);
    tables
}

impl Tables {
    /// Tables without any material.
    pub fn new(options: &RuleOptions) -> Tables {
        Tables { options: *options, tables: BTreeMap::new() }
    }

    /// Adds a material and all materials that its captures lead to; keeps those already solved.
    pub fn solve(&mut self, white: &[Animal], black: &[Animal]) {
        assert!(!white.is_empty() && !black.is_empty(), "both sides need a piece");
        self.add(material(white, black));
    }

    fn add(&mut self, pieces: Material) {
        let both_sides = Color::ALL.iter().all(|&side| pieces.iter().any(|&(color, _)| color == side));
        if !both_sides || self.tables.contains_key(&pieces) {
            return;
        }
        for taken in 0..pieces.len() {
            let mut left = pieces.clone();
            left.remove(taken);
            self.add(left);
        }
        let table = self.solve_one(pieces.clone());
        self.tables.insert(pieces, table);
    }

    /// The value of a position whose material has been solved; `None` for an invalid position or a finished game.
    pub fn lookup(&self, pieces: &[(Color, Animal, Square)], turn: Color) -> Option<Value> {
        let mut board = EMPTY;
        for &(color, animal, square) in pieces {
            if board[square.index()].replace((color, animal)).is_some() {
                return None;
            }
        }
        match self.stored(&board, turn) {
            INVALID => None,
            NO_MOVE => Some(Value::NoMove),
            OPEN => Some(Value::Draw),
            plies => Some(Value::Decided(plies)),
        }
    }

    /// As `lookup`, for a valid position that is not a finished game; panics otherwise.
    pub fn value(&self, pieces: &[(Color, Animal, Square)], turn: Color) -> Value {
        self.lookup(pieces, turn).unwrap_or_else(|| panic!("{pieces:?}: no position or a finished game"))
    }

    /// As `value`, for the position on a board.
    pub fn value_of_board(&self, board: &Board, turn: Color) -> Value {
        let place = |square| Square::new(square).expect("the index of a square");
        let pieces: Vec<_> = (0..SQUARES).filter_map(|s| board[s].map(|(c, a)| (c, a, place(s)))).collect();
        self.value(&pieces, turn)
    }

    /// Every position of a solved material that is not finished, with its value.
    pub fn positions(&self, white: &[Animal], black: &[Animal]) -> impl Iterator<Item = (Board, Color, Value)> + '_ {
        let table = &self.tables[&material(white, black)];
        (0..table.values.len()).filter_map(|index| {
            let (board, turn) = table.position(index)?;
            Some((board, turn, self.value_of_board(&board, turn)))
        })
    }

    fn stored(&self, board: &Board, turn: Color) -> u16 {
        let pieces: Material = {
            let mut pieces: Material = board.iter().flatten().copied().collect();
            pieces.sort();
            pieces
        };
        let table = self.tables.get(&pieces).unwrap_or_else(|| panic!("{pieces:?} has not been solved"));
        table.values[table.index(board, turn)]
    }

    /// The plies until the side to move has lost, if the stored value is a loss.
    fn lost_in(&self, stored: u16) -> Option<u16> {
        match stored {
            NO_MOVE => {
                if self.options.no_move == NoMove::Loss {
                    Some(0)
                } else {
                    None
                }
            }
            INVALID | OPEN => None,
            plies => {
                if plies % 2 == 0 {
                    Some(plies)
                } else {
                    None
                }
            }
        }
    }

    /// The plies until the side to move wins, if the stored value is a win.
    fn won_in(&self, stored: u16) -> Option<u16> {
        match stored {
            NO_MOVE | INVALID | OPEN => None,
            plies => {
                if plies % 2 == 1 {
                    Some(plies)
                } else {
                    None
                }
            }
        }
    }

    fn solve_one(&self, pieces: Material) -> Table {
        let places = SQUARES.pow(pieces.len() as u32) * 2;
        let mut table = Table { pieces, values: vec![INVALID; places] };

        // An undecided position: its index, and the targets of its moves. A quiet move leads to an index of this table,
        // a capture to a smaller table, whose value is known.
        struct Undecided {
            place: u32,
            quiet: std::ops::Range<usize>,
            captures: std::ops::Range<usize>,
        }
        let mut quiet: Vec<u32> = Vec::new();
        let mut captures: Vec<u16> = Vec::new();
        let mut undecided: Vec<Undecided> = Vec::new();
        for place in 0..places {
            let Some((board, turn)) = table.position(place) else { continue };
            table.values[place] = OPEN;
            let moves = moves_by_index(&board, turn, &self.options);
            if moves.is_empty() {
                table.values[place] = NO_MOVE;
                continue;
            }
            let (first_quiet, first_capture) = (quiet.len(), captures.len());
            for (from, to) in moves {
                let next = after(&board, from, to);
                if let Some(color) = winner(&next) {
                    assert_eq!(color, turn, "a move wins for the side that makes it");
                    table.values[place] = 1;
                } else if board[to].is_some() {
                    captures.push(self.stored(&next, !turn));
                } else {
                    quiet.push(table.index(&next, !turn) as u32);
                }
            }
            if table.values[place] == 1 {
                quiet.truncate(first_quiet);
                captures.truncate(first_capture);
            } else {
                undecided.push(Undecided {
                    place: place as u32,
                    quiet: first_quiet..quiet.len(),
                    captures: first_capture..captures.len(),
                });
            }
        }

        // Depth by depth. A capture may lead to a distant loss or win, so the loop must go beyond the depths of all
        // smaller tables.
        let deepest_capture = captures.iter().filter(|&&v| v < OPEN).max().copied().unwrap_or(0);
        let mut depth = 0;
        let mut empty_passes = 0;
        while depth <= deepest_capture + 2 || empty_passes < 2 {
            depth += 1;
            let mut decided: Vec<u32> = Vec::new();
            undecided.retain(|position| {
                let values = || {
                    let by_quiet = quiet[position.quiet.clone()].iter().map(|&next| table.values[next as usize]);
                    by_quiet.chain(captures[position.captures.clone()].iter().copied())
                };
                let is_decided = if depth % 2 == 1 {
                    values().any(|v| self.lost_in(v).is_some_and(|plies| plies < depth))
                } else {
                    values().all(|v| self.won_in(v).is_some_and(|plies| plies < depth))
                };
                if is_decided {
                    decided.push(position.place);
                }
                !is_decided
            });
            empty_passes = if decided.is_empty() { empty_passes + 1 } else { 0 };
            for place in decided {
                table.values[place as usize] = depth;
            }
        }
        table
    }
}

/// The presets, and `paper` with each single option at each of its other values.
pub fn presets_and_single_values() -> Vec<RuleOptions> {
    let presets = RuleOptions::PRESETS.into_iter().map(|(_, options)| options);
    presets.chain(RuleOptions::single_changes()).collect()
}
