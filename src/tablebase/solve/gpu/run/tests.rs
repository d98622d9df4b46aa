//! Compares each kernel with its definition in terms of positions and legal moves, on random planes.

use super::*;
use crate::board::{Move, Outcome, Piece, Position, RuleOptions, Rules, Square};
use crate::gpu::AdapterChoice;
use crate::tablebase::solve::cpu::conversions::{ConversionValue, NOTHING, WIN_IN_ONE as WIN, value};
use crate::tablebase::solve::gpu::{Gpu, GpuLimits};
use crate::tablebase::value::{Code, NO_MOVE as STUCK, decided};
use crate::tablebase::{Options, Solver, WIDTH};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

/// A plane of one side to move: a word by row and square of the word piece.
type Plane = Vec<[u64; WIDTH]>;

/// Classes whose rows are in several pages.
const MATERIALS: [&str; 3] = ["LRvT", "TRvR", "LTvR"];
const RULES: [&str; 2] = ["paper", "no-move=loss,own-rat-blocks=no,traps=any"];

/// Opens a GPU, or prints the reason why the test is skipped.
pub(super) fn gpu(limits: GpuLimits) -> Option<Gpu> {
    match Gpu::open_limited(AdapterChoice::Any, limits) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            assert!(std::env::var_os("DSQ_REQUIRE_GPU").is_none_or(|v| v != "1"), "DSQ_REQUIRE_GPU=1, but {error}");
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// Solves the classes that captures lead to and calls `test` with the batch on the GPU; with subgroups under the first
/// rules only.
fn on_gpu(rules: &str, wide: bool, test: impl Fn(&mut Scene<'_>)) {
    let subgroups = rules == RULES[0];
    let Some(mut gpu) = gpu(GpuLimits { buffer: 1 << 17, subgroups, ..GpuLimits::NONE }) else { return };
    let options: RuleOptions = rules.parse().unwrap();
    let mut solver = Solver::new(&options, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let id = |name: &&str| solver.classes().member(name.parse().unwrap()).unwrap().class;
    let ids: Vec<ClassId> = MATERIALS.iter().map(id).collect();
    let batch = Batch::of(&solver.job(&ids, true), &ids);
    let plan = Arc::new(Plan::new(&ids, solver.classes()));
    let run = gpu.start(&batch, &plan, wide, 256).unwrap();
    assert!(run.pages.len() > 2);
    test(&mut Scene { run, rules: Rules::new(options), solver: &solver, random: Pcg64::seed_from_u64(1) });
}

/// A batch on the GPU, with access to its positions.
struct Scene<'a> {
    run: Run<'a>,
    rules: Rules,
    solver: &'a Solver,
    random: Pcg64,
}

/// The place of a position: the side to move, the row, the word and the lane.
type Place = (Color, usize, usize, usize);

impl Scene<'_> {
    fn member(&self, row: usize) -> &Member {
        self.run.plan.members.iter().rfind(|member| member.first <= row).unwrap()
    }

    fn position(&self, (color, row, s, lane): Place) -> Option<Position> {
        let member = self.member(row);
        let cell = (member.rows.row(row - member.first) * WIDTH + s) * WIDTH + lane;
        member.index.position(cell, color)
    }

    /// The place of a position with the same pieces as those of a row.
    fn place(&self, row: usize, position: &Position) -> Place {
        let Member { index, rows, first, .. } = self.member(row);
        let square = |piece: &Piece| position.square_of(piece.color, piece.animal).unwrap();
        let squares: Vec<Square> = index.pieces.iter().map(square).collect();
        let (number, s, lane) = rows.locate(index.cell(&squares)).unwrap();
        (position.turn(), first + number, s, lane)
    }

    /// All positions with their places.
    fn positions(&self) -> Vec<(Place, Position)> {
        let of_side = |color| {
            let cells = (0..self.run.plan.rows * WIDTH * WIDTH)
                .map(move |i| (color, i / WIDTH / WIDTH, i / WIDTH % WIDTH, i % WIDTH));
            cells.filter_map(|place| Some((place, self.position(place)?)))
        };
        Color::ALL.into_iter().flat_map(of_side).collect()
    }

    fn quiet_moves(&self, row: usize, position: &Position) -> Vec<Place> {
        let quiet = |&mv: &Move| {
            let next = position.make(mv);
            (position.piece_at(mv.to).is_none() && next.winner().is_none()).then(|| self.place(row, &next))
        };
        position.moves(&self.rules).iter().filter_map(quiet).collect()
    }

    /// The plane of the positions for which `is` returns true. Its cells without a position are set if `others` is set.
    fn plane(&mut self, others: bool, mut is: impl FnMut(&mut Pcg64, Place) -> bool) -> ByColor<Plane> {
        let mut planes = ByColor::from_fn(|_| vec![[if others { u64::MAX } else { 0 }; WIDTH]; self.run.plan.rows]);
        for (place, _) in self.positions() {
            let (color, row, s, lane) = place;
            let bit = 1 << lane;
            planes[color][row][s] = planes[color][row][s] & !bit | if is(&mut self.random, place) { bit } else { 0 };
        }
        planes
    }

    fn words(&self) -> Vec<usize> {
        self.run.plan.words.into_iter().map(Square::index).collect()
    }

    fn put(&self, buffer: impl Fn(Color) -> wgpu::Buffer, plane: &ByColor<Plane>) {
        for color in Color::ALL {
            let mut data = vec![0u64; self.run.plan.rows * self.run.plan.row_words()];
            for (row, words) in data.chunks_mut(self.run.plan.row_words()).zip(&plane[color]) {
                row.iter_mut().zip(self.words()).for_each(|(word, s)| *word = words[s]);
            }
            self.run.device.write(&buffer(color), 0, &data);
        }
    }

    fn get(&self, buffer: &wgpu::Buffer) -> Plane {
        let data: Vec<u64> = self.read(buffer, buffer.size());
        let of_row = |row: &[u64]| {
            let mut words = [0; WIDTH];
            row.iter().zip(self.words()).for_each(|(&word, s)| words[s] = word);
            words
        };
        data.chunks(self.run.plan.row_words()).map(of_row).collect()
    }

    fn read<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(&self, buffer: &wgpu::Buffer, bytes: u64) -> Vec<T> {
        self.run.device.read(buffer, 0, bytes, bytemuck::pod_collect_to_vec).unwrap()
    }

    fn states(&self, color: Color) -> Vec<Row> {
        self.read(&self.run.rows[color], (self.run.plan.rows * size_of::<Row>()) as u64)
    }

    fn put_states(&self, states: &ByColor<Vec<Row>>) {
        Color::ALL.iter().for_each(|&color| self.run.device.write(&self.run.rows[color], 0, &states[color]));
    }

    fn page_number(&self, color: Color, row: usize) -> usize {
        self.run.pages.iter().rposition(|page| page.color == color && page.first_row <= row).unwrap()
    }

    /// The page of a row, and the row's number in the page.
    fn page(&self, color: Color, row: usize) -> (&Page, usize) {
        let page = &self.run.pages[self.page_number(color, row)];
        (page, row - page.first_row)
    }

    /// The codes of a row, cell by cell.
    fn codes(&self, color: Color, row: usize) -> Vec<Code> {
        let (page, local) = self.page(color, row);
        let width = cell_bytes(self.run.set.variant.wide);
        let bytes: Vec<u8> = self.read(&page.codes, (page.rows * ROW_CELLS) as u64 * width);
        let bytes = &bytes[local * ROW_CELLS * width as usize..][..ROW_CELLS * width as usize];
        bytes.chunks(width as usize).map(|cell| Code::from_le_bytes([cell[0], *cell.get(1).unwrap_or(&0)])).collect()
    }

    /// Checks a counter of each side: it counts these positions, each with the weight of its row.
    fn assert_counted(&mut self, kind: usize, places: impl IntoIterator<Item = Place>) {
        self.run.read_counters().unwrap();
        let mut expected = vec![0; self.run.plan.sides.len()];
        for (color, row, ..) in places {
            let class = self.run.plan.row_states[row].class_number as usize;
            expected[2 * class + color as usize] += self.member(row).rows.weight(row - self.member(row).first);
        }
        let counts: Vec<u64> = (0..expected.len()).map(|side| self.run.count(side, kind)).collect();
        assert_eq!(counts, expected);
    }

    /// Checks which rows are due in a pass: all rows from which a move leads into `changed`, and only rows from which a
    /// move leads into a row of `changed`.
    fn assert_due(&self, depth: u16, changed: &BTreeSet<Place>) {
        let changed_rows: BTreeSet<(Color, usize)> = changed.iter().map(|place| (place.0, place.1)).collect();
        let (mut needed, mut allowed) = (BTreeSet::new(), BTreeSet::new());
        for ((color, row, ..), position) in self.positions() {
            for to in self.quiet_moves(row, &position) {
                needed.extend(changed.contains(&to).then_some((color, row)));
                allowed.extend(changed_rows.contains(&(to.0, to.1)).then_some((color, row)));
            }
        }
        for color in Color::ALL {
            for (row, state) in self.states(color).iter().enumerate() {
                let due = state.due_in_pass[usize::from(depth % 2)] == u32::from(depth);
                assert!(due || !needed.contains(&(color, row)), "{color:?} {row} is due");
                assert!(!due || allowed.contains(&(color, row)), "{color:?} {row} is not due");
            }
        }
    }
}

fn has(plane: &ByColor<Plane>, (color, row, s, lane): Place) -> bool {
    plane[color][row][s] >> lane & 1 != 0
}

/// The depth at which a conversion of this value counts.
fn depth_of(value: ConversionValue) -> Option<u32> {
    let value = u32::from(value);
    (value != 0 && value != ESCAPE).then(|| if value > ESCAPE { 0xffff - value } else { value })
}

/// `init`: the value of the best conversion, from the values of the positions after it, and positions without a move.
#[test]
fn init() {
    for rules in RULES {
        on_gpu(rules, false, |scene| {
            let loses = scene.rules.options().no_move == NoMove::Loss;
            let bounds = scene.run.bind_all().unwrap();
            scene.run.write_params(0);
            scene.run.device.submit(scene.run.each_page(&scene.run.set.init, &bounds));
            let planes =
                |of: fn(&Planes) -> &wgpu::Buffer| ByColor::from_fn(|color| scene.get(of(&scene.run.planes[color])));
            let (open, lost, escapes) = (planes(|p| &p.open), planes(|p| &p.lost), planes(|p| &p.escapes));
            let positions = scene.positions();
            let (mut by_depth, mut stuck) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
            for (place, position) in &positions {
                let capture = |next: Position| match next.outcome(&scene.rules) {
                    Some(Outcome::Win(_)) => WIN,
                    Some(Outcome::NoMove) => value(STUCK, scene.rules.options()),
                    None => value(scene.solver.cell_value(&next).unwrap().code(), scene.rules.options()),
                };
                let moves = position.moves(&scene.rules);
                let best =
                    moves.iter().filter(|mv| position.piece_at(mv.to).is_some()).map(|&mv| capture(position.make(mv)));
                let best = best.max().unwrap_or(NOTHING);
                let den = position.can_enter_den(&scene.rules);
                let best = if den { WIN } else { best };
                if let Some(depth) = depth_of(best) {
                    by_depth.entry((place.0, place.1)).or_default().insert((depth, place.2, place.3));
                }
                if moves.is_empty() {
                    stuck.insert(*place);
                }
                assert_eq!(has(&escapes, *place), best != NOTHING || moves.is_empty(), "{}", position.to_fen());
                assert_eq!(has(&lost, *place), moves.is_empty() && loses, "{}", position.to_fen());
            }
            let valid: BTreeSet<Place> = positions.iter().map(|(place, _)| *place).collect();
            for color in Color::ALL {
                let states = scene.states(color);
                for row in 0..scene.run.plan.rows {
                    for (s, lane) in scene.words().into_iter().flat_map(|s| (0..WIDTH).map(move |lane| (s, lane))) {
                        let place = (color, row, s, lane);
                        assert_eq!(has(&open, place), valid.contains(&place));
                        assert!(valid.contains(&place) || has(&escapes, place) && !has(&lost, place));
                    }
                    // The row's entries, depth by depth.
                    let (page, _) = scene.page(color, row);
                    let entries: Vec<[u32; 2]> = scene.read(&page.entries, 8 * page.entries_len);
                    let mask = |at: usize| bytemuck::cast::<[u32; 2], u64>(entries[at]);
                    let (mut at, mut depth, mut found) =
                        (states[row].cursor as usize, states[row].next_conversion, BTreeSet::new());
                    while depth != NONE {
                        assert_eq!(entries[at], [depth, 0]);
                        let words = (0..WIDTH).filter(|s| mask(at + 1) >> s & 1 != 0);
                        for (i, s) in words.clone().enumerate() {
                            let lanes = (0..WIDTH).filter(|lane| mask(at + 2 + i) >> lane & 1 != 0);
                            lanes.for_each(|lane| assert!(found.insert((depth, s, lane))));
                        }
                        at += 2 + words.count();
                        assert!(entries[at][0] > depth);
                        depth = entries[at][0];
                    }
                    let expected = by_depth.get(&(color, row)).cloned().unwrap_or_default();
                    assert_eq!(found, expected);
                    let left =
                        valid.range((color, row, 0, 0)..(color, row + 1, 0, 0)).filter(|&&place| !has(&lost, place));
                    assert_eq!(states[row].undecided as usize, left.count());
                    for (cell, &code) in scene.codes(color, row).iter().enumerate() {
                        let is_stuck = stuck.contains(&(color, row, cell / WIDTH, cell % WIDTH));
                        assert_eq!(code, if is_stuck { STUCK } else { 0 });
                    }
                }
            }
            assert!(!stuck.is_empty() && by_depth.len() > 10);
            scene.assert_counted(0, stuck.iter().copied());
            if loses {
                scene.assert_due(1, &stuck);
            }
        });
    }
}

/// `pass`: at an odd depth wins by a move to a lost position or by a conversion, at an even depth losses.
#[test]
fn pass() {
    for (rules, depth, wide) in
        [(RULES[0], 7u16, false), (RULES[0], 8, false), (RULES[1], 7, true), (RULES[1], 8, true)]
    {
        on_gpu(rules, wide, |scene| {
            let odd = depth % 2 == 1;
            let rows = scene.run.plan.rows;
            let mut states = ByColor::from_fn(|_| scene.run.plan.row_states.clone());
            let mut converts = BTreeSet::new();
            let mut entries: Vec<Vec<[u32; 2]>> = scene.run.pages.iter().map(|_| Vec::new()).collect();
            for color in Color::ALL {
                for row in 0..rows {
                    let random = scene.random.next_u32();
                    let state = &mut states[color][row];
                    state.due_in_pass[usize::from(depth % 2)] =
                        if random % 3 == 0 { depth.into() } else { u32::from(depth) - 2 };
                    state.last_lost_pass = u32::from(depth) - 1 - random / 3 % 2;
                    state.undecided = 4000;
                    let entries = &mut entries[scene.page_number(color, row)];
                    state.cursor = entries.len() as u32;
                    state.next_conversion = if random / 6 % 3 == 0 { depth.into() } else { u32::from(depth) + 2 };
                    let words: Vec<usize> =
                        scene.words().into_iter().filter(|_| scene.random.next_u32() % 4 == 0).collect();
                    entries.push([state.next_conversion, 0]);
                    entries.push(halves(words.iter().fold(0, |mask, s| mask | 1 << s)));
                    for s in words {
                        let lanes = scene.random.next_u64() & scene.random.next_u64();
                        let places = (0..WIDTH).filter(|lane| lanes >> lane & 1 != 0).map(|lane| (color, row, s, lane));
                        let places: Vec<Place> = places.filter(|&place| scene.position(place).is_some()).collect();
                        entries.push(halves(places.iter().fold(0, |mask, place| mask | 1 << place.3)));
                        if state.next_conversion == u32::from(depth) {
                            converts.extend(places);
                        }
                    }
                    entries.push([u32::from(depth) + 4, 0]);
                }
            }
            for (page, entries) in scene.run.pages.iter().zip(&entries) {
                scene.run.device.write(&page.entries, 0, entries);
            }
            scene.put_states(&states);
            // Few positions are lost and most are won; otherwise the pass would find nothing new. At an odd depth, rows
            // without new losses have no lost positions at all.
            let just_lost = |(color, row, ..): Place| states[color][row].last_lost_pass == u32::from(depth) - 1;
            let open = scene.plane(false, |random, _| random.next_u32() % if odd { 2 } else { 9 } == 0);
            let lost = scene.plane(false, |random, place| {
                has(&open, place) && random.next_u32() % 9 == 0 && (!odd || just_lost(place))
            });
            let escapes = scene.plane(true, |random, place| !has(&open, place) || random.next_u32() % 4 == 0);
            scene.put(|color| scene.run.planes[color].open.clone(), &open);
            scene.put(|color| scene.run.planes[color].lost.clone(), &lost);
            scene.put(|color| scene.run.planes[color].escapes.clone(), &escapes);
            scene.run.write_params(depth);
            let bounds = scene.run.bind_all().unwrap();
            scene.run.device.submit(scene.run.pass(depth, 0, &bounds));

            let due =
                |(color, row, ..): Place| states[color][row].due_in_pass[usize::from(depth % 2)] == u32::from(depth);
            let visited = |place: Place| due(place) || states[place.0][place.1].next_conversion == u32::from(depth);
            let mut frontier = BTreeSet::new();
            for (place, position) in scene.positions().into_iter().filter(|(place, _)| visited(*place)) {
                let reaches = |plane| scene.quiet_moves(place.1, &position).iter().any(|&to| has(plane, to));
                let converted = converts.contains(&place);
                let is_new = match odd {
                    true => has(&open, place) && (converted || due(place) && reaches(&lost)),
                    false => !has(&lost, place) && (converted || !has(&escapes, place)) && !reaches(&open),
                };
                if is_new {
                    frontier.insert(place);
                }
            }
            assert!(frontier.len() > 100);
            let after =
                |of: fn(&Planes) -> &wgpu::Buffer| ByColor::from_fn(|color| scene.get(of(&scene.run.planes[color])));
            let (open_after, lost_after, escapes_after) =
                (after(|p| &p.open), after(|p| &p.lost), after(|p| &p.escapes));
            for (place, _) in scene.positions() {
                let new = frontier.contains(&place);
                assert_eq!(has(&open_after, place), has(&open, place) && !(odd && new), "{place:?}");
                assert_eq!(has(&lost_after, place), has(&lost, place) || !odd && new, "{place:?}");
                let escaped = has(&escapes, place) && (odd || !converts.contains(&place));
                assert_eq!(has(&escapes_after, place), escaped, "{place:?}");
            }
            for color in Color::ALL {
                for (row, (state, before)) in scene.states(color).iter().zip(&states[color]).enumerate() {
                    let new = frontier.range((color, row, 0, 0)..(color, row + 1, 0, 0));
                    let converted = before.next_conversion == u32::from(depth);
                    assert_eq!(
                        state.next_conversion,
                        if converted { u32::from(depth) + 4 } else { before.next_conversion }
                    );
                    assert_eq!(state.undecided as usize, 4000 - new.clone().count());
                    let is_lost = !odd && new.clone().next().is_some();
                    assert_eq!(state.last_lost_pass, if is_lost { depth.into() } else { before.last_lost_pass });
                    let codes = scene.codes(color, row);
                    for (cell, &code) in codes.iter().enumerate() {
                        let new = frontier.contains(&(color, row, cell / WIDTH, cell % WIDTH));
                        assert_eq!(code, if new { decided(depth) } else { 0 });
                    }
                }
            }
            scene.assert_counted(depth.into(), frontier.iter().copied());
            scene.assert_due(depth + 1, &frontier);
        });
    }
}

/// `finish`: undecided positions without a code become draws.
#[test]
fn finish() {
    for wide in [false, true] {
        on_gpu(RULES[0], wide, |scene| {
            let open = scene.plane(false, |random, _| random.next_u32() % 2 == 0);
            let lost = scene.plane(false, |random, place| has(&open, place) && random.next_u32() % 2 == 0);
            scene.put(|color| scene.run.planes[color].open.clone(), &open);
            scene.put(|color| scene.run.planes[color].lost.clone(), &lost);
            let mut all: Vec<Vec<Code>> = Vec::new();
            for page in &scene.run.pages {
                let mut code = || [0, 0, STUCK, 3, 16, 255][scene.random.next_u32() as usize % 6];
                let codes: Vec<Code> = (0..page.rows * ROW_CELLS).map(|_| code()).collect();
                let bytes: Vec<u8> =
                    codes.iter().flat_map(|code| code.to_le_bytes()[..1 + usize::from(wide)].to_vec()).collect();
                scene.run.device.write(&page.codes, 0, &bytes);
                all.extend(codes.chunks(ROW_CELLS).map(<[Code]>::to_vec));
            }
            scene.run.write_params(0);
            let bounds = scene.run.bind_all().unwrap();
            scene.run.device.submit(scene.run.each_page(&scene.run.set.finish, &bounds));
            let rows = scene.run.plan.rows;
            for (color, row) in Color::ALL.into_iter().flat_map(|color| (0..rows).map(move |row| (color, row))) {
                for (cell, code) in scene.codes(color, row).into_iter().enumerate() {
                    let place = (color, row, cell / WIDTH, cell % WIDTH);
                    let draw = has(&open, place) && !has(&lost, place) && all[color as usize * rows + row][cell] == 0;
                    assert_eq!(code, if draw { 1 } else { all[color as usize * rows + row][cell] });
                }
            }
        });
    }
}

/// A row without undecided positions is never due again, and a batch with too few entries for its conversions returns
/// the number that it needs.
#[test]
fn a_batch_reports_the_entries_that_it_needs() {
    let Some(mut gpu) = gpu(GpuLimits::NONE) else { return };
    let mut solver = Solver::new(&RuleOptions::PAPER, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let ids = vec![solver.classes().member("LRvT".parse().unwrap()).unwrap().class];
    let batch = Batch::of(&solver.job(&ids, true), &ids);
    let plan = Arc::new(Plan::new(&ids, solver.classes()));
    let Ok(Done::NeedsEntries(needed)) = gpu.start(&batch, &plan, false, 1).unwrap().solve(253) else {
        panic!("too few")
    };
    let Ok(Done::NeedsEntries(_)) = gpu.start(&batch, &plan, false, needed - 1).unwrap().solve(253) else {
        panic!("{needed}")
    };
    let mut run = gpu.start(&batch, &plan, false, needed).unwrap();
    assert!(matches!(run.solve(253), Ok(Done::Solved)));
    for color in Color::ALL {
        let states: Vec<Row> =
            run.device.read(&run.rows[color], 0, (run.plan.rows * 32) as u64, bytemuck::pod_collect_to_vec).unwrap();
        assert!(states.iter().any(|state| state.undecided == 0));
        assert!(
            states
                .iter()
                .all(|state| state.undecided > 0 || state.due_in_pass == [NONE; 2] && state.next_conversion == NONE)
        );
    }
}
