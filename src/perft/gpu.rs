//! Perft on a graphics card. The program makes all positions some plies from the root; from each chunk of them the card
//! makes all positions two plies on, and adds up the lines of the last two plies from there. See `shaders/perft*.wgsl`.

use crate::board::geometry::{DEN, LEAP_DOWN, LEAP_LEFT, LEAP_RIGHT, LEAP_UP, NOT_A, NOT_G, WATER};
use crate::board::{Animal, Color, Move, Position, Rules};
use crate::gpu::{AdapterReport, Bound, Choice, Device, GpuError, Kernel, PARAMS_STRIDE, Part, Step, wgsl};
use std::fmt::Write;

/// Invocations of a work group, and work groups along x.
const GROUP: u32 = 64;
const GROUPS_X: u32 = 32768;
/// Plies that the card makes.
const EXPANDED: usize = 2;
/// The most moves of a position.
const MOST_MOVES: u64 = 32;
const POSITION_BYTES: u64 = 16;
/// Chunks that the card is given before it is waited for.
const CHUNKS_AT_ONCE: u32 = 4;

/// Places in the buffer `work`, in u32: the sum, the number of positions at each ply, and the size of the dispatch over them.
const SUM: u32 = 0;
const COUNTS: u32 = 2;
const GROUPS: u32 = COUNTS + EXPANDED as u32 + 1;
const WORK: u32 = GROUPS + 4 * (EXPANDED as u32 + 1);

/// Counts lines of moves on a graphics card, each position as often as it comes up: plain perft, the twin of
/// [`Perft`](super::Perft) with [`PerftMode::Expand`](super::PerftMode).
pub struct GpuPerft<'a> {
    rules: &'a Rules,
    device: Device,
    expand: Kernel,
    groups: Kernel,
    count: Kernel,
    params: wgpu::Buffer,
    work: wgpu::Buffer,
    /// Sizes of dispatches, copied from `work`.
    sizes: wgpu::Buffer,
    /// The positions at each ply of a chunk.
    frontiers: [wgpu::Buffer; EXPANDED + 1],
    /// By ply, what a kernel reads and writes there.
    bound: [Bound; EXPANDED + 1],
    /// Positions of a chunk.
    chunk: usize,
}

impl<'a> GpuPerft<'a> {
    /// Opens a card for counting under these rules.
    pub fn open(choice: Choice, rules: &'a Rules) -> Result<GpuPerft<'a>, GpuError> {
        // More does not make a card busier.
        GpuPerft::open_limited(choice, rules, 1 << 30, true)
    }

    /// The same with buffers of at most `buffer` bytes, but of 16 KiB at least, and without 64-bit integers if they are not
    /// allowed: for tests.
    pub fn open_limited(choice: Choice, rules: &'a Rules, buffer: u64, int64: bool) -> Result<GpuPerft<'a>, GpuError> {
        let device = Device::open(choice, 4)?;
        let int64 = int64 && device.int64;
        let layout = device.layout(&[true, false, true, false])?;
        let kernel = |name| device.kernel(&layout, name, &source(name, rules, int64));
        let (expand, groups, count) = (kernel("perft_expand")?, kernel("perft_groups")?, kernel("perft_count")?);
        // Room for as many positions as there can be.
        let most = device.max_binding().min(buffer) / POSITION_BYTES;
        let chunk = (most / MOST_MOVES.pow(EXPANDED as u32)).max(1);
        let frontier =
            |ply: usize| device.buffer("the positions of a ply", chunk * MOST_MOVES.pow(ply as u32) * POSITION_BYTES);
        let frontiers = [frontier(0)?, frontier(1)?, frontier(2)?];
        let params = device.params(EXPANDED as u64 + 1)?;
        let work = device.buffer("sums", 4 * u64::from(WORK))?;
        let takers = device.buffer_with("who takes whom", &takers(rules))?;
        let nothing = device.buffer("nothing", 0)?;
        let bind = |ply: usize| {
            let fresh = frontiers.get(ply + 1).unwrap_or(&nothing);
            let storage: [Part<'_>; 4] = [(&takers).into(), (&work).into(), (&frontiers[ply]).into(), fresh.into()];
            device.bind(&layout, &params, &storage)
        };
        let bound = [bind(0)?, bind(1)?, bind(2)?];
        let sizes = device.group_counts(16 * (EXPANDED as u64 + 1))?;
        let this = GpuPerft {
            rules,
            expand,
            groups,
            count,
            params,
            work,
            sizes,
            bound,
            frontiers,
            chunk: chunk as usize,
            device,
        };
        // Some drivers compile a kernel when it first runs.
        this.count(&Position::start(), 4)?;
        Ok(this)
    }

    /// The card.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// The number of lines of `depth` plies.
    pub fn count(&self, position: &Position, depth: u32) -> Result<u64, GpuError> {
        if depth > 0 && position.winner().is_some() {
            return Ok(0);
        }
        match depth {
            0 => Ok(1),
            1 => Ok(position.count_moves(self.rules).into()),
            _ => self.deep(position, depth - 2),
        }
    }

    /// The count behind each legal move; `depth` must be 1 at least.
    pub fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, GpuError> {
        let moves = position.moves(self.rules);
        moves.iter().map(|&mv| Ok((mv, self.count(&position.make(mv), depth - 1)?))).collect()
    }

    /// The lines of two plies from all positions `plies` plies from the root, which is not won.
    fn deep(&self, root: &Position, plies: u32) -> Result<u64, GpuError> {
        let expanded = (plies as usize).min(EXPANDED);
        let here = plies - expanded as u32;
        self.device.write(&self.work, 0, &[0; WORK as usize]);
        let mut turn = if here.is_multiple_of(2) { root.turn() } else { !root.turn() };
        for ply in 0..=expanded {
            let counts = COUNTS + ply as u32;
            let params = [turn as u32, counts, counts + 1, GROUPS + 4 * ply as u32, SUM];
            self.device.write(&self.params, ply as u64 * PARAMS_STRIDE, &params);
            turn = !turn;
        }
        let mut chunk = Chunk { perft: self, expanded, data: Vec::with_capacity(4 * self.chunk), submitted: 0 };
        chunk.fill(root, here)?;
        chunk.submit()?;
        self.device.read(&self.work, 4 * u64::from(SUM), 8, |bytes| {
            bytes.as_chunks::<8>().0.iter().map(|&sum| u64::from_le_bytes(sum)).sum()
        })
    }
}

/// Positions on their way to the card.
struct Chunk<'a> {
    perft: &'a GpuPerft<'a>,
    /// Plies that the card makes.
    expanded: usize,
    data: Vec<u32>,
    submitted: u32,
}

impl Chunk<'_> {
    /// Adds the positions `plies` plies from here.
    fn fill(&mut self, position: &Position, plies: u32) -> Result<(), GpuError> {
        if plies > 0 {
            let moves = position.moves(self.perft.rules);
            return moves.iter().try_for_each(|&mv| self.fill(&position.make_unkeyed(mv), plies - 1));
        }
        self.data.extend(packed(position));
        if self.data.len() == 4 * self.perft.chunk { self.submit() } else { Ok(()) }
    }

    /// Has the card count from the positions here.
    fn submit(&mut self) -> Result<(), GpuError> {
        if self.data.is_empty() {
            return Ok(());
        }
        let GpuPerft { device, work, sizes, bound, frontiers, .. } = self.perft;
        let positions = self.data.len() as u32 / 4;
        device.write(&frontiers[0], 0, &self.data);
        device.write(work, 4 * u64::from(COUNTS), &[positions, 0, 0]);
        self.data.clear();
        let mut steps = Vec::new();
        for ply in 0..=self.expanded {
            let params = ply as u32;
            let at = 16 * ply as u64;
            let groups = &self.perft.groups;
            steps.push(Step::Run { kernel: groups, bound: &bound[ply], params, groups: [1, 1] });
            let from_at = 4 * u64::from(GROUPS + 4 * params);
            steps.push(Step::Copy { from: work, from_at, to: sizes, to_at: at, bytes: 12 });
            let kernel = if ply < self.expanded { &self.perft.expand } else { &self.perft.count };
            steps.push(Step::RunAsMany { kernel, bound: &bound[ply], params, groups: sizes, at });
        }
        device.submit(steps);
        self.submitted += 1;
        if self.submitted.is_multiple_of(CHUNKS_AT_ONCE) { device.wait() } else { device.check() }
    }
}

/// A position as the kernels have it.
fn packed(position: &Position) -> [u32; 4] {
    let mut words = [0; 4];
    for color in Color::ALL {
        for animal in Animal::ALL {
            let byte = position.square_of(color, animal).map_or(255, |square| square.index() as u32);
            words[2 * color as usize + animal.index() / 4] |= byte << (8 * (animal.index() % 4));
        }
    }
    words
}

/// For each side, whether its rat stands in the water, victim, and the victim's square: the animals that take it, a bit each.
fn takers(rules: &Rules) -> Vec<u32> {
    let takes = &rules.masks().takes;
    let mut table = Vec::new();
    for victims in Color::ALL.iter().flat_map(|&color| takes[color].iter().flatten()) {
        for square in 0..64 {
            table.push((0..8).fold(0, |takers, a| takers | ((victims[a] >> square & 1) as u32) << a));
        }
    }
    table
}

/// Name and whole text of the compute shaders, under these rules, for both kinds of words.
#[must_use]
pub fn shaders(rules: &Rules) -> Vec<(String, String)> {
    ["perft_expand", "perft_groups", "perft_count"]
        .into_iter()
        .flat_map(|name| [false, true].map(|int64| (format!("{name} {int64}"), source(name, rules, int64))))
        .collect()
}

fn source(name: &str, rules: &Rules, int64: bool) -> String {
    let word = if int64 { "word64" } else { "word32" };
    constants(rules, int64) + &wgsl::text(&[word, "words", "perft", name], &Meaning)
}

/// What directives mean here.
struct Meaning;

impl wgsl::Directives for Meaning {
    fn file(&self, name: &str) -> &'static str {
        match name {
            "word32" => include_str!("../../shaders/word32.wgsl"),
            "word64" => include_str!("../../shaders/word64.wgsl"),
            "words" => include_str!("../../shaders/words.wgsl"),
            "perft" => include_str!("../../shaders/perft.wgsl"),
            "perft_expand" => include_str!("../../shaders/perft_expand.wgsl"),
            "perft_groups" => include_str!("../../shaders/perft_groups.wgsl"),
            "perft_count" => include_str!("../../shaders/perft_count.wgsl"),
            other => unreachable!("no such file: {other}"),
        }
    }

    fn numbers(&self, words: &str) -> Vec<usize> {
        if words == "a down" { (0..8).rev().collect() } else { (0..8).collect() }
    }

    /// The enemies that an animal may take.
    fn written(&self, words: &str) -> String {
        let animal = words.trim_start_matches("prey ");
        let prey = (0..8).map(|y| format!("(enemy.of_{y} & filled(takers_{y} >> {animal}u))")).collect::<Vec<_>>();
        format!("    let prey_{animal} = {};\n", prey.join(" | "))
    }
}

fn constants(rules: &Rules, int64: bool) -> String {
    let mut text = String::new();
    for (name, value) in [("GROUP", GROUP), ("GROUPS_X", GROUPS_X)] {
        writeln!(text, "const {name} = {value}u;").expect("strings take all");
    }
    let mut mask = |name: &str, bits: u64| {
        writeln!(text, "const {name} = {};", wgsl::word(int64, bits)).expect("strings take all");
    };
    let masks = rules.masks();
    mask("NOT_A", NOT_A.bits());
    mask("NOT_G", NOT_G.bits());
    mask("WATER", WATER.bits());
    mask("OWN_RAT_BLOCKS", masks.own_rat_blocks);
    let leaps = [("UP", LEAP_UP), ("DOWN", LEAP_DOWN), ("RIGHT", LEAP_RIGHT), ("LEFT", LEAP_LEFT)];
    leaps.iter().for_each(|(name, from)| mask(&format!("LEAP_{name}"), from.bits()));
    for color in Color::ALL {
        let side = color as usize;
        mask(&format!("DEN_{side}"), 1 << DEN[color].index());
        (0..8).for_each(|a| mask(&format!("HABITAT_{side}_{a}"), masks.habitat[color][a]));
    }
    for a in 0..8 {
        mask(&format!("LEAPS_FILES_{a}"), masks.leaps_files[a]);
        mask(&format!("LEAPS_RANKS_{a}"), masks.leaps_ranks[a]);
    }
    text
}
