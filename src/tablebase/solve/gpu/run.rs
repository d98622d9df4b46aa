//! One batch on the GPU.

use super::kernels::{Kernels, TABLE_BUFFERS};
use super::plan::{Member, Plan};
use super::tables::Tables;
use crate::board::{ByColor, Color, NoMove};
use crate::gpu::{Bound, Buffer, Device, GpuError, Kernel, PARAMS_STRIDE, Part, Step};
use crate::shaders::*;
use crate::tablebase::needs::gpu::BatchFormat;
use crate::tablebase::solve::backend::{DeviceWork, Job, Solved};
use crate::tablebase::value::Cells;
use crate::tablebase::{ROW_CELLS, Stats, Table};
use std::sync::Arc;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic;

/// The number of passes that are submitted before the host reads the counters.
const PASSES_AT_ONCE: u16 = 16;
/// The work of a row of `init` or `finish`, in rows of a pass.
const WHOLE_ROW: usize = 4;
/// The most workgroups of a dispatch, which share the rows: as many as every GPU allows.
const GROUPS: usize = 65535;
/// The longest line in plies that the counters and the depths of conversions can represent.
pub(super) const MAX_PLIES: u16 = KINDS as u16 - 3;
/// The index of the first page's number of entries among the counters, after the number of visits.
const USED: usize = 2;

/// A range of rows of one side to move, with their conversions and codes.
struct Page {
    color: Color,
    first_row: usize,
    rows: usize,
    entries: Buffer,
    codes: Buffer,
}

/// The planes of one side to move.
struct Planes {
    open: Buffer,
    lost: Buffer,
    escapes: Buffer,
}

/// The bindings of a page: for kernels without a depth, and for passes of odd and of even depth.
type PageBounds = [Bound; 3];

/// The end of an attempt to solve a batch.
pub(super) enum Done {
    Solved,
    /// The buffers of conversions are too small: the number of entries that each row needs.
    NeedsEntries(u64),
}

/// A batch on the GPU.
pub(super) struct Run<'a> {
    device: Arc<Device>,
    kernels: Arc<Kernels>,
    job: Job<'a>,
    pub plan: Arc<Plan>,
    tables: Arc<Tables>,
    format: BatchFormat,
    /// The buffers that do not change: sides, captures, places.
    fixed: [Buffer; 3],
    rows: ByColor<Buffer>,
    planes: ByColor<Planes>,
    pages: Vec<Page>,
    bounds: Vec<PageBounds>,
    counters: Buffer,
    params: wgpu::Buffer,
    /// The records of the kernels, if they trace.
    touches: Option<Buffer>,
    /// The counters as last read. The next fields count the waits for them and the dispatches.
    counted: Vec<u32>,
    pub waits: u64,
    pub dispatches: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        device: Arc<Device>,
        kernels: Arc<Kernels>,
        job: Job<'a>,
        plan: Arc<Plan>,
        tables: Arc<Tables>,
        format: BatchFormat,
    ) -> Result<Run<'a>, GpuError> {
        let label = |name: &str| format!("{name} of {}", plan.name);
        let mut captures = plan.captures.clone();
        for (capture, looked_up) in captures.iter_mut().zip(&plan.looked_up) {
            (capture.buffer, capture.cell) = looked_up.map_or((NONE, 0), |id| tables.places[&id]);
        }
        let fixed = [
            device.buffer_with(&label("the sides"), &plan.sides)?,
            device.buffer_with(&label("the captures"), &captures)?,
            device.buffer_with(&label("the places"), &plan.places)?,
        ];
        let plane = || device.unset_buffer(&label("a plane"), (plan.rows * plan.row_words() * 8) as u64);
        let planes = || Ok(Planes { open: plane()?, lost: plane()?, escapes: plane()? });
        let states = || device.buffer_with(&label("the rows"), &plan.row_states);
        let mut pages = Vec::new();
        for color in Color::ALL {
            for first_row in (0..plan.rows).step_by(format.page_rows()) {
                let rows = format.page_rows().min(plan.rows - first_row);
                pages.push(Page {
                    color,
                    first_row,
                    rows,
                    entries: device.unset_buffer(&label("the conversions"), rows as u64 * format.entry_bytes())?,
                    codes: device.buffer(&label("the codes"), rows as u64 * format.code_bytes())?,
                });
            }
        }
        let counters = USED + pages.len() + plan.sides.len() * 2 * KINDS as usize;
        let mut run = Run {
            fixed,
            rows: ByColor { white: states()?, black: states()? },
            planes: ByColor { white: planes()?, black: planes()? },
            counters: device.buffer(&label("the counters"), 4 * counters as u64)?,
            params: device.params(pages.len() as u64 * (u64::from(PASSES_AT_ONCE) + 1))?,
            touches: kernels.trace.then(|| device.buffer("the trace", 64 << 20)).transpose()?,
            counted: vec![0; counters],
            waits: 0,
            dispatches: 0,
            bounds: Vec::new(),
            device,
            kernels,
            job,
            plan,
            tables,
            format,
            pages,
        };
        run.bounds = run.pages.iter().map(|page| run.bind_all(page)).collect::<Result<_, _>>()?;
        Ok(run)
    }

    fn bind(&self, page: &Page, written: &Buffer, seen: &Buffer) -> Result<Bound, GpuError> {
        let [sides, captures, places] = &self.fixed;
        let (own, opponent) = (&self.rows[page.color], &self.rows[!page.color]);
        let escapes = &self.planes[page.color].escapes;
        let counters = &self.counters;
        let Page { entries, codes, .. } = page;
        let mut storage =
            vec![sides, captures, places, own, opponent, written, seen, escapes, entries, codes, counters];
        storage.extend(self.tables.buffers.iter().chain(std::iter::repeat(sides)).take(TABLE_BUFFERS));
        storage.extend(&self.touches);
        self.device.bind(&self.kernels.layout, &self.params, &storage)
    }

    fn bind_all(&self, page: &Page) -> Result<PageBounds, GpuError> {
        let (own, opponent) = (&self.planes[page.color], &self.planes[!page.color]);
        Ok([
            self.bind(page, &own.open, &own.lost)?,
            self.bind(page, &own.open, &opponent.lost)?,
            self.bind(page, &own.lost, &opponent.open)?,
        ])
    }

    /// The index of the first count among the counters.
    fn counts_at(&self) -> usize {
        USED + self.pages.len()
    }

    /// Writes the parameters of `depth` and of the next [`PASSES_AT_ONCE`] depths: a set for each depth and page.
    fn write_params(&self, depth: u16) -> Result<(), GpuError> {
        let mut sets = Vec::new();
        for depth in depth..=depth + PASSES_AT_ONCE {
            for (number, page) in self.pages.iter().enumerate() {
                let params = Params {
                    words: halves(self.plan.words.bits()),
                    depth: depth.into(),
                    side: page.color as u32,
                    page: number as u32,
                    first_row: page.first_row as u32,
                    rows: page.rows as u32,
                    row_words: self.plan.row_words() as u32,
                    entries: page.rows as u32 * self.format.entries_per_row as u32,
                    counts: self.counts_at() as u32,
                    no_move_loses: u32::from(self.job.classes.options().no_move == NoMove::Loss),
                    keep: self.job.values.into(),
                    wide: self.format.wide.into(),
                    padding: 0,
                };
                sets.extend_from_slice(bytemuck::bytes_of(&params));
                sets.resize(sets.len().next_multiple_of(PARAMS_STRIDE as usize), 0);
            }
        }
        self.device.write(&self.params, 0, &sets)
    }

    /// The steps of one pass, with the n-th sets of parameters.
    fn pass(&self, depth: u16, n: u16) -> impl Iterator<Item = Step<'_>> {
        // A workgroup scans 16 rows at a time.
        self.steps(&self.kernels.pass, 16, if depth % 2 == 1 { 1 } else { 2 }, n)
    }

    /// The steps that run a kernel without a depth, with the first sets of parameters.
    fn each_row<'b>(&'b self, kernel: &'b Kernel) -> impl Iterator<Item = Step<'b>> {
        self.steps(kernel, 1, 0, 0)
    }

    /// The steps that run a kernel on all pages, with the n-th sets of parameters, and as many rows at once in a workgroup.
    fn steps<'b>(&'b self, kernel: &'b Kernel, rows: usize, bound: usize, n: u16) -> impl Iterator<Item = Step<'b>> {
        (0..).zip(&self.pages).zip(&self.bounds).map(move |((number, page), bounds)| Step {
            kernel,
            bound: &bounds[bound],
            params: u32::from(n) * self.pages.len() as u32 + number,
            groups: page.rows.div_ceil(rows).min(GROUPS) as u32,
        })
    }

    /// Submits steps one after the other, in submissions of at most `submitted_rows` or a single step.
    fn submit(&self, steps: Vec<Step<'_>>) -> Result<(), GpuError> {
        let mut rest = &steps[..];
        while !rest.is_empty() {
            let (now, after) = rest.split_at(self.steps_at_once(rest));
            self.device.submit(now.iter().copied())?;
            rest = after;
        }
        Ok(())
    }

    /// The number of the first steps that one submission may contain, at least 1.
    fn steps_at_once(&self, steps: &[Step<'_>]) -> usize {
        let mut work = 0;
        let within = steps.iter().take_while(|step| {
            let page = &self.pages[step.params as usize % self.pages.len()];
            work += page.rows * if std::ptr::eq(step.kernel, &raw const self.kernels.pass) { 1 } else { WHOLE_ROW };
            work <= self.format.submitted_rows
        });
        within.count().max(1)
    }

    fn read_counters(&mut self) -> Result<(), GpuError> {
        self.waits += 1;
        self.counted = self.device.read(&self.counters, self.counted.len())?;
        Ok(())
    }

    /// A counter of a side.
    fn count(&self, side: usize, kind: usize) -> u64 {
        let at = self.counts_at() + 2 * (side * KINDS as usize + kind);
        u64::from(self.counted[at]) | u64::from(self.counted[at + 1]) << 32
    }

    /// The last depth of a conversion of these sides.
    fn last_conversion(&self, mut sides: std::ops::Range<usize>) -> u16 {
        sides.by_ref().map(|side| self.count(side, KIND_LAST as usize) as u16).max().unwrap_or(0)
    }

    /// Solves the batch; the values stay on the GPU.
    ///
    /// # Errors
    /// [`GpuError::TooLong`] if a line has more than `longest` plies.
    pub(super) fn solve(&mut self, longest: u16) -> Result<Done, GpuError> {
        let too_long = GpuError::TooLong { what: format!("the table of {}", self.plan.name), plies: longest };
        let all = 0..self.plan.sides.len();
        let mut done = 0;
        loop {
            if done == longest {
                return Err(too_long);
            }
            let upto = (done + PASSES_AT_ONCE).min(longest);
            self.write_params(done)?;
            let first = (done == 0).then(|| self.each_row(&self.kernels.init)).into_iter().flatten();
            let passes = (done + 1..=upto).zip(1..).flat_map(|(depth, n)| self.pass(depth, n));
            let steps: Vec<Step<'_>> = first.chain(passes).collect();
            let dispatches = steps.len() as u64;
            self.submit(steps)?;
            self.dispatches += dispatches;
            done = upto;
            self.read_counters()?;
            let per_row = |(page, &used): (&Page, &u32)| u64::from(used).div_ceil(page.rows as u64);
            let entries = self.pages.iter().zip(&self.counted[USED..]).map(per_row).max().unwrap_or(0);
            if entries > self.format.entries_per_row {
                return Ok(Done::NeedsEntries(entries));
            }
            let last_conversion = self.last_conversion(all.clone());
            if last_conversion > longest {
                return Err(too_long);
            }
            let changed = all.clone().any(|side| self.count(side, done.into()) != 0);
            if !changed && done >= last_conversion {
                break;
            }
        }
        self.write_params(0)?;
        self.submit(self.each_row(&self.kernels.finish).collect())?;
        self.dispatches += self.pages.len() as u64;
        Ok(Done::Solved)
    }

    /// The counts and the values of all classes, after [`solve`](Run::solve).
    ///
    /// # Errors
    /// If the GPU fails, or its counts are not the counts of all positions.
    pub(super) fn fetch(&mut self) -> Result<Vec<Solved>, GpuError> {
        self.read_counters()?;
        let mut solved =
            (0..self.plan.members.len()).map(|class| self.counts_of(class)).collect::<Result<Vec<_>, _>>()?;
        if self.job.values {
            self.fetch_values(&mut solved)?;
        }
        Ok(solved)
    }

    fn counts_of(&self, class: usize) -> Result<Solved, GpuError> {
        let Member { id, .. } = self.plan.members[class];
        let material = self.job.material(id);
        let no_move_draws = self.job.classes.options().no_move == NoMove::Draw;
        let stats_of = |color: Color| {
            let side = 2 * class + color as usize;
            let mut stats = Stats { no_move: self.count(side, 0), ..Stats::default() };
            let counts = (1..=MAX_PLIES).map(|plies| (plies, self.count(side, plies.into())));
            counts.filter(|&(_, count)| count > 0).for_each(|(plies, count)| stats.add_decided(plies, count));
            // Positions with a move that no pass decided are draws.
            let decided = stats.no_move + stats.by_plies.iter().sum::<u64>();
            stats.draws = material.positions().saturating_sub(decided);
            let undecided = stats.draws + if no_move_draws { stats.no_move } else { 0 };
            let found = self.count(side, KIND_UNDECIDED as usize);
            if decided > material.positions() || found != undecided {
                return Err(GpuError::Failed(format!(
                    "of {material} with {color} to move it decided {decided} of {} positions and left {found}",
                    material.positions()
                )));
            }
            Ok(stats)
        };
        let stats = ByColor { white: stats_of(Color::White)?, black: stats_of(Color::Black)? };
        Ok(Solved { stats, table: None })
    }

    /// Fetches the values, class by class.
    fn fetch_values(&self, solved: &mut [Solved]) -> Result<(), GpuError> {
        let width = self.format.cell_bytes();
        let row_bytes = ROW_CELLS * width;
        let most = self.plan.members.iter().map(|member| member.rows.len()).max().unwrap_or(0);
        // The values of the solved rows, aligned for cells of two bytes.
        let mut rows = vec![0u64; most * row_bytes / 8];
        for (class, (member, solved)) in self.plan.members.iter().zip(solved).enumerate() {
            // The width of the CPU's cells, which widens them for the pass after the last pass with a change, too.
            let longest = Color::ALL.iter().map(|&color| solved.stats[color].summary().longest).max().unwrap_or(0);
            let last_conversion = self.last_conversion(2 * class..2 * class + 2);
            let wide = longest >= u64::from(Cells::BYTE_PLIES) || last_conversion > Cells::BYTE_PLIES;
            let mut fetch = |color| {
                let rows = &mut bytemuck::cast_slice_mut(&mut rows)[..member.rows.len() * row_bytes];
                self.device.read_into(&self.codes_of(member, color, row_bytes), rows)?;
                let mut cells = match width {
                    1 => Cells::Byte(member.rows.expand(rows)),
                    _ => Cells::Wide(member.rows.expand(bytemuck::cast_slice(rows))),
                };
                match &cells {
                    Cells::Wide(codes) if !wide => cells = Cells::Byte(codes.iter().map(|&code| code as u8).collect()),
                    _ if wide => cells.widen(),
                    _ => {}
                }
                Ok(cells)
            };
            let cells = ByColor { white: fetch(Color::White)?, black: fetch(Color::Black)? };
            solved.table = Some(Table { cells });
        }
        Ok(())
    }

    /// The parts of the pages with the codes of a class for one side to move.
    fn codes_of(&self, member: &Member, color: Color, row_bytes: usize) -> Vec<Part<'_>> {
        let end = member.first + member.rows.len();
        let part = |page: &'_ Page| {
            let rows = member.first.max(page.first_row)..end.min(page.first_row + page.rows);
            let at = |row: usize| ((row - page.first_row) * row_bytes) as u64;
            (!rows.is_empty()).then(|| (at(rows.start), at(rows.end) - at(rows.start)))
        };
        let pages = self.pages.iter().filter(|page| page.color == color);
        pages.filter_map(|page| part(page).map(|(first, bytes)| (&*page.codes, first, bytes))).collect()
    }

    /// The counters of the work, after [`solve`](Run::solve).
    pub(super) fn work(&self) -> DeviceWork {
        let rows = 2 * self.plan.rows as u64;
        let visits = u64::from(self.counted[0]) | u64::from(self.counted[1]) << 32;
        let conversions = self.counted[USED..self.counts_at()].iter().map(|&used| u64::from(used)).sum();
        let row_bytes = 8 * self.plan.row_words() as u64;
        // `init` writes three planes and the state. A visit reads two planes of its side at an even depth and one at an
        // odd depth, at least one plane of the opponent, and writes one plane.
        let set_up = 3 * row_bytes + 32 + if self.job.values { 2 * ROW_CELLS as u64 } else { 0 };
        let bytes_moved = rows * set_up + visits * (7 * row_bytes / 2 + 32) + 16 * conversions;
        DeviceWork { rows, row_visits: visits, conversions, bytes_moved, ..DeviceWork::default() }
    }
}
