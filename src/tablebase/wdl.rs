//! Win, draw or loss of every position of few pieces, in memory, for search: two bits a position.

use super::codec::Layout;
use super::{ClassId, Classes, Index, Material, ROW_CELLS, SetError, Solver, Table, TableSet, Value, WIDTH, Wdl};
use crate::board::{ByColor, Color, Lanes, NoMove, Position, RuleOptions, Square};
use rayon::prelude::*;

/// The result of every position of up to some number of pieces, for both sides to move: about 330 MB for four pieces.
/// A probe takes about 100 ns, most of it the wait for memory.
pub struct WdlTables {
    pieces: usize,
    /// By class, and by side to move: four values a byte.
    packed: Vec<ByColor<Vec<u8>>>,
    /// By White's animals and Black's animals, a byte each.
    materials: Vec<Option<Box<Probe>>>,
}

/// How to find the positions of one material.
struct Probe {
    class: ClassId,
    swapped: bool,
    /// What each piece on each square adds to the number of the value, looked up straight and mirrored; pieces in the
    /// order of lanes, White's first.
    offsets: [Vec<[u32; WIDTH]>; 2],
    /// The piece whose square decides whether to look up mirrored, and the squares for which it is so.
    first: usize,
    mirrored: u64,
}

const DRAW: u8 = 0;
const WIN: u8 = 1;
const LOSS: u8 = 2;

impl WdlTables {
    /// Solves all materials of up to `pieces` pieces. For four pieces that takes less time than reading their tables.
    pub fn solve(rules: &RuleOptions, pieces: usize) -> Result<WdlTables, super::SolveError> {
        let mut solver = Solver::new(rules, pieces, super::Options::default());
        for n in 2..=pieces {
            solver.solve_level(n, true, &|_, _| ())?;
        }
        let classes = solver.classes();
        let packed = (0..classes.len())
            .into_par_iter()
            .map(|i| pack(classes, ClassId(i), solver.table(ClassId(i)).expect("the class is solved and kept")))
            .collect();
        Ok(WdlTables::new(classes, packed))
    }

    /// Reads the tables of up to `pieces` pieces from a directory.
    pub fn read(set: &TableSet, pieces: usize) -> Result<WdlTables, SetError> {
        let classes = Classes::new(set.rules(), pieces);
        let packed = (0..classes.len())
            .into_par_iter()
            .map(|i| Ok(pack(&classes, ClassId(i), &set.file(ClassId(i))?.load()?)))
            .collect::<Result<_, SetError>>()?;
        Ok(WdlTables::new(&classes, packed))
    }

    fn new(classes: &Classes, packed: Vec<ByColor<Vec<u8>>>) -> WdlTables {
        let mut materials: Vec<Option<Box<Probe>>> = Vec::new();
        materials.resize_with(1 << 16, || None);
        for material in (2..=classes.pieces()).flat_map(Material::all) {
            materials[key(material.white.bits(), material.black.bits())] =
                Some(Box::new(Probe::new(classes, material)));
        }
        WdlTables { pieces: classes.pieces(), packed, materials }
    }

    /// The largest number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// Memory used by the values, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.packed.iter().map(|side| side.white.len() + side.black.len()).sum()
    }

    /// Who wins, from the side to move's view. `None` for a position with more pieces, and for a game that is over.
    #[inline]
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Wdl> {
        if position.winner().is_some() {
            return None;
        }
        self.probe_lanes([position.lanes(Color::White), position.lanes(Color::Black)], position.turn())
    }

    /// The same of a position that is known not to be over.
    #[inline]
    pub(crate) fn probe_lanes(&self, lanes: [&Lanes; 2], turn: Color) -> Option<Wdl> {
        let sets =
            lanes.map(|lanes| lanes.iter().enumerate().fold(0u8, |set, (a, &lane)| set | u8::from(lane != 0) << a));
        let probe = self.materials[key(sets[0], sets[1])].as_deref()?;
        let (mut straight, mut mirrored, mut mirror) = (0, 0, false);
        let mut piece = 0;
        for lanes in lanes {
            for &lane in lanes {
                if lane != 0 {
                    let square = (lane.trailing_zeros() & 63) as usize;
                    straight += probe.offsets[0][piece][square];
                    mirrored += probe.offsets[1][piece][square];
                    mirror |= piece == probe.first && probe.mirrored >> square & 1 != 0;
                    piece += 1;
                }
            }
        }
        let number = if mirror { mirrored } else { straight } as usize;
        let turn = if probe.swapped { !turn } else { turn };
        Some(match self.packed[probe.class.0][turn][number / 4] >> (number % 4 * 2) & 3 {
            WIN => Wdl::Win,
            LOSS => Wdl::Loss,
            _ => Wdl::Draw,
        })
    }
}

fn key(white: u8, black: u8) -> usize {
    usize::from(white) << 8 | usize::from(black)
}

/// The values of a class, of each row only the cells that a file keeps.
fn pack(classes: &Classes, id: ClassId, table: &Table) -> ByColor<Vec<u8>> {
    let index = Index::new(classes.get(id).representative);
    let layout = Layout::new(&index);
    let no_move = if classes.options().no_move == NoMove::Loss { LOSS } else { DRAW };
    ByColor::from_fn(|turn| {
        let mut packed = vec![0; (index.rows * layout.row_len()).div_ceil(4)];
        for row in 0..index.rows {
            for (i, cell) in layout.cells().enumerate() {
                let value = match Value::from_code(table.cells[turn].get(row * ROW_CELLS + cell)) {
                    Some(Value::Decided(plies)) if plies % 2 == 1 => WIN,
                    Some(Value::Decided(_)) => LOSS,
                    Some(Value::NoMove) => no_move,
                    Some(Value::Draw) | None => DRAW,
                };
                let number = row * layout.row_len() + i;
                packed[number / 4] |= value << (number % 4 * 2);
            }
        }
        packed
    })
}

impl Probe {
    fn new(classes: &Classes, material: Material) -> Probe {
        let member = classes.member(material).expect("the classes hold all materials of so few pieces");
        let index = Index::new(classes.get(member.class).representative);
        let layout = Layout::new(&index);
        let mut men: Vec<_> = material.pieces().collect();
        men.sort_by_key(|&(color, animal)| (color, animal));
        let slot = |piece: usize| {
            let there = member.men.iter().find(|(here, _)| *here == men[piece]).expect("a piece of the material").1;
            index.men.iter().position(|&man| man == there).expect("a piece of the class")
        };
        let there = |square: Square| if member.swapped { square.flip() } else { square };
        let offsets = [false, true].map(|mirror| {
            (0..men.len())
                .map(|piece| {
                    let slot = slot(piece);
                    let mut offsets = [0; WIDTH];
                    for square in super::squares_in_play(men[piece]) {
                        let target = if mirror { there(square).mirror() } else { there(square) };
                        offsets[square.index()] = match index.row_pieces.get(slot) {
                            Some(p) => p.digit[target.index()] * p.stride * layout.row_len() as u32,
                            None if slot == index.row_pieces.len() => layout.word_offset(target),
                            None => layout.lane_offset(target),
                        };
                    }
                    offsets
                })
                .collect()
        });
        let first = (0..men.len()).find(|&piece| slot(piece) == 0).expect("one piece is first");
        let mirrored = if index.is_mirrored() {
            Square::all().filter(|&s| there(s).file() > 3).fold(0, |set, s| set | 1 << s.index())
        } else {
            0
        };
        Probe { class: member.class, swapped: member.swapped, offsets, first, mirrored }
    }
}
