//! Patterns in the tables: draws by material, swaps of one piece, parity, fortresses, the longest lines.

use crate::trees::both_sides;
use doushouqi::board::{Animal, Color, Piece, Position, RuleOptions, Rules, Square};
use doushouqi::tablebase::{
    CellValue, ClassId, Material, MaterialTable, Options, Probe, SolveError, Solver, Stats, position_of,
};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use study::{Winner, information, manhattan};

/// The draws of a class, with White to move.
#[derive(Clone, Debug, Serialize)]
pub struct Draws {
    /// Number of pieces.
    pub pieces: usize,
    /// The first of the materials in the order of spelling.
    pub material: String,
    /// The number of materials with the same table.
    pub materials: usize,
    /// Number of positions of one material.
    pub positions: u64,
    /// Positions won by the side to move.
    pub wins: u64,
    /// Positions lost by the side to move.
    pub losses: u64,
    /// Drawn positions.
    pub draws: u64,
    /// Positions without a legal move.
    pub no_move: u64,
    /// `draws` divided by `positions`.
    pub share: f64,
}

/// The draws of all materials of 2 to `pieces` pieces, for each piece count the material with the most draws first.
pub fn draws(options: &RuleOptions, pieces: usize) -> Result<Vec<Draws>, SolveError> {
    let mut solver = Solver::new(options, pieces, Options::default());
    let mut all = Vec::new();
    for n in 2..=pieces {
        solver.solve_level(n, n < pieces, &|_, _| ())?;
        for (id, class) in solver.classes().level(n) {
            let Some(stats) = solver.class_stats(id) else { continue };
            for (materials, stats) in [(&class.same, &stats.white), (&class.swapped, &stats.black)] {
                let Some(material) = materials.first() else { continue };
                let s = Stats::summary(stats);
                all.push(Draws {
                    pieces: n,
                    material: material.to_string(),
                    materials: materials.len(),
                    positions: s.positions,
                    wins: s.wins,
                    losses: s.losses,
                    draws: s.draws,
                    no_move: s.no_move,
                    share: s.draws as f64 / s.positions as f64,
                });
            }
        }
    }
    all.sort_by(|a, b| a.pieces.cmp(&b.pieces).then(b.share.total_cmp(&a.share)));
    Ok(all)
}

/// The effect of replacing one animal by another on its square, over all materials of one piece count with White to
/// move.
#[derive(Clone, Debug, Serialize)]
pub struct Swap {
    /// The side of the animal.
    pub side: String,
    /// The stronger animal.
    pub stronger: String,
    /// The weaker animal.
    pub weaker: String,
    /// Number of positions that are possible with either animal.
    pub positions: u64,
    /// Positions whose winner changes.
    pub turned: u64,
    /// Positions in which the stronger animal does worse.
    pub worse: u64,
    /// `turned` divided by `positions`.
    pub share: f64,
    /// The material (with the stronger animal) with the largest share of positions whose winner changes.
    pub most: String,
    /// The share of positions of that material whose winner changes.
    pub most_share: f64,
}

/// All swaps of one animal for another, the largest share first. `tables` must contain `pieces` pieces.
#[must_use]
pub fn swaps(tables: &Solver, pieces: usize) -> Vec<Swap> {
    /// Positions, turned, worse.
    type Count = [u64; 3];
    /// The largest share and its material.
    type Most = Option<(f64, Material)>;
    // Each pair of materials once, from the stronger animal's side.
    let pairs: Vec<(Material, Color, Animal, Animal)> = Material::all(pieces)
        .into_iter()
        .flat_map(|material| material.pieces().map(move |piece| (material, piece.color, piece.animal)))
        .flat_map(|(material, color, stronger)| {
            let weaker = Animal::ALL.into_iter().filter(move |&weaker| weaker < stronger);
            weaker.map(move |weaker| (material, color, stronger, weaker))
        })
        .filter(|&(material, color, _, weaker)| !material.side(color).contains(weaker))
        .collect();
    // Pairs of materials whose tables are equal, piece by piece, have the same counts.
    let mut kinds: HashMap<_, Vec<usize>> = HashMap::new();
    for (i, &(material, color, stronger, weaker)) in pairs.iter().enumerate() {
        let pieces: Vec<Piece> = material.pieces().collect();
        let [strong, weak] = [stronger, weaker].map(|animal| Piece { color, animal });
        let place = pieces.iter().position(|&piece| piece == strong);
        let (Some(with), Some(without)) = (kind(tables, material, &pieces), {
            let other: Vec<Piece> = pieces.iter().map(|&piece| if piece == strong { weak } else { piece }).collect();
            kind(tables, replace(material, color, stronger, weaker), &other)
        }) else {
            continue;
        };
        kinds.entry((with, without, place)).or_default().push(i);
    }
    let counted: Vec<(Vec<usize>, Count)> = kinds
        .into_par_iter()
        .filter_map(|(_, same)| {
            let &(material, color, stronger, weaker) = pairs.get(*same.first()?)?;
            Some((same, count_swap(tables, material, color, stronger, weaker)?))
        })
        .collect();
    let mut sums: BTreeMap<(Color, Animal, Animal), (Count, Most)> = BTreeMap::new();
    for (same, count) in counted {
        let share = count[1] as f64 / count[0] as f64;
        for i in same {
            let (material, color, stronger, weaker) = pairs[i];
            let (sum, most) = sums.entry((color, stronger, weaker)).or_default();
            sum.iter_mut().zip(count).for_each(|(sum, n)| *sum += n);
            // Of equal shares, the first material in the order of spelling.
            if most.is_none_or(|(so_far, first)| share > so_far || share == so_far && material < first) {
                *most = Some((share, material));
            }
        }
    }
    let mut swaps: Vec<Swap> = sums
        .into_iter()
        .map(|((side, stronger, weaker), ([positions, turned, worse], most))| Swap {
            side: side.to_string(),
            stronger: stronger.to_string(),
            weaker: weaker.to_string(),
            positions,
            turned,
            worse,
            share: turned as f64 / positions as f64,
            most: most.map_or_else(String::new, |(_, material)| material.to_string()),
            most_share: most.map_or(0.0, |(share, _)| share),
        })
        .collect();
    swaps.sort_by(|a, b| b.share.total_cmp(&a.share));
    swaps
}

fn replace(material: Material, color: Color, out: Animal, animal: Animal) -> Material {
    let out = Piece { color, animal: out };
    let pieces = material.pieces().map(|piece| if piece == out { Piece { color, animal } } else { piece });
    Material::of_pieces(pieces).expect("both sides keep their number of pieces")
}

/// The properties that determine the values of these pieces: the class, whether the colours are exchanged, and the
/// corresponding pieces of the representative.
fn kind(tables: &Solver, material: Material, pieces: &[Piece]) -> Option<(ClassId, bool, Vec<Piece>)> {
    let member = tables.classes().member(material)?;
    let there = |piece: &Piece| member.pieces.iter().find(|(here, _)| here == piece).map(|&(_, there)| there);
    Some((member.class, member.swapped, pieces.iter().map(there).collect::<Option<_>>()?))
}

fn count_swap(tables: &Solver, material: Material, color: Color, stronger: Animal, weaker: Animal) -> Option<[u64; 3]> {
    let options = tables.classes().options();
    let other = replace(material, color, stronger, weaker);
    let (with, without) = (tables.material_table(material)?, tables.material_table(other)?);
    // The correspondence between the pieces of the two materials.
    let [strong, weak] = [stronger, weaker].map(|animal| Piece { color, animal });
    let place = |&piece: &Piece| {
        let here = if piece == weak { strong } else { piece };
        with.pieces().iter().position(|&piece| piece == here)
    };
    let order: Vec<usize> = without.pieces().iter().map(place).collect::<Option<_>>()?;
    let mut count = [0; 3];
    let _ = with.each(Color::White, |squares, value| {
        let there: Vec<Square> = order.iter().map(|&i| squares[i]).collect();
        if let Some(other) = without.value(&there, Color::White) {
            let (a, b) = (Winner::of(value, Color::White, options), Winner::of(other, Color::White, options));
            count[0] += 1;
            count[1] += u64::from(a != b);
            let worse = if color == Color::White { a > b } else { a < b };
            count[2] += u64::from(worse);
        }
        Ok::<(), Infallible>(())
    });
    Some(count)
}

/// The winners by the parity of a distance, in a material with White to move.
#[derive(Clone, Debug, Serialize)]
pub struct Parity {
    /// The material.
    pub material: String,
    /// The two pieces, as in `Ee`; or `all` for the sum over all pairs of enemies.
    pub pair: String,
    /// Positions at an even distance that White wins, draws and loses.
    pub even: [u64; 3],
    /// Positions at an odd distance that White wins, draws and loses.
    pub odd: [u64; 3],
    /// The share of the positions at an even distance that White wins.
    pub white_even: f64,
    /// The share of the positions at an odd distance that White wins.
    pub white_odd: f64,
    /// The information gain of the parity about the winner, in bits per position.
    pub gain: f64,
}

/// The results by the parity of the Manhattan distance, for every class of `pieces` pieces, with either side to move as
/// in [`trees::sizes`](crate::trees::sizes), and every pair of enemies. Ordered by information gain, the largest first.
#[must_use]
pub fn parities(tables: &Solver, pieces: usize) -> Vec<Parity> {
    let mut all: Vec<Parity> = both_sides(tables.classes(), pieces)
        .into_par_iter()
        .filter_map(|material| parity(tables, material))
        .flatten()
        .collect();
    all.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    all
}

fn parity(tables: &Solver, material: Material) -> Option<Vec<Parity>> {
    let table = tables.material_table(material)?;
    let pieces = table.pieces();
    let side = |color| pieces.iter().enumerate().filter(move |(_, piece)| piece.color == color).map(|(i, _)| i);
    let pairs: Vec<(usize, usize)> = side(Color::White).flat_map(|w| side(Color::Black).map(move |b| (w, b))).collect();
    let mut counts = vec![[[0u64; 3]; 2]; pairs.len() + 1];
    let _ = table.each(Color::White, |squares, value| {
        let winner = Winner::of(value, Color::White, tables.classes().options()) as usize;
        let mut sum = 0;
        for (i, &(w, b)) in pairs.iter().enumerate() {
            let distance = usize::from(manhattan(squares[w], squares[b]));
            sum += distance;
            counts[i][distance % 2][winner] += 1;
        }
        counts[pairs.len()][sum % 2][winner] += 1;
        Ok::<(), Infallible>(())
    });
    let letter = |i: usize| pieces[i].letter();
    let names = pairs.iter().map(|&(w, b)| format!("{}{}", letter(w), letter(b))).chain(["all".to_owned()]);
    let rows = names.zip(counts).take(if pairs.len() == 1 { 1 } else { usize::MAX });
    Some(
        rows.map(|(pair, [even, odd])| {
            let share = |counts: [u64; 3]| counts[0] as f64 / counts.iter().sum::<u64>() as f64;
            let both = std::array::from_fn(|i| even[i] + odd[i]);
            let total: u64 = both.iter().sum();
            let gain = (information(both) - information(even) - information(odd)) / total as f64;
            let (white_even, white_odd) = (share(even), share(odd));
            Parity { material: material.to_string(), pair, even, odd, white_even, white_odd, gain }
        })
        .collect(),
    )
}

/// The fortresses of a class: draws that a side with one piece holds without leaving a part of the board.
#[derive(Clone, Debug, Serialize)]
pub struct Fortresses {
    /// The material.
    pub material: String,
    /// The number of materials with the same table, colours exchanged or not.
    pub materials: usize,
    /// The letter of the holder's animal, a capital for White.
    pub holder: String,
    /// Drawn positions of one material with either side to move, without stalemates.
    pub draws: u64,
    /// Draws that the holder holds by moving between two squares.
    pub two_squares: u64,
    /// Draws that the holder holds on the three ranks at its own den.
    pub home: u64,
    /// Draws that the holder holds on the three middle ranks.
    pub middle: u64,
    /// Draws that the holder holds on the three ranks at the enemy's den.
    pub far: u64,
    /// Draws that the holder holds in at least one of these ways.
    pub fortresses: u64,
    /// `fortresses` divided by `draws`.
    pub share: f64,
    /// An example: the first FEN, in alphabetical order, of the way that holds the most draws.
    pub fen: Option<String>,
}

/// The fortresses of all classes of `pieces` pieces in which a lone piece could hold a draw (with two pieces, either
/// one), the most fortresses first.
///
/// A fortress is a drawn position in which the holder keeps the draw while its only piece stays in one part of the
/// board. Formally, consider the sets of draws with that piece in the part such that every move of the opponent stays
/// in the set (or loses), and the holder, if it is to move, has a move within the set. The fortresses are the largest
/// such set.
#[must_use]
pub fn fortresses(tables: &Solver, pieces: usize) -> Vec<Fortresses> {
    let mut tasks: Vec<(Material, usize, Color)> = Vec::new();
    for (_, class) in tables.classes().level(pieces) {
        let material = class.representative;
        let materials = class.same.len() + class.swapped.len();
        for color in Color::ALL {
            // A class that is its own exchange needs only one side.
            let own_exchange = class.swapped.is_empty() && color == Color::Black;
            if material.side(color).len() == 1 && !own_exchange {
                tasks.push((material, materials, color));
            }
        }
    }
    let mut all: Vec<Fortresses> = tasks
        .into_par_iter()
        .filter_map(|(material, materials, holder)| fortress(tables, material, materials, holder))
        .collect();
    all.sort_by(|a, b| b.fortresses.cmp(&a.fortresses).then_with(|| a.material.cmp(&b.material)));
    all
}

fn fortress(tables: &Solver, material: Material, materials: usize, holder: Color) -> Option<Fortresses> {
    let rules = Rules::new(*tables.classes().options());
    let table: MaterialTable = tables.material_table(material)?;
    let lone = table.pieces().iter().position(|piece| piece.color == holder)?;
    let animal = table.pieces()[lone].animal;
    // The draws, by the holder's square.
    let mut drawn: BTreeMap<Square, Vec<Position>> = BTreeMap::new();
    for turn in Color::ALL {
        let _ = table.each(turn, |squares, value| {
            if value == CellValue::Draw
                && let Some(position) = position_of(table.pieces(), squares, turn)
            {
                drawn.entry(squares[lone]).or_default().push(position);
            }
            Ok::<(), Infallible>(())
        });
    }
    let draws = drawn.values().map(|positions| positions.len() as u64).sum();
    let all: HashSet<&Position> = drawn.values().flatten().collect();
    let held_within = |part: &dyn Fn(Square) -> bool| {
        let within = drawn.iter().filter(|(square, _)| part(**square)).flat_map(|(_, positions)| positions);
        hold(&rules, holder, within, &all)
    };
    let neighbours = |from| tables.classes().options().destinations(animal, from).map(|(to, _)| to);
    let mut two_squares: HashSet<Position> = HashSet::new();
    for &first in drawn.keys() {
        for second in neighbours(first).filter(|&second| second > first) {
            two_squares.extend(held_within(&|square| square == first || square == second));
        }
    }
    let held_in = |third: usize| {
        held_within(&|square| {
            let square = if holder == Color::White { square } else { square.flip() };
            square.rank().index() / 3 == third
        })
    };
    let parts = [two_squares, held_in(0), held_in(1), held_in(2)];
    let [two_squares, home, middle, far] = parts.each_ref().map(|part| part.len() as u64);
    let best = parts.iter().max_by_key(|part| part.len()).and_then(|part| part.iter().map(Position::to_fen).min());
    let fortresses = parts.iter().flatten().collect::<HashSet<_>>().len() as u64;
    Some(Fortresses {
        material: material.to_string(),
        materials,
        holder: doushouqi::board::Piece { color: holder, animal }.letter().to_string(),
        draws,
        two_squares,
        home,
        middle,
        far,
        fortresses,
        share: if draws == 0 { 0.0 } else { fortresses as f64 / draws as f64 },
        fen: best,
    })
}

/// The largest subset that the holder never has to leave.
fn hold<'a>(
    rules: &Rules,
    holder: Color,
    positions: impl Iterator<Item = &'a Position>,
    draws: &HashSet<&Position>,
) -> HashSet<Position> {
    let mut held: HashSet<Position> = positions.cloned().collect();
    loop {
        let leaves: Vec<Position> = held
            .iter()
            .filter(|position| {
                let moves = position.moves(rules);
                let inside = |mv: &doushouqi::board::Move| held.contains(&position.make(*mv));
                let stays = if position.turn() == holder {
                    moves.iter().any(inside)
                } else {
                    moves.iter().all(|mv| inside(mv) || !draws.contains(&position.make(*mv)))
                };
                !stays
            })
            .cloned()
            .collect();
        if leaves.is_empty() {
            return held;
        }
        for position in leaves {
            held.remove(&position);
        }
    }
}

/// A longest line of one piece count, with all moves.
#[derive(Clone, Debug, Serialize)]
pub struct LongestLine {
    /// Number of pieces.
    pub pieces: usize,
    /// The material.
    pub material: String,
    /// The position that it starts from.
    pub fen: String,
    /// The length in plies.
    pub plies: u16,
    /// The moves of best play, in the papers' notation.
    pub line: Vec<String>,
}

/// A longest line of each piece count, from the first position with the longest distance in the order of classes and
/// cells.
pub fn longest_lines(options: &RuleOptions, pieces: usize) -> Result<Vec<LongestLine>, SolveError> {
    let mut solver = Solver::new(options, pieces, Options::default());
    let mut all = Vec::new();
    for n in 2..=pieces {
        solver.solve_level(n, n < pieces, &|_, _| ())?;
        let mut best: Option<(u64, Material, Color)> = None;
        for (id, class) in solver.classes().level(n) {
            let Some(stats) = solver.class_stats(id) else { continue };
            for turn in Color::ALL {
                let longest = stats[turn].summary().longest;
                if best.is_none_or(|best| longest > best.0) {
                    best = Some((longest, class.representative, turn));
                }
            }
        }
        let Some((longest, material, turn)) = best else { continue };
        let tables = Solver::solved_material(options, material)?;
        let Some(position) = first_with(&tables, material, turn, CellValue::Decided(longest as u16)) else { continue };
        let Ok(line) = tables.line(&position);
        all.push(LongestLine {
            pieces: n,
            material: material.to_string(),
            fen: position.to_fen(),
            plies: longest as u16,
            line: line.iter().map(|(mv, position)| mv.notation(position)).collect(),
        });
    }
    Ok(all)
}

/// The first position, in the order of the index, of a class's representative that has this value.
fn first_with(tables: &Solver, representative: Material, turn: Color, value: CellValue) -> Option<Position> {
    let id = tables.classes().member(representative)?.class;
    let cells = &tables.table(id)?.cells[turn];
    let cell = (0..cells.len()).find(|&cell| cells.get(cell) == value.code())?;
    tables.classes().get(id).index().position(cell, turn)
}
