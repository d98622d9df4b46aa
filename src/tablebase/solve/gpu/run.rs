//! One batch on the GPU.

use super::kernels::{KernelSet, TABLE_BUFFERS};
use super::plan::{Member, Plan};
use super::tables::Tables;
use super::{Batch, cell_bytes};
use crate::board::{ByColor, Color, NoMove};
use crate::gpu::{Bound, Device, GpuError, Kernel, PARAMS_STRIDE, Step};
use crate::shaders::*;
use crate::tablebase::solve::backend::{DeviceWork, Solved};
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, Index, ROW_CELLS, Stats, Table};
use std::sync::Arc;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic;

/// The number of passes that are submitted before the host reads the counters.
const PASSES_AT_ONCE: u16 = 16;
/// The most workgroups of a dispatch, which share the rows: as many as a large GPU runs at a time.
const GROUPS: u32 = 4096;
/// The longest line in plies that the counters and the depths of conversions can represent.
pub(super) const MAX_PLIES: u16 = KINDS as u16 - 3;
/// The index of the first page's number of entries among the counters, after the number of visits.
const USED: usize = 2;

/// A range of rows of one side to move, with their conversions and codes.
struct Page {
    color: Color,
    first_row: usize,
    rows: usize,
    entries: wgpu::Buffer,
    entries_len: u64,
    codes: wgpu::Buffer,
}

/// The planes of one side to move.
struct Planes {
    open: wgpu::Buffer,
    lost: wgpu::Buffer,
    escapes: wgpu::Buffer,
}

/// The bindings of a page for kernels without a depth, and for passes of odd and of even depth.
struct PageBounds {
    own: Bound,
    odd: Bound,
    even: Bound,
}

/// The end of an attempt to solve a batch.
pub(super) enum Done {
    Solved,
    /// The buffers of conversions are too small: the number of entries that each row needs.
    NeedsEntries(u64),
}

/// A batch on the GPU.
pub(super) struct Run<'a> {
    device: Arc<Device>,
    set: Arc<KernelSet>,
    batch: Batch<'a>,
    plan: Arc<Plan>,
    tables: Arc<Tables>,
    /// The buffers that do not change: sides, captures, places.
    fixed: [wgpu::Buffer; 3],
    rows: ByColor<wgpu::Buffer>,
    planes: ByColor<Planes>,
    pages: Vec<Page>,
    counters: wgpu::Buffer,
    params: wgpu::Buffer,
    #[cfg(test)]
    touches: wgpu::Buffer,
    /// The counters as last read. The next fields count the waits for them and the dispatches.
    counted: Vec<u32>,
    pub waits: u64,
    pub dispatches: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        device: Arc<Device>,
        set: Arc<KernelSet>,
        batch: Batch<'a>,
        plan: Arc<Plan>,
        tables: Arc<Tables>,
        page_rows: usize,
        entries_per_row: u64,
    ) -> Result<Run<'a>, GpuError> {
        let label = |name: &str| buffer_label(name, &batch);
        let mut captures = plan.captures.clone();
        for (capture, looked_up) in captures.iter_mut().zip(&plan.looked_up) {
            (capture.buffer, capture.cell) = looked_up.map_or((NONE, 0), |id| tables.places[&id]);
        }
        let fixed = [
            device.buffer_with(&label("the sides"), &plan.sides)?,
            device.buffer_with(&label("the captures"), &captures)?,
            device.buffer_with(&label("the places"), &plan.places)?,
        ];
        let plane = || device.buffer(&label("a plane"), (plan.rows * plan.row_words() * 8) as u64);
        let planes = || Ok(Planes { open: plane()?, lost: plane()?, escapes: plane()? });
        let states = || device.buffer_with(&label("the rows"), &plan.row_states);
        let mut pages = Vec::new();
        for color in Color::ALL {
            for first_row in (0..plan.rows).step_by(page_rows) {
                let rows = page_rows.min(plan.rows - first_row);
                let entries_len = rows as u64 * entries_per_row;
                let codes = if batch.keep { (rows * ROW_CELLS) as u64 * cell_bytes(set.variant.wide) } else { 0 };
                pages.push(Page {
                    color,
                    first_row,
                    rows,
                    entries: device.buffer(&label("the conversions"), 8 * entries_len)?,
                    entries_len,
                    codes: device.buffer(&label("the codes"), codes)?,
                });
            }
        }
        let counters = USED + pages.len() + plan.sides.len() * 2 * KINDS as usize;
        Ok(Run {
            fixed,
            rows: ByColor { white: states()?, black: states()? },
            planes: ByColor { white: planes()?, black: planes()? },
            counters: device.buffer(&label("the counters"), 4 * counters as u64)?,
            params: device.params(pages.len() as u64 * (u64::from(PASSES_AT_ONCE) + 1))?,
            #[cfg(test)]
            touches: device.buffer("the trace", if set.variant.trace { 64 << 20 } else { 0 })?,
            counted: vec![0; counters],
            waits: 0,
            dispatches: 0,
            device,
            set,
            batch,
            plan,
            tables,
            pages,
        })
    }

    /// The classes of the batch.
    pub(super) fn ids(&self) -> &[ClassId] {
        &self.batch.ids
    }

    fn bind(&self, page: &Page, written: &wgpu::Buffer, seen: &wgpu::Buffer) -> Result<Bound, GpuError> {
        let [sides, captures, places] = &self.fixed;
        let (own, opponent) = (&self.rows[page.color], &self.rows[!page.color]);
        let escapes = &self.planes[page.color].escapes;
        let counters = &self.counters;
        let Page { entries, codes, .. } = page;
        let mut storage =
            vec![sides, captures, places, own, opponent, written, seen, escapes, entries, codes, counters];
        storage.extend(self.tables.buffers.iter().chain(std::iter::repeat(sides)).take(TABLE_BUFFERS));
        #[cfg(test)]
        storage.extend(self.set.variant.trace.then_some(&self.touches));
        self.device.bind(&self.set.layout, &self.params, &storage)
    }

    fn bind_all(&self) -> Result<Vec<PageBounds>, GpuError> {
        let bounds = |page: &Page| {
            let (own, opponent) = (&self.planes[page.color], &self.planes[!page.color]);
            Ok(PageBounds {
                own: self.bind(page, &own.open, &own.lost)?,
                odd: self.bind(page, &own.open, &opponent.lost)?,
                even: self.bind(page, &own.lost, &opponent.open)?,
            })
        };
        self.pages.iter().map(bounds).collect()
    }

    /// The index of the first count among the counters.
    fn counts_at(&self) -> usize {
        USED + self.pages.len()
    }

    /// Writes the parameters of `depth` and of the next [`PASSES_AT_ONCE`] depths: a set for each depth and page.
    fn write_params(&self, depth: u16) {
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
                    entries: page.entries_len as u32,
                    counts: self.counts_at() as u32,
                    no_move_loses: u32::from(self.batch.classes.options().no_move == NoMove::Loss),
                    padding: 0,
                };
                sets.extend_from_slice(bytemuck::bytes_of(&params));
                sets.resize(sets.len().next_multiple_of(PARAMS_STRIDE as usize), 0);
            }
        }
        self.device.write(&self.params, 0, &sets);
    }

    /// The step that runs a kernel on a page with the n-th set of parameters. A workgroup of a pass scans 16 rows at a
    /// time.
    fn step<'b>(&self, kernel: &'b Kernel, bound: &'b Bound, page: usize, n: u16) -> Step<'b> {
        let rows = self.pages[page].rows as u32;
        let groups = if std::ptr::eq(kernel, &raw const self.set.pass) { rows.div_ceil(16) } else { rows };
        Step { kernel, bound, params: u32::from(n) * self.pages.len() as u32 + page as u32, groups: groups.min(GROUPS) }
    }

    /// The steps of one pass, with the n-th sets of parameters.
    fn pass<'b>(&'b self, depth: u16, n: u16, bounds: &'b [PageBounds]) -> impl Iterator<Item = Step<'b>> {
        bounds.iter().enumerate().map(move |(page, bounds)| {
            let bound = if depth % 2 == 1 { &bounds.odd } else { &bounds.even };
            self.step(&self.set.pass, bound, page, n)
        })
    }

    /// The steps that run a kernel without a depth on all pages, with the first sets of parameters.
    fn each_page<'b>(&'b self, kernel: &'b Kernel, bounds: &'b [PageBounds]) -> impl Iterator<Item = Step<'b>> {
        bounds.iter().enumerate().map(move |(page, bounds)| self.step(kernel, &bounds.own, page, 0))
    }

    fn read_counters(&mut self) -> Result<(), GpuError> {
        self.waits += 1;
        let bytes = self.counters.size().min(4 * self.counted.len() as u64);
        self.counted = self.device.read(&self.counters, 0, bytes, bytemuck::pod_collect_to_vec)?;
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
        let too_long = GpuError::TooLong { what: buffer_label("the table", &self.batch), plies: longest };
        let bounds = self.bind_all()?;
        let all = 0..self.plan.sides.len();
        let mut done = 0;
        loop {
            if done == longest {
                return Err(too_long);
            }
            let upto = (done + PASSES_AT_ONCE).min(longest);
            self.write_params(done);
            let first = (done == 0).then(|| self.each_page(&self.set.init, &bounds)).into_iter().flatten();
            let passes = (done + 1..=upto).zip(1..).flat_map(|(depth, n)| self.pass(depth, n, &bounds));
            let steps: Vec<Step<'_>> = first.chain(passes).collect();
            let dispatches = steps.len() as u64;
            self.device.submit(steps);
            self.dispatches += dispatches;
            done = upto;
            self.read_counters()?;
            let need = |(page, &used): (&Page, &u32)| {
                (u64::from(used) > page.entries_len).then(|| u64::from(used).div_ceil(page.rows as u64))
            };
            if let Some(entries) = self.pages.iter().zip(&self.counted[USED..]).filter_map(need).max() {
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
        if self.batch.keep {
            self.write_params(0);
            self.device.submit(self.each_page(&self.set.finish, &bounds));
            self.dispatches += self.pages.len() as u64;
        }
        Ok(Done::Solved)
    }

    /// The counts and the values of all classes, after [`solve`](Run::solve).
    pub(super) fn fetch(&self) -> Result<Vec<Solved>, GpuError> {
        let mut solved: Vec<Solved> = (0..self.plan.members.len()).map(|class| self.counts_of(class)).collect();
        if self.batch.keep {
            self.fetch_values(&mut solved)?;
        }
        Ok(solved)
    }

    fn counts_of(&self, class: usize) -> Solved {
        let Member { id, .. } = self.plan.members[class];
        let positions = self.batch.classes.get(id).representative.positions();
        let stats = ByColor::from_fn(|color| {
            let side = 2 * class + color as usize;
            let mut stats = Stats { no_move: self.count(side, 0), ..Stats::default() };
            let counts = (1..=MAX_PLIES).map(|plies| (plies, self.count(side, plies.into())));
            counts.filter(|&(_, count)| count > 0).for_each(|(plies, count)| stats.add_decided(plies, count));
            // Positions with a move that no pass decided are draws.
            stats.draws = positions.saturating_sub(stats.no_move + stats.by_plies.iter().sum::<u64>());
            stats
        });
        Solved { stats, table: None }
    }

    /// Fetches the values, row by row, White's of all classes first.
    fn fetch_values(&self, solved: &mut [Solved]) -> Result<(), GpuError> {
        let width = cell_bytes(self.set.variant.wide) as usize;
        let mut tables: Vec<Table> = (0..solved.len()).map(|class| self.empty_table(class, &solved[class])).collect();
        let parts: Vec<_> =
            self.pages.iter().map(|page| (&page.codes, 0, (page.rows * ROW_CELLS * width) as u64)).collect();
        let members = &self.plan.members;
        let mut all = Color::ALL.into_iter().flat_map(|color| {
            let rows = move |class: usize| (0..members[class].rows.len()).map(move |number| (class, color, number));
            (0..members.len()).flat_map(rows)
        });
        self.device.stream(&parts, |piece| {
            for (codes, (class, color, number)) in piece.chunks_exact(ROW_CELLS * width).zip(all.by_ref()) {
                put_row(codes, width, &members[class].rows, number, &mut tables[class].cells[color]);
            }
        })?;
        for ((member, mut table), solved) in members.iter().zip(tables).zip(solved) {
            Color::ALL.into_iter().for_each(|color| member.rows.spread(&mut table.cells[color]));
            solved.table = Some(table);
        }
        Ok(())
    }

    /// A table with cells of the CPU's width. The CPU widens the cells for the pass after the last pass with a change,
    /// too.
    fn empty_table(&self, class: usize, solved: &Solved) -> Table {
        let longest = Color::ALL.iter().map(|&color| solved.stats[color].summary().longest).max().unwrap_or(0);
        let last_conversion = self.last_conversion(2 * class..2 * class + 2);
        let wide = longest >= u64::from(Cells::BYTE_PLIES) || last_conversion > Cells::BYTE_PLIES;
        let index: &Index = &self.plan.members[class].index;
        let cells = || Cells::empty(1 + usize::from(wide), index.cells());
        Table { cells: ByColor { white: cells(), black: cells() } }
    }

    /// The counters of the work, after [`solve`](Run::solve).
    pub(super) fn work(&self) -> DeviceWork {
        let rows = 2 * self.plan.rows as u64;
        let visits = u64::from(self.counted[0]) | u64::from(self.counted[1]) << 32;
        let conversions = self.counted[USED..self.counts_at()].iter().map(|&used| u64::from(used)).sum();
        let row_bytes = 8 * self.plan.row_words() as u64;
        // `init` writes three planes and the state. A visit reads two planes of its side at an even depth and one at an
        // odd depth, at least one plane of the opponent, and writes one plane.
        let set_up = 3 * row_bytes + 32 + if self.batch.keep { 2 * ROW_CELLS as u64 } else { 0 };
        let bytes_moved = rows * set_up + visits * (7 * row_bytes / 2 + 32) + 16 * conversions;
        DeviceWork {
            rows,
            row_visits: visits,
            conversions,
            bytes_moved,
            memory: self.memory(),
            sent: 0,
            compile_seconds: 0.0,
        }
    }

    /// Bytes of all buffers.
    fn memory(&self) -> u64 {
        let sides = Color::ALL.into_iter().flat_map(|color| {
            let Planes { open, lost, escapes } = &self.planes[color];
            [open, lost, escapes, &self.rows[color]]
        });
        let pages = self.pages.iter().flat_map(|page| [&page.entries, &page.codes]);
        let others = self.fixed.iter().chain([&self.counters, &self.params]).chain(&self.tables.buffers);
        sides.chain(pages).chain(others).map(wgpu::Buffer::size).sum()
    }
}

/// Copies the codes of a solved row to the cells of its row of the index.
fn put_row(codes: &[u8], width: usize, rows: &Rows, number: usize, cells: &mut Cells) {
    let there = rows.row(number) * ROW_CELLS..(rows.row(number) + 1) * ROW_CELLS;
    let wide = || codes.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair));
    match cells {
        Cells::Byte(cells) if width == 1 => cells[there].copy_from_slice(codes),
        Cells::Byte(cells) => cells[there].iter_mut().zip(wide()).for_each(|(cell, code)| *cell = code as u8),
        Cells::Wide(cells) => cells[there].iter_mut().zip(wide()).for_each(|(cell, code)| *cell = code),
    }
}

/// The name of a buffer in errors.
fn buffer_label(name: &str, batch: &Batch<'_>) -> String {
    let material = batch.classes.get(batch.ids[0]).representative;
    match batch.ids.len() {
        1 => format!("{name} of {material}"),
        n => format!("{name} of {n} classes from {material} on"),
    }
}
