//! Perft on a GPU. The CPU generates all positions some plies from the root; from each chunk of them the GPU generates
//! all positions two plies later, and sums the lines of the last two plies from there. See `shaders/perft.wgsl`.

#[cfg(not(target_family = "wasm"))]
use crate::board::Move;
use crate::board::{Animal, Position, Rules};
use crate::gpu::{
    AdapterChoice, AdapterReport, Bound, Buffer, Device, GpuError, Groups, Kernel, PARAMS_STRIDE, RawBuffer, Step,
};
use crate::shaders::{NONE, PerftParams, PerftRules, compose, halves};
#[cfg(not(target_family = "wasm"))]
use pollster::block_on;

/// Plies that the GPU expands.
const EXPANDED: usize = 2;
/// The most moves of a position.
const MOST_MOVES: u64 = 32;
const POSITION_BYTES: u64 = 16;
/// Number of chunks that are submitted before the CPU waits for the GPU.
const CHUNKS_AT_ONCE: u32 = 4;
/// The most workgroups of a dispatch; each takes positions until none is left.
const GROUPS: u64 = 4096;

/// The index in the buffer `work` of the numbers of positions at each ply, after the two halves of the sum.
const COUNTS: usize = 2;

/// Counts lines of moves on a GPU. The result equals the result of [`Perft`](super::Perft) with
/// [`PerftMode::Expand`](super::PerftMode).
pub struct GpuPerft<'a> {
    rules: &'a Rules,
    device: Device,
    kernel: Kernel,
    params: RawBuffer,
    work: Buffer,
    /// The positions of a chunk.
    frontier: Buffer,
    /// The buffers that the kernel reads and writes, by ply.
    bound: Vec<Bound>,
    /// Number of positions of a chunk.
    chunk: usize,
}

impl<'a> GpuPerft<'a> {
    /// Opens a GPU for counting under these rules.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(choice: AdapterChoice, rules: &'a Rules) -> Result<GpuPerft<'a>, GpuError> {
        // Larger buffers do not increase the utilization. A small GPU gets smaller ones.
        let mut buffer = 1 << 30;
        loop {
            match GpuPerft::open_limited(choice.clone(), rules, buffer, true) {
                Err(GpuError::OutOfMemory(_)) if buffer > 1 << 24 => buffer /= 4,
                opened => return opened,
            }
        }
    }

    /// As [`open`](GpuPerft::open), with buffers of at most `buffer` bytes, but at least 16 KiB, and without sums in
    /// subgroups if `subgroups` is not set; for tests. Buffers of up to 128 MiB need no more than the limits of WebGPU.
    #[cfg(not(target_family = "wasm"))]
    pub fn open_limited(
        choice: AdapterChoice,
        rules: &'a Rules,
        buffer: u64,
        subgroups: bool,
    ) -> Result<GpuPerft<'a>, GpuError> {
        block_on(GpuPerft::open_async(choice, rules, buffer, subgroups))
    }

    /// As [`open`](GpuPerft::open), without blocking, with buffers of at most `buffer` bytes, but at least 16 KiB, and
    /// without sums in subgroups if `subgroups` is not set.
    pub async fn open_async(
        choice: AdapterChoice,
        rules: &'a Rules,
        buffer: u64,
        subgroups: bool,
    ) -> Result<GpuPerft<'a>, GpuError> {
        let device = Device::open(choice, buffer <= 128 << 20).await?;
        let defined: &[&str] = if subgroups && device.subgroups { &["SUBGROUPS"] } else { &[] };
        let layout = device.layout(&[(1, true), (2, false), (3, true), (4, false)]).await?;
        let kernel = device.kernel(&layout, "perft", &compose("perft", defined)).await?;
        // The buffer of the last ply must have space for the most positions possible.
        let most = device.max_binding().min(buffer) / POSITION_BYTES;
        let chunk = (most / MOST_MOVES.pow(EXPANDED as u32)).max(1);
        let positions = |ply: u32| if ply > EXPANDED as u32 { 0 } else { chunk * MOST_MOVES.pow(ply) };
        let mut frontiers = Vec::new();
        for ply in 0..=EXPANDED as u32 + 1 {
            frontiers.push(device.buffer("the positions of a ply", positions(ply) * POSITION_BYTES).await?);
        }
        let params = device.params(EXPANDED as u64 + 1).await?;
        let work = device.buffer("sums", 4 * (COUNTS + EXPANDED + 1) as u64).await?;
        let rule_table = device.buffer_with("the rules", &[rule_table(rules)]).await?;
        let mut bound = Vec::new();
        for pair in frontiers.windows(2) {
            bound.push(device.bind(&layout, &params, &[&rule_table, &work, &pair[0], &pair[1]]).await?);
        }
        let frontier = frontiers.into_iter().next().expect("one for each ply");
        let this = GpuPerft { rules, kernel, params, work, bound, frontier, chunk: chunk as usize, device };
        // Some drivers compile a kernel when it first runs.
        this.count_async(&Position::start(), 4).await?;
        Ok(this)
    }

    /// The adapter of the GPU.
    #[must_use]
    pub fn adapter(&self) -> &AdapterReport {
        &self.device.report
    }

    /// The number of lines of `depth` plies.
    #[cfg(not(target_family = "wasm"))]
    pub fn count(&self, position: &Position, depth: u32) -> Result<u64, GpuError> {
        block_on(self.count_async(position, depth))
    }

    /// As [`count`](GpuPerft::count), without blocking: for a browser, whose GPU works only while no other code runs.
    pub async fn count_async(&self, position: &Position, depth: u32) -> Result<u64, GpuError> {
        if depth > 0 && position.winner().is_some() {
            return Ok(0);
        }
        match depth {
            0 => Ok(1),
            1 => Ok(position.count_moves(self.rules).into()),
            _ => self.deep(position, depth - 2).await,
        }
    }

    /// The count after each legal move. With a `depth` of 0 the list is empty.
    #[cfg(not(target_family = "wasm"))]
    pub fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, GpuError> {
        if depth == 0 {
            return Ok(Vec::new());
        }
        let moves = position.moves(self.rules);
        moves.iter().map(|&mv| Ok((mv, self.count(&position.make(mv), depth - 1)?))).collect()
    }

    /// The sum of the lines of two plies from all positions `plies` plies from the root, which must not be won.
    async fn deep(&self, root: &Position, plies: u32) -> Result<u64, GpuError> {
        let expanded = (plies as usize).min(EXPANDED);
        let here = plies - expanded as u32;
        self.device.write(&self.work, 0, &[0u32; COUNTS]).await?;
        let mut turn = if here.is_multiple_of(2) { root.turn() } else { !root.turn() };
        for ply in 0..=expanded {
            let counts = (COUNTS + ply) as u32;
            let next_count = if ply < expanded { counts + 1 } else { NONE };
            let params = PerftParams { turn: turn as u32, frontier_count: counts, next_count };
            self.device.write(&self.params, ply as u64 * PARAMS_STRIDE, &[params]).await?;
            turn = !turn;
        }
        let mut chunk = Chunk { perft: self, expanded, data: Vec::with_capacity(self.chunk), submitted: 0 };
        // Positions with the plies from there to the ones that the GPU expands.
        let mut left = vec![(root.clone(), here)];
        while let Some((position, plies)) = left.pop() {
            if plies > 0 {
                left.extend(position.moves(self.rules).iter().map(|&mv| (position.make_unkeyed(mv), plies - 1)));
                continue;
            }
            chunk.data.push(packed(&position));
            if chunk.data.len() == self.chunk {
                chunk.submit().await?;
            }
        }
        chunk.submit().await?;
        let sum = self.device.read::<u32>(&self.work, 2).await?;
        Ok(u64::from(sum[0]) | u64::from(sum[1]) << 32)
    }
}

/// Positions for the next submission to the GPU.
struct Chunk<'a> {
    perft: &'a GpuPerft<'a>,
    /// Plies that the GPU expands.
    expanded: usize,
    data: Vec<[u8; 16]>,
    submitted: u32,
}

impl Chunk<'_> {
    /// Submits the count from the collected positions.
    async fn submit(&mut self) -> Result<(), GpuError> {
        if self.data.is_empty() {
            return Ok(());
        }
        let GpuPerft { device, work, bound, frontier, kernel, .. } = self.perft;
        let positions = self.data.len() as u32;
        device.write(frontier, 0, &self.data).await?;
        device.write(work, 4 * COUNTS as u64, &[positions, 0, 0]).await?;
        self.data.clear();
        let steps = (0..=self.expanded).map(|ply| {
            let most = u64::from(positions) * MOST_MOVES.pow(ply as u32);
            let groups = Groups::Fixed(most.div_ceil(64).min(GROUPS) as u32);
            Step { kernel, bound: &bound[ply], params: ply as u32, groups }
        });
        device.submit(steps).await?;
        self.submitted += 1;
        if self.submitted.is_multiple_of(CHUNKS_AT_ONCE) { device.wait().await } else { Ok(()) }
    }
}

/// A position in the format of the kernel: the squares of the animals of the side to move, then of the opponent's.
fn packed(position: &Position) -> [u8; 16] {
    let square = |color, animal| position.square_of(color, animal).map_or(u8::MAX, |square| square.index() as u8);
    std::array::from_fn(|i| {
        let color = if i < Animal::COUNT { position.turn() } else { !position.turn() };
        square(color, Animal::ALL[i % Animal::COUNT])
    })
}

fn rule_table(rules: &Rules) -> PerftRules {
    let masks = rules.masks();
    let takers =
        |lanes: &[u64; 8], square: usize| (0..8).fold(0, |all, a| all | ((lanes[a] >> square & 1) as u32) << a);
    let takers = |lanes: &[u64; 8]| std::array::from_fn(|square| takers(lanes, square));
    PerftRules {
        habitat: masks.habitat.map(|lanes| lanes.map(halves)),
        leaps_files: masks.leaps_files.map(halves),
        leaps_ranks: masks.leaps_ranks.map(halves),
        own_rat_blocks: halves(masks.own_rat_blocks),
        takers: masks.takes.map(|of_rats| of_rats.map(|of_rat| of_rat.map(|lanes| takers(&lanes)))),
    }
}
