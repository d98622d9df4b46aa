//! Perft on a GPU. The CPU generates all positions some plies from the root; from each chunk of them the GPU generates
//! all positions two plies later, and sums the lines of the last two plies from there. See `shaders/perft*.wgsl`.

use crate::board::{Animal, Color, Move, Position, Rules};
use crate::gpu::{AdapterChoice, AdapterReport, Bound, Device, GpuError, Kernel, PARAMS_STRIDE, Step};
use crate::shaders::{
    PERFT_KERNELS, PerftParams, RULES_HABITAT, RULES_LEAPS_FILES, RULES_LEAPS_RANKS, RULES_OWN_RAT_BLOCKS, compose,
    halves,
};

/// Plies that the GPU expands.
const EXPANDED: usize = 2;
/// The most moves of a position.
const MOST_MOVES: u64 = 32;
const POSITION_BYTES: u64 = 16;
/// Number of chunks that are submitted before the CPU waits for the GPU.
const CHUNKS_AT_ONCE: u32 = 4;

/// The most workgroups of a dispatch; each takes positions until none is left.
const GROUPS: u64 = 4096;

/// Indices of u32 in the buffer `work`: the sum, and the number of positions at each ply.
const SUM: u32 = 0;
const COUNTS: u32 = 2;
const WORK: u32 = COUNTS + EXPANDED as u32 + 2;

/// Counts lines of moves on a GPU. The result equals the result of [`Perft`](super::Perft) with
/// [`PerftMode::Expand`](super::PerftMode).
pub struct GpuPerft<'a> {
    rules: &'a Rules,
    device: Device,
    expand: Kernel,
    count: Kernel,
    params: wgpu::Buffer,
    work: wgpu::Buffer,
    /// The positions at each ply of a chunk.
    frontiers: [wgpu::Buffer; EXPANDED + 1],
    /// The buffers that a kernel reads and writes, by ply.
    bound: [Bound; EXPANDED + 1],
    /// Number of positions of a chunk.
    chunk: usize,
}

impl<'a> GpuPerft<'a> {
    /// Opens a GPU for counting under these rules.
    pub fn open(choice: AdapterChoice, rules: &'a Rules) -> Result<GpuPerft<'a>, GpuError> {
        // Larger buffers do not increase the utilization.
        GpuPerft::open_limited(choice, rules, 1 << 30, true)
    }

    /// As [`open`](GpuPerft::open), with buffers of at most `buffer` bytes (but at least 16 KiB), and without sums in
    /// subgroups if `subgroups` is not set; for tests.
    pub fn open_limited(
        choice: AdapterChoice,
        rules: &'a Rules,
        buffer: u64,
        subgroups: bool,
    ) -> Result<GpuPerft<'a>, GpuError> {
        let device = Device::open(choice, 4)?;
        let defined: &[&str] = if subgroups && device.subgroups { &["SUBGROUPS"] } else { &[] };
        let layout = device.layout(&[true, false, true, false])?;
        let kernels: Vec<Kernel> = PERFT_KERNELS
            .iter()
            .map(|(name, source)| device.kernel(&layout, name, &compose(source, defined), &[]))
            .collect::<Result<_, GpuError>>()?;
        let Ok([expand, count]) = <[Kernel; 2]>::try_from(kernels) else { unreachable!("two kernels") };
        // The buffer of the last ply must have space for the most positions possible.
        let most = device.max_binding().min(buffer) / POSITION_BYTES;
        let chunk = (most / MOST_MOVES.pow(EXPANDED as u32)).max(1);
        let frontier =
            |ply: usize| device.buffer("the positions of a ply", chunk * MOST_MOVES.pow(ply as u32) * POSITION_BYTES);
        let frontiers = [frontier(0)?, frontier(1)?, frontier(2)?];
        let params = device.params(EXPANDED as u64 + 1)?;
        let work = device.buffer("sums", 4 * u64::from(WORK))?;
        let rule_table = device.buffer_with("the rules", &rule_table(rules))?;
        let nothing = device.buffer("nothing", 0)?;
        let bind = |ply: usize| {
            let next = frontiers.get(ply + 1).unwrap_or(&nothing);
            device.bind(&layout, &params, &[&rule_table, &work, &frontiers[ply], next])
        };
        let bound = [bind(0)?, bind(1)?, bind(2)?];
        let this = GpuPerft { rules, expand, count, params, work, bound, frontiers, chunk: chunk as usize, device };
        // Some drivers compile a kernel when it first runs.
        this.count(&Position::start(), 4)?;
        Ok(this)
    }

    /// The adapter of the GPU.
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

    /// The count after each legal move. With a `depth` of 0 the list is empty.
    pub fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, GpuError> {
        if depth == 0 {
            return Ok(Vec::new());
        }
        let moves = position.moves(self.rules);
        moves.iter().map(|&mv| Ok((mv, self.count(&position.make(mv), depth - 1)?))).collect()
    }

    /// The sum of the lines of two plies from all positions `plies` plies from the root, which must not be won.
    fn deep(&self, root: &Position, plies: u32) -> Result<u64, GpuError> {
        let expanded = (plies as usize).min(EXPANDED);
        let here = plies - expanded as u32;
        self.device.write(&self.work, 0, &[0; WORK as usize]);
        let mut turn = if here.is_multiple_of(2) { root.turn() } else { !root.turn() };
        for ply in 0..=expanded {
            let counts = COUNTS + ply as u32;
            let params = PerftParams { turn: turn as u32, frontier_count: counts, next_count: counts + 1, sum: SUM };
            self.device.write(&self.params, ply as u64 * PARAMS_STRIDE, &[params]);
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

/// Positions for the next submission to the GPU.
struct Chunk<'a> {
    perft: &'a GpuPerft<'a>,
    /// Plies that the GPU expands.
    expanded: usize,
    data: Vec<u32>,
    submitted: u32,
}

impl Chunk<'_> {
    /// Adds all positions `plies` plies after this one.
    fn fill(&mut self, position: &Position, plies: u32) -> Result<(), GpuError> {
        if plies > 0 {
            let moves = position.moves(self.perft.rules);
            return moves.iter().try_for_each(|&mv| self.fill(&position.make_unkeyed(mv), plies - 1));
        }
        self.data.extend(packed(position));
        if self.data.len() == 4 * self.perft.chunk { self.submit() } else { Ok(()) }
    }

    /// Submits the count from the collected positions.
    fn submit(&mut self) -> Result<(), GpuError> {
        if self.data.is_empty() {
            return Ok(());
        }
        let GpuPerft { device, work, bound, frontiers, expand, count, .. } = self.perft;
        let positions = self.data.len() as u32 / 4;
        device.write(&frontiers[0], 0, &self.data);
        device.write(work, 4 * u64::from(COUNTS), &[positions, 0, 0]);
        self.data.clear();
        let steps = (0..=self.expanded).map(|ply| {
            let most = u64::from(positions) * MOST_MOVES.pow(ply as u32);
            let groups = most.div_ceil(64).min(GROUPS) as u32;
            let kernel = if ply < self.expanded { expand } else { count };
            Step { kernel, bound: &bound[ply], params: ply as u32, groups }
        });
        device.submit(steps);
        self.submitted += 1;
        if self.submitted.is_multiple_of(CHUNKS_AT_ONCE) { device.wait() } else { device.check() }
    }
}

/// A position in the format of the kernels.
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

/// The rules in the format of the kernels: for each side, whether its rat stands in the water, victim, and the victim's
/// square, the animals that may capture it, one bit each; then masks by animal, the low half first.
fn rule_table(rules: &Rules) -> Vec<u32> {
    let masks = rules.masks();
    let mut data = Vec::new();
    for victims in Color::ALL.iter().flat_map(|&color| masks.takes[color].iter().flatten()) {
        for square in 0..64 {
            data.push((0..8).fold(0, |takers, a| takers | ((victims[a] >> square & 1) as u32) << a));
        }
    }
    let mut put = |at: u32, words: &[u64]| {
        assert_eq!(data.len(), at as usize, "where the kernels look for it");
        data.extend(words.iter().flat_map(|&word| halves(word)));
    };
    put(RULES_HABITAT, &[masks.habitat[Color::White], masks.habitat[Color::Black]].concat());
    put(RULES_LEAPS_FILES, &masks.leaps_files);
    put(RULES_LEAPS_RANKS, &masks.leaps_ranks);
    put(RULES_OWN_RAT_BLOCKS, &[masks.own_rat_blocks]);
    data
}

/// Each kernel against its twin, on positions of random games.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn perft_expand(positions: &[Position], rules: &Rules) -> Vec<[u32; 4]> {
        let next = |position: &Position| position.moves(rules).iter().map(|&mv| packed(&position.make(mv))).collect();
        let mut all: Vec<[u32; 4]> = positions.iter().flat_map::<Vec<_>, _>(next).collect();
        all.sort_unstable();
        all
    }

    fn perft_count(positions: &[Position], rules: &Rules) -> u64 {
        let lines = |position: &Position| -> u64 {
            position.moves(rules).iter().map(|&mv| u64::from(position.make(mv).count_moves(rules))).sum()
        };
        positions.iter().map(lines).sum()
    }

    /// 150 positions with White to move.
    fn positions(rules: &Rules) -> Vec<Position> {
        let mut random = Pcg64::seed_from_u64(7);
        let mut found = Vec::new();
        while found.len() < 150 {
            let mut position = Position::start();
            for _ in 0..200 {
                let moves = position.moves(rules);
                if moves.is_empty() {
                    break;
                }
                position = position.make(moves[random.next_u64() as usize % moves.len()]);
                if position.turn() == Color::White && random.next_u32() % 8 == 0 {
                    found.push(position.clone());
                }
            }
        }
        found.truncate(150);
        found
    }

    #[test]
    fn kernels_do_as_their_twins() {
        for (rules, subgroups) in [("paper", true), ("shore=none,traps=any,own-rat-blocks=no", false)] {
            let rules = Rules::new(rules.parse::<RuleOptions>().unwrap());
            let gpu = match GpuPerft::open_limited(AdapterChoice::Any, &rules, 1 << 22, subgroups) {
                Ok(gpu) => gpu,
                Err(error) => {
                    assert!(std::env::var_os("DSQ_REQUIRE_GPU").is_none_or(|v| v != "1"), "{error}");
                    return eprintln!("SKIPPED: {error}");
                }
            };
            let positions = positions(&rules);
            let device = &gpu.device;
            let layout = device.layout(&[true]).unwrap();
            let broken =
                device.kernel(&layout, "broken", "fn main() { return up(1); }", &[]).err().expect("an unknown name");
            assert!(matches!(&broken, GpuError::Shader { name, .. } if name == "broken"), "{broken}");
            assert!(broken.to_string().contains("return up(1)"), "{broken}");
            let data: Vec<u32> = positions.iter().flat_map(packed).collect();
            // Fewer workgroups than the positions need, so that each takes several positions.
            let run = |kernel| device.submit([Step { kernel, bound: &gpu.bound[0], params: 0, groups: 2 }]);
            let read = |at: u32, count: u64| -> Vec<u32> {
                device.read(&gpu.work, 4 * u64::from(at), 4 * count, bytemuck::pod_collect_to_vec).unwrap()
            };
            device.write(&gpu.work, 0, &[0; WORK as usize]);
            device.write(&gpu.work, 4 * u64::from(COUNTS), &[positions.len() as u32]);
            device.write(&gpu.frontiers[0], 0, &data);
            let params = PerftParams { turn: 0, frontier_count: COUNTS, next_count: COUNTS + 1, sum: SUM };
            device.write(&gpu.params, 0, &[params]);
            [&gpu.expand, &gpu.count].into_iter().for_each(run);

            let expected = perft_expand(&positions, &rules);
            assert_eq!(read(COUNTS + 1, 1), [expected.len() as u32]);
            let bytes = POSITION_BYTES * expected.len() as u64;
            let mut found: Vec<[u32; 4]> =
                device.read(&gpu.frontiers[1], 0, bytes, bytemuck::pod_collect_to_vec).unwrap();
            found.sort_unstable();
            assert_eq!(found, expected);
            assert_eq!(u64::from(read(SUM, 1)[0]), perft_count(&positions, &rules));
        }
    }
}
