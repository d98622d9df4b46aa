//! Each kernel against a twin of its name, on random planes. The twins know positions and legal moves, and nothing of rows
//! and words that a kernel does not show.

use super::*;
use crate::board::{Outcome, Position, RuleOptions, Rules};
use crate::gpu::AdapterChoice;
use crate::shaders::{LEFT, LEFT_BITS};
use crate::tablebase::solve::cpu::conversions::{ConversionValue, ESCAPE, NOTHING, WIN_AT_ONCE, value};
use crate::tablebase::solve::cpu::quiet::QuietMoves;
use crate::tablebase::solve::gpu::{Gpu, GpuLimits};
use crate::tablebase::value::{DRAW, NO_MOVE, decided};
use crate::tablebase::{ClassId, Index, Options, Solver, WIDTH, position_of};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

/// A plane of all side rows: 64 words each.
type Plane = Vec<u64>;

/// Classes whose rows are in several pages, and planes in several buffers.
const MATERIALS: [&str; 3] = ["LRvT", "TRvR", "EvR"];
const RULES: [&str; 2] = ["paper", "no-move=loss,own-rat-blocks=no,traps=any"];

/// Solves what the classes lead to and calls `test` with the batch on the GPU.
fn on_card(rules: &str, wide: bool, test: impl Fn(&mut Scene<'_>)) {
    [true, false].into_iter().for_each(|all| on_card_with(all, rules, wide, &test));
}

/// With all that the adapter has, or without subgroups.
fn on_card_with(all: bool, rules: &str, wide: bool, test: &impl Fn(&mut Scene<'_>)) {
    let limits = GpuLimits { buffer: 1 << 15, subgroups: all, ..GpuLimits::NONE };
    let mut gpu = match Gpu::open_limited(AdapterChoice::Any, limits) {
        Ok(gpu) => gpu,
        Err(error) => {
            assert!(std::env::var_os("DSQ_REQUIRE_GPU").is_none_or(|v| v != "1"), "DSQ_REQUIRE_GPU=1, but {error}");
            eprintln!("SKIPPED: {error}");
            return;
        }
    };
    let options: RuleOptions = rules.parse().unwrap();
    let mut solver = Solver::new(&options, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let id = |name: &&str| solver.classes().member(name.parse().unwrap()).unwrap().class;
    let ids: Vec<ClassId> = MATERIALS.iter().map(id).collect();
    let batch = Batch::of(&solver.job(&ids, true), &ids);
    let run = gpu.start(&batch, wide, 64).unwrap();
    assert!(run.pages.len() > 1 && run.planes.open.len() > 1);
    run.clear_lists();
    let indexes = run.plan.members.iter().map(|member| Index::new(member.material).unwrap()).collect();
    let random = Pcg64::seed_from_u64(1);
    test(&mut Scene { run, rules: Rules::new(options), solver: &solver, indexes, random });
}

/// A batch on the GPU, seen as positions.
struct Scene<'a> {
    run: Run<'a>,
    rules: Rules,
    solver: &'a Solver,
    /// By member of the batch.
    indexes: Vec<Index>,
    random: Pcg64,
}

impl Scene<'_> {
    fn side_rows(&self) -> usize {
        self.run.plan.side_rows
    }

    /// The member, the side to move, and the row there of a side row.
    fn place(&self, row: usize) -> (usize, Color, usize) {
        let found = self.run.plan.members.iter().rposition(|member| member.first <= row).unwrap();
        let member = &self.run.plan.members[found];
        let color = if row < member.side(Color::Black) { Color::White } else { Color::Black };
        (found, color, row - member.side(color))
    }

    fn weight(&self, row: usize) -> u64 {
        let (member, _, row) = self.place(row);
        self.indexes[member].weight(row)
    }

    /// The position of a bit: 64 bits a word, 64 words a row.
    fn position(&self, bit: usize) -> Option<Position> {
        let (member, color, row) = self.place(bit / ROW_CELLS);
        let index = &self.indexes[member];
        let squares = index.squares(row * ROW_CELLS + bit % ROW_CELLS)?;
        position_of(&index.pieces, &squares, color)
    }

    /// The bit of a position with the same pieces as those of a row.
    fn bit(&self, row: usize, position: &Position) -> usize {
        let (member, _, _) = self.place(row);
        let index = &self.indexes[member];
        let squares: Vec<_> =
            index.pieces.iter().map(|piece| position.square_of(piece.color, piece.animal).unwrap()).collect();
        self.run.plan.members[member].side(position.turn()) * ROW_CELLS + index.cell(&squares)
    }

    /// All positions.
    fn valid(&self) -> Plane {
        let mut plane = vec![0; self.side_rows() * WIDTH];
        for bit in 0..plane.len() * 64 {
            if self.position(bit).is_some() {
                plane[bit / 64] |= 1 << (bit % 64);
            }
        }
        plane
    }

    /// Some of the positions of a plane: one of `of` stays.
    fn some(&mut self, plane: &Plane, of: u32) -> Plane {
        let mut bit = || (0..64).fold(0, |word, i| word | u64::from(self.random.next_u32().is_multiple_of(of)) << i);
        plane.iter().map(|word| word & bit()).collect()
    }

    fn put(&self, buffers: &[wgpu::Buffer], plane: &Plane) {
        for (buffer, words) in buffers.iter().zip(plane.chunks(self.run.seen_rows * WIDTH)) {
            self.run.device.write(buffer, 0, bytemuck::cast_slice(words));
        }
    }

    fn get(&self, buffers: &[wgpu::Buffer]) -> Plane {
        buffers.iter().flat_map(|buffer| self.words(buffer, buffer.size())).collect()
    }

    fn words(&self, buffer: &wgpu::Buffer, bytes: u64) -> Vec<u64> {
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        self.run.device.read(buffer, 0, bytes, words).unwrap()
    }

    /// The bits of the codes, word by word of all pages.
    fn codes(&self) -> Vec<u64> {
        let bytes = |page: &Page| page.rows as u64 * ROW_BYTES * u64::from(self.run.set.variant.code_stride());
        self.run.pages.iter().flat_map(|page| self.words(&page.codes, bytes(page))).collect()
    }

    fn put_codes(&self, codes: &[u64]) {
        let mut rest = codes;
        for page in &self.run.pages {
            let words;
            (words, rest) = rest.split_at(page.rows * WIDTH * self.run.set.variant.code_stride() as usize);
            self.run.device.write(&page.codes, 0, bytemuck::cast_slice(words));
        }
    }

    /// What a row has room for, in words.
    fn room(&self) -> usize {
        self.run.set.variant.code_stride() as usize * WIDTH
    }

    /// Puts the codes there as changes where there is room for them, else as bits; also what is left. Returns how many
    /// rows have each.
    fn put_logged(&self, codes: &[u64], left: &[u32]) -> [usize; 2] {
        let mut all = codes.to_vec();
        let mut kinds = [0; 2];
        let with_sectors = all.chunks_mut(self.room()).zip(left).map(|(row, left)| {
            let bit_of = |bit: usize, b: usize| (row[b * WIDTH + bit / 64] >> (bit % 64) & 1) << b;
            let code = |bit: usize| (0..row.len() / WIDTH).fold(0, |code, b| code | bit_of(bit, b));
            let mut by_code: BTreeMap<u64, BTreeMap<usize, u64>> = BTreeMap::new();
            for (bit, code) in (0..ROW_CELLS).map(|bit| (bit, code(bit))).filter(|(_, code)| *code != 0) {
                *by_code.entry(code).or_default().entry(bit / 64).or_default() |= 1 << (bit % 64);
            }
            let mut changes = Vec::new();
            for (code, words) in by_code {
                changes.extend([words.keys().fold(0, |mask, s| mask | 1 << s), code]);
                changes.extend(words.values());
                changes.resize(changes.len().next_multiple_of(4), 0);
            }
            let fit = changes.len() <= row.len();
            kinds[usize::from(!fit)] += 1;
            if fit {
                row[..changes.len()].copy_from_slice(&changes);
            }
            left | (changes.len() as u32 / 4) << LEFT_BITS
        });
        let with_sectors: Vec<u32> = with_sectors.collect();
        self.run.write_work(self.run.place.left, &with_sectors);
        self.put_codes(&all);
        kinds
    }

    /// The bits of the codes but the lowest, out of changes where these are.
    fn logged(&self) -> Vec<u64> {
        let mut all = self.codes();
        let left = self.run.read_work(self.run.place.left, self.side_rows()).unwrap();
        for (room, left) in all.chunks_mut(self.room()).zip(left) {
            let used = 4 * (left >> LEFT_BITS) as usize;
            if used > room.len() {
                room[..WIDTH].fill(0);
                continue;
            }
            let changes = room.to_vec();
            room.fill(0);
            let mut rest = &changes[..used];
            while let [words, code, frontier @ ..] = rest {
                let squares: Vec<usize> = (0..WIDTH).filter(|s| words >> s & 1 != 0).collect();
                for (s, frontier) in squares.iter().zip(frontier) {
                    (0..12).filter(|b| code >> b & 1 != 0).for_each(|b| room[b * WIDTH + s] |= frontier);
                }
                rest = &rest[(squares.len() + 2).next_multiple_of(4)..];
            }
        }
        all
    }

    /// Where the word is that has bit `b` of a position's code.
    fn code_place(&self, bit: usize, b: usize) -> usize {
        let (row, s) = (bit / ROW_CELLS, bit / 64 % WIDTH);
        (row * self.run.set.variant.code_stride() as usize + b) * WIDTH + s
    }

    /// The code whose bits are those of a position.
    fn code(&self, codes: &[u64], bit: usize) -> u32 {
        let bits = self.run.set.variant.value_bits() as usize;
        (0..bits).fold(0, |code, b| code | ((codes[self.code_place(bit, b)] >> (bit % 64) & 1) as u32) << b)
    }

    fn set_code(&self, codes: &mut [u64], bit: usize, code: u32) {
        for b in (0..self.run.set.variant.value_bits() as usize).filter(|b| code >> b & 1 != 0) {
            codes[self.code_place(bit, b)] |= 1 << (bit % 64);
        }
    }

    /// How many positions of each row are left to decide; those with none are closed.
    fn put_left(&self, left: &[u32]) {
        self.run.write_work(self.run.place.left, left);
        let stamps: Vec<u32> = left.iter().map(|&left| if left == 0 { u32::MAX } else { 0 }).collect();
        self.run.write_work(self.run.place.stamps, &stamps);
    }

    fn left(&self) -> Vec<u32> {
        self.run.read_work(self.run.place.left, self.side_rows()).unwrap().into_iter().map(|left| left & LEFT).collect()
    }

    /// The counter of a kind, by class and side to move.
    fn counts(&self, kind: usize) -> Vec<u64> {
        let counts = self.run.set.variant.counts() as usize;
        let words = self.run.read_work(self.run.place.counts, self.run.plan.members.len() * 4 * counts).unwrap();
        let pairs = words.as_chunks::<2>().0.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << 32);
        pairs.skip(kind).step_by(counts).collect()
    }

    /// Adds up the positions of a plane as the counters do.
    fn counted(&self, plane: &Plane) -> Vec<u64> {
        let mut counts = vec![0; 2 * self.run.plan.members.len()];
        for (row, words) in plane.chunks(WIDTH).enumerate() {
            let (member, color, _) = self.place(row);
            let count: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            counts[2 * member + color as usize] += count * self.weight(row);
        }
        counts
    }

    /// Puts rows on the lists of a pass.
    fn put_listed(&self, depth: u16, rows: &[usize]) {
        let mut lists: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        rows.iter().for_each(|&row| lists.entry(row / self.run.page_rows).or_default().push(row as u32));
        for (page, rows) in lists {
            self.run.write_work(self.worklist(depth, page), &rows);
            self.run.write_work(self.args(depth, page), &[rows.len() as u32, 1, 1, rows.len() as u32]);
        }
    }

    /// The rows on the lists of a pass, each on the list of its page.
    fn listed(&self, depth: u16) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for page in 0..self.run.pages.len() {
            let [x, y, z, rows] = self.run.read_work(self.args(depth, page), 4).unwrap()[..] else { unreachable!() };
            assert_eq!([x, y, z], [rows, u32::from(rows > 0), 1]);
            if rows > 0 {
                for row in self.run.read_work(self.worklist(depth, page), rows as usize).unwrap() {
                    assert_eq!(row as usize / self.run.page_rows, page);
                    assert!(all.insert(row as usize), "row {row} is listed twice");
                }
            }
        }
        all
    }

    fn worklist(&self, depth: u16, page: usize) -> usize {
        self.run.place.worklist + usize::from(depth & 1) * self.side_rows() + page * self.run.page_rows
    }

    fn args(&self, depth: u16, page: usize) -> usize {
        self.run.place.args + (usize::from(depth) * self.run.pages.len() + page) * 4
    }

    /// The rows from which a move may lead into a row, those left out with nothing to decide.
    fn rows_into(&self, row: usize, left: &[u32]) -> BTreeSet<usize> {
        let (member, color, in_class) = self.place(row);
        let first = self.run.plan.members[member].side(!color);
        let index = &self.indexes[member];
        let mut rows = BTreeSet::new();
        QuietMoves::new(index, !color, self.rules.options()).rows_into(index, in_class, |other| {
            if left[first + other] > 0 {
                rows.insert(first + other);
            }
        });
        rows
    }

    /// The positions with a quiet move into a plane. Twin of `quiet.wgsl`.
    fn reach(&self, rows: &[usize], plane: &Plane) -> Plane {
        let mut out = vec![0; plane.len()];
        for &row in rows {
            for bit in row * ROW_CELLS..(row + 1) * ROW_CELLS {
                let Some(position) = self.position(bit) else { continue };
                let leads = position.moves(&self.rules).iter().any(|&mv| {
                    let quiet = position.piece_at(mv.to).is_none();
                    let next = position.make(mv);
                    quiet && next.winner().is_none() && {
                        let there = self.bit(row, &next);
                        plane[there / 64] >> (there % 64) & 1 != 0
                    }
                });
                out[bit / 64] |= u64::from(leads) << (bit % 64);
            }
        }
        out
    }

    /// The positions that enter the den at once.
    fn den(&self) -> Plane {
        let mut out = vec![0; self.side_rows() * WIDTH];
        for bit in 0..out.len() * 64 {
            let enters = self.position(bit).is_some_and(|position| position.can_enter_den(&self.rules));
            out[bit / 64] |= u64::from(enters) << (bit % 64);
        }
        out
    }

    fn all_rows(&self) -> Vec<usize> {
        (0..self.side_rows()).collect()
    }
}

/// A value as the kernels have it, in few bits: 0 nothing, k / 2 a loss in k, the middle a draw, the greatest less k /
/// 2 a win in k. Greater is better. `None` if it does not fit.
fn small_value(value: ConversionValue, variant: Variant) -> Option<u32> {
    match value {
        NOTHING => Some(0),
        ESCAPE => Some(variant.draw()),
        loss if loss < ESCAPE => Some(u32::from(loss / 2)).filter(|&small| small < variant.draw()),
        win => variant.win_at_once().checked_sub(u32::from((WIN_AT_ONCE - win) / 2)).filter(|&s| s > variant.draw()),
    }
}

fn zip(a: &Plane, b: &Plane, f: impl Fn(u64, u64) -> u64) -> Plane {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn changed_rows(plane: &Plane) -> Vec<usize> {
    plane
        .chunks(WIDTH)
        .enumerate()
        .filter(|(_, words)| words.iter().any(|&word| word != 0))
        .map(|(row, _)| row)
        .collect()
}

/// `conversions`: the value of the best conversion, by the values of what it leads to.
#[test]
fn conversions() {
    for rules in RULES {
        on_card(rules, false, |scene| {
            scene.run.write_params(0..=0);
            (0..scene.run.pages.len()).for_each(|page| scene.run.find_conversions(page).unwrap());
            let variant = scene.run.set.variant;
            let (codes, escapes, open) =
                (scene.codes(), scene.get(&scene.run.planes.escapes), scene.get(&scene.run.planes.open));
            assert_eq!(open, scene.valid());
            for bit in 0..open.len() * 64 {
                let Some(position) = scene.position(bit) else { continue };
                let captures = position.moves(&scene.rules);
                let captures = captures.iter().filter(|mv| position.piece_at(mv.to).is_some());
                let of_capture = |next: Position| {
                    let code = match next.outcome(&scene.rules) {
                        Some(Outcome::Win(_)) => return variant.win_at_once(),
                        Some(Outcome::NoMove) => NO_MOVE,
                        None => scene.solver.cell_value(&next).unwrap().code(),
                    };
                    small_value(value(code, scene.rules.options()), variant).unwrap()
                };
                let best = captures.map(|&mv| of_capture(position.make(mv))).max();
                let den = position.can_enter_den(&scene.rules);
                let expected = if den { variant.win_at_once() } else { best.unwrap_or(0) };
                assert_eq!(scene.code(&codes, bit), expected, "{}", position.to_fen());
                assert_eq!(escapes[bit / 64] >> (bit % 64) & 1 != 0, best.is_some() && !den, "{}", position.to_fen());
            }
        });
    }
}

/// `buckets`: every value that is a conversion, words by words, in the order of depths, and the words of a row together.
#[test]
fn buckets() {
    for wide in [false, true] {
        on_card("paper", wide, |scene| {
            let variant = scene.run.set.variant;
            let values = [0, 1, 2, variant.draw() - 1, variant.draw(), variant.draw() + 1, variant.win_at_once()];
            let valid = scene.valid();
            let mut codes = vec![0; valid.len() * variant.code_stride() as usize];
            // By page, depth and word: which positions.
            let mut expected: BTreeMap<(usize, usize, u32), u64> = BTreeMap::new();
            for bit in (0..valid.len() * 64).filter(|bit| valid[bit / 64] >> (bit % 64) & 1 != 0) {
                let value = values[scene.random.next_u32() as usize % values.len()];
                scene.set_code(&mut codes, bit, value);
                if value != 0 && value != variant.draw() {
                    let page = bit / ROW_CELLS / scene.run.page_rows;
                    let word = (bit / 64 - page * scene.run.page_rows * WIDTH) as u32;
                    let mask = expected.entry((page, depth_of_value(value, variant), word)).or_default();
                    *mask |= 1 << (bit % 64);
                }
            }
            scene.put_codes(&codes);
            let mut found = BTreeMap::new();
            for number in 0..scene.run.pages.len() {
                // As `conversions` counts them.
                let mut histogram = vec![0; variant.values() as usize];
                for &value in &values {
                    let depth = depth_of_value(value, variant);
                    let is = |&&(page, d, _): &&(usize, usize, u32)| page == number && d == depth;
                    if value != 0 && value != variant.draw() {
                        histogram[value as usize] = expected.keys().filter(is).count() as u32;
                    }
                }
                scene.run.write_work(scene.run.place.histogram, &histogram);
                scene.run.sort_conversions(number, u64::MAX).unwrap();
                let page = &scene.run.pages[number];
                let all = page.entries_all as usize;
                let entries: Vec<u32> =
                    scene.run.device.read(&page.entries, 0, 12 * all as u64, bytemuck::pod_collect_to_vec).unwrap();
                for (depth, &[from, to]) in page.conversions.iter().enumerate() {
                    let mut rows = Vec::new();
                    for i in from as usize..to as usize {
                        let mask = u64::from(entries[all + i]) | u64::from(entries[2 * all + i]) << 32;
                        assert!(found.insert((number, depth, entries[i]), mask).is_none(), "a word comes twice");
                        rows.push(entries[i] / WIDTH as u32);
                    }
                    rows.dedup();
                    let runs = rows.len();
                    assert_eq!(
                        rows.into_iter().collect::<BTreeSet<_>>().len(),
                        runs,
                        "the words of a row lie together"
                    );
                }
            }
            assert_eq!(found, expected);
        });
    }
}

/// `no_move`: positions without a quiet move, a capture or a den.
#[test]
fn no_move() {
    for rules in RULES {
        on_card(rules, false, |scene| {
            let loses = scene.rules.options().no_move == NoMove::Loss;
            let valid = scene.valid();
            let (open, escapes) = (scene.some(&valid, 3), scene.some(&valid, 4));
            let (all, den) = (scene.all_rows(), scene.den());
            scene.put(&scene.run.planes.open, &open);
            scene.put(&scene.run.planes.escapes, &escapes);
            scene.run.write_params(0..=0);
            let bounds = scene.run.bind_passes(true).unwrap();
            let pages = 0..scene.run.pages.len();
            scene.run.device.submit(pages.map(|page| scene.run.by_row("no_move", &bounds[page], page)));

            let reach = scene.reach(&all, &open);
            let stuck: Plane = (0..open.len()).map(|i| open[i] & !(reach[i] | escapes[i] | den[i])).collect();
            assert!(stuck.iter().any(|&word| word != 0));
            let none = vec![0; stuck.len()];
            let (lost, holds) = if loses { (&stuck, &none) } else { (&none, &stuck) };
            assert_eq!(&scene.get(&scene.run.planes.lost), lost);
            assert_eq!(scene.get(&scene.run.planes.escapes), zip(&escapes, holds, |escapes, more| escapes | more));
            assert_eq!(scene.counts(0), scene.counted(&stuck));
            let stride = scene.run.set.variant.code_stride() as usize;
            let marked: Plane =
                scene.logged().chunks(stride * WIDTH).flat_map(|row| row[WIDTH..2 * WIDTH].to_vec()).collect();
            assert_eq!(marked, stuck);
            let rows = open.chunks(WIDTH).zip(lost.chunks(WIDTH));
            let left = |(open, lost): (&[u64], &[u64])| open.iter().zip(lost).map(|(o, l)| (o & !l).count_ones()).sum();
            assert_eq!(scene.left(), rows.map(left).collect::<Vec<u32>>());
        });
    }
}

/// `first_rows`: the rows from which a move leads to one with a position lost from the start.
#[test]
fn first_rows() {
    on_card("no-move=loss", false, |scene| {
        let valid = scene.valid();
        let lost = scene.some(&valid, 20_000);
        let left: Vec<u32> = (0..scene.side_rows()).map(|_| scene.random.next_u32() % 3).collect();
        scene.put_left(&left);
        scene.put(&scene.run.planes.lost, &lost);
        scene.run.write_params(0..=0);
        let bounds = scene.run.bind_passes(true).unwrap();
        let pages = 0..scene.run.pages.len();
        scene.run.device.submit(pages.map(|page| scene.run.by_row("first_rows", &bounds[page], page)));
        let expected: BTreeSet<usize> =
            changed_rows(&lost).into_iter().flat_map(|row| scene.rows_into(row, &left)).collect();
        assert!(!expected.is_empty() && expected.len() < scene.side_rows());
        assert_eq!(scene.listed(1), expected);
    });
}

/// `conversion_pass`: conversions set a win or end an escape, and list their rows.
#[test]
fn conversion_pass() {
    for depth in [5, 6] {
        on_card("paper", false, |scene| {
            let valid = scene.valid();
            let conversion_plane = scene.some(&valid, 2);
            let left: Vec<u32> = (0..scene.side_rows()).map(|_| scene.random.next_u32() % 3).collect();
            let words: Vec<usize> = (0..valid.len()).filter(|_| scene.random.next_u32() % 300 == 0).collect();
            let mut conversions = vec![0; valid.len()];
            words.iter().for_each(|&word| conversions[word] = scene.random.next_u64() & valid[word]);
            let odd = depth % 2 == 1;
            let conversion_planes = if odd { &scene.run.planes.conversion_wins } else { &scene.run.planes.escapes };
            scene.put(conversion_planes, &conversion_plane);
            scene.put_left(&left);
            let page_words = scene.run.page_rows * WIDTH;
            for number in 0..scene.run.pages.len() {
                let here = words.iter().filter(|&&word| word / page_words == number);
                let here: Vec<usize> = here.copied().collect();
                let number_of = |&word: &usize| (word % page_words) as u32;
                let (low, high) =
                    (|&word: &usize| conversions[word] as u32, |&word: &usize| (conversions[word] >> 32) as u32);
                let entries = [
                    here.iter().map(number_of).collect::<Vec<_>>(),
                    here.iter().map(low).collect(),
                    here.iter().map(high).collect(),
                ]
                .concat();
                let mut of_depth = vec![[0; 2]; usize::from(depth) + 1];
                of_depth[usize::from(depth)] = [0, here.len() as u32];
                scene.run.pages[number].entries_all = here.len() as u32;
                scene.run.pages[number].entries = scene.run.device.buffer_with("conversions", &entries).unwrap();
                scene.run.pages[number].conversions = of_depth;
            }
            scene.run.write_params(depth..=depth);
            let bounds = scene.run.bind_passes(!odd).unwrap();
            // Without the lists, which are empty when the sizes of dispatches are copied.
            scene.run.device.submit(scene.run.pass(depth, 0, &bounds).into_iter().filter(|step| match step {
                Step::Run { .. } => true,
                Step::RunAsMany { .. } | Step::Copy { .. } => false,
            }));
            let conversion_planes = if odd { &scene.run.planes.conversion_wins } else { &scene.run.planes.escapes };
            // The wins of this depth replace those of earlier depths.
            let with_conversions = |(conversion_plane, conversion): (&u64, &u64)| match odd {
                true if *conversion != 0 => *conversion,
                true => *conversion_plane,
                false => conversion_plane & !conversion,
            };
            assert_eq!(
                scene.get(conversion_planes),
                conversion_plane.iter().zip(&conversions).map(with_conversions).collect::<Plane>()
            );
            let rows = words.iter().map(|word| word / WIDTH);
            assert_eq!(scene.listed(depth), rows.filter(|&row| left[row] > 0).collect());
        });
    }
}

/// `quiet_pass`: at an odd depth wins by a move to a lost position or by a conversion, at an even depth losses.
#[test]
fn quiet_pass() {
    for rules in RULES {
        for depth in [7u16, 8] {
            on_card(rules, false, |scene| {
                let valid = scene.valid();
                let even = depth % 2 == 0;
                // Few are lost, and most are won, or nothing new would be found.
                let open = scene.some(&valid, if even { 9 } else { 2 });
                let (lost, conversion_plane) = (scene.some(&open, 9), scene.some(&valid, 9));
                let rows: Vec<usize> = (0..scene.side_rows()).filter(|_| scene.random.next_u32() % 3 == 0).collect();
                let mut left: Vec<u32> = (0..scene.side_rows()).map(|_| scene.random.next_u32() % 2).collect();
                // As good as all of a row, more than a pass takes away, so that whether a row is marked does not depend
                // on the order of rows.
                rows.iter().for_each(|&row| left[row] = 4_000);
                let Planes { open: opens, lost: losts, escapes, conversion_wins } = &scene.run.planes;
                scene.put(opens, &open);
                scene.put(losts, &lost);
                scene.put(if even { escapes } else { conversion_wins }, &conversion_plane);
                scene.put_left(&left);
                // A third of the rows has no changes, a third some, and a third has bits.
                let mut logged = vec![0; valid.len() * scene.run.set.variant.code_stride() as usize];
                for bit in (0..valid.len() * 64).filter(|bit| valid[bit / 64] >> (bit % 64) & 1 != 0) {
                    let kinds = [1, 7, 100][bit / ROW_CELLS % 3];
                    let code = 2 * (scene.random.next_u32() % kinds);
                    scene.set_code(&mut logged, bit, code);
                }
                assert!(scene.put_logged(&logged, &left).into_iter().all(|rows| rows > 0));
                scene.put_listed(depth, &rows);
                scene.run.write_params(depth..=depth);
                let bounds = scene.run.bind_passes(even).unwrap();
                scene.run.device.submit(scene.run.pass(depth, 0, &bounds));

                let reach = scene.reach(&rows, if even { &open } else { &lost });
                let mut frontier = vec![0; open.len()];
                for i in rows.iter().flat_map(|row| row * WIDTH..(row + 1) * WIDTH) {
                    let found = reach[i] | conversion_plane[i];
                    // Planes of a game have nothing lost among what is found.
                    frontier[i] = open[i] & if even { !found & !lost[i] } else { found };
                }
                assert!(frontier.iter().any(|&word| word != 0));
                let (written, before) = if even { (losts, &lost) } else { (opens, &open) };
                assert_eq!(scene.get(written), zip(before, &frontier, |before, frontier| before ^ frontier));
                assert_eq!(scene.counts(depth.into()), scene.counted(&frontier));
                let codes = scene.logged();
                for bit in (0..frontier.len() * 64).filter(|bit| valid[bit / 64] >> (bit % 64) & 1 != 0) {
                    let is = frontier[bit / 64] >> (bit % 64) & 1 != 0;
                    // The lowest bit is left to `finish`.
                    let code = if is { u32::from(decided(depth)) & !1 } else { 0 };
                    assert_eq!(scene.code(&codes, bit), code | scene.code(&logged, bit));
                }
                let count = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
                let expected: Vec<u32> =
                    left.iter().zip(frontier.chunks(WIDTH)).map(|(left, frontier)| left - count(frontier)).collect();
                assert_eq!(scene.left(), expected);
                let marked: BTreeSet<usize> =
                    changed_rows(&frontier).into_iter().flat_map(|row| scene.rows_into(row, &expected)).collect();
                assert_eq!(scene.listed(depth + 1), marked);
            });
        }
    }
}

/// `finish`: codes of one byte, or two, out of their bits.
#[test]
fn finish() {
    for (rules, wide) in [("paper", false), ("paper", true), ("no-move=loss", false)] {
        on_card(rules, wide, |scene| {
            let loses = scene.rules.options().no_move == NoMove::Loss;
            let variant = scene.run.set.variant;
            let valid = scene.valid();
            let mut codes = vec![0; valid.len() * variant.code_stride() as usize];
            let (mut open, mut lost, mut expected) =
                (vec![0; valid.len()], vec![0; valid.len()], vec![0; valid.len() * 64]);
            for bit in (0..valid.len() * 64).filter(|bit| valid[bit / 64] >> (bit % 64) & 1 != 0) {
                let most = if (bit / ROW_CELLS).is_multiple_of(2) { 4 } else { variant.max_plies() };
                let plies = 1 + scene.random.next_u32() as u16 % most;
                let value = match scene.random.next_u32() % 8 {
                    0 => DRAW,
                    1 => NO_MOVE,
                    _ => decided(plies),
                };
                let decided = value != DRAW && value != NO_MOVE;
                let is_lost = if decided { value % 2 == 0 } else { value == NO_MOVE && loses };
                let is_won = decided && !is_lost;
                open[bit / 64] |= u64::from(!is_won) << (bit % 64);
                lost[bit / 64] |= u64::from(is_lost) << (bit % 64);
                scene.set_code(&mut codes, bit, if value == DRAW { 0 } else { u32::from(value) & !1 });
                expected[bit] = value;
            }
            scene.put(&scene.run.planes.open, &open);
            scene.put(&scene.run.planes.lost, &lost);
            assert!(scene.put_logged(&codes, &vec![0; scene.side_rows()]).into_iter().all(|rows| rows > 0));
            scene.run.write_params(0..=0);
            let bounds = scene.run.bind_passes(true).unwrap();
            let pages = 0..scene.run.pages.len();
            scene.run.device.submit(pages.map(|page| scene.run.by_row("finish", &bounds[page], page)));
            let bytes = bytemuck::cast_slice::<u64, u8>(&scene.codes()).to_vec();
            let found: Vec<u16> = if wide {
                bytes.as_chunks().0.iter().map(|&cell| u16::from_le_bytes(cell)).collect()
            } else {
                bytes.into_iter().map(u16::from).collect()
            };
            assert_eq!(found, expected);
            let undecided = zip(&open, &lost, |open, lost| open & !lost);
            assert_eq!(scene.counts(variant.counts() as usize - 1), scene.counted(&undecided));
        });
    }
}
