//! One batch at work.

use super::kernels::{KernelSet, SEEN_BUFFERS, TABLE_BUFFERS, Variant, cell_bytes};
use super::plan::{Plan, PlannedClass, TablePlace, depth_of_value};
use super::tables::Tables;
use super::{Batch, DeviceWork, ROW_BYTES};
use crate::board::{ByColor, Color, NoMove};
use crate::gpu::{Bound, Device, GpuError, PARAMS_STRIDE, Part, Step};
use crate::shaders::{GROUPS_X, Params};
use crate::tablebase::solve::backend::Solved;
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, ROW_CELLS, Stats, Table};
use std::sync::Arc;

#[cfg(test)]
mod twins;

/// A sector of a GPU's memory, in u32.
pub(super) const SECTOR: u32 = 8;

/// Passes between two looks at what is left to do.
const PASSES_AT_ONCE: u16 = 16;

/// Where things are in the buffer `work`, in u32.
struct Work {
    args: usize,
    histogram: usize,
    cursors: usize,
    counts: usize,
    stamps: usize,
    left: usize,
    worklist: usize,
    len: usize,
}

impl Work {
    fn new(plan: &Plan, pages: usize, variant: Variant) -> Work {
        let conversions = variant.values() as usize;
        let depths = usize::from(variant.max_plies()) + 3;
        let mut len = 0;
        let mut next = |size: usize| {
            let at = len;
            len += size;
            at
        };
        let args = next(depths * pages * 4);
        let histogram = next(conversions);
        let cursors = next(conversions);
        let counts = next(plan.members.len() * 2 * variant.counts() as usize * 2);
        let stamps = next(plan.side_rows);
        let left = next(plan.side_rows);
        let worklist = next(2 * plan.side_rows);
        Work { args, histogram, cursors, counts, stamps, left, worklist, len }
    }
}

/// One page of rows.
struct Page {
    first_row: usize,
    rows: usize,
    /// Its codes; with values that are not kept, room that all pages share.
    codes: wgpu::Buffer,
    entries: wgpu::Buffer,
    /// Entries that there is room for: three arrays of so many u32.
    entries_all: u32,
    /// By depth, from where to where the conversions are.
    conversions: Vec<[u32; 2]>,
}

/// The planes of all rows.
struct Planes {
    open: Vec<wgpu::Buffer>,
    lost: Vec<wgpu::Buffer>,
    escapes: Vec<wgpu::Buffer>,
    conversion_wins: Vec<wgpu::Buffer>,
}

/// A batch at work.
pub(super) struct Run<'a> {
    device: Arc<Device>,
    set: Arc<KernelSet>,
    batch: Batch<'a>,
    tables: Arc<Tables>,
    plan: Plan,
    page_rows: usize,
    seen_rows: usize,
    place: Work,
    plan_buffer: wgpu::Buffer,
    work: wgpu::Buffer,
    params: wgpu::Buffer,
    groups: wgpu::Buffer,
    planes: Planes,
    pages: Vec<Page>,
    /// When it is solved: the counts by side and kind, and the last depth with a conversion.
    counts: Vec<u64>,
    last_conversion: u16,
    /// Bound where a kernel reads nothing.
    nothing: wgpu::Buffer,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        device: Arc<Device>,
        set: Arc<KernelSet>,
        batch: Batch<'a>,
        tables: Arc<Tables>,
        page_rows: usize,
        seen_rows: usize,
    ) -> Result<Run<'a>, GpuError> {
        let plan = Plan::new(&batch.ids, batch.classes, &|of| tables.place(of));
        let what = |name: &str| what(name, &batch);
        let place = Work::new(&plan, plan.side_rows.div_ceil(page_rows), set.variant);
        let plane = || -> Result<Vec<wgpu::Buffer>, GpuError> {
            (0..plan.side_rows)
                .step_by(seen_rows)
                .map(|first| {
                    device.buffer(&what("a plane"), (plan.side_rows - first).min(seen_rows) as u64 * ROW_BYTES)
                })
                .collect()
        };
        let planes = Planes { open: plane()?, lost: plane()?, escapes: plane()?, conversion_wins: plane()? };
        let most_rows = plan.side_rows.min(page_rows) as u64;
        let code_bytes = u64::from(set.variant.code_stride()) * ROW_BYTES;
        let shared = if batch.keep { None } else { Some(device.buffer(&what("the codes"), most_rows * code_bytes)?) };
        let mut pages = Vec::new();
        for first_row in (0..plan.side_rows).step_by(page_rows) {
            let rows = (plan.side_rows - first_row).min(page_rows);
            let codes = match &shared {
                Some(codes) => codes.clone(),
                None => device.buffer(&what("the codes"), rows as u64 * code_bytes)?,
            };
            let entries = device.buffer("no conversions", 0)?;
            pages.push(Page { first_row, rows, codes, entries, entries_all: 0, conversions: Vec::new() });
        }
        Ok(Run {
            set,
            tables,
            page_rows,
            seen_rows,
            plan_buffer: device.buffer_with(&what("the plan"), &plan.data)?,
            work: device.buffer(&what("the lists of rows"), 4 * place.len as u64)?,
            params: device.params(pages.len() as u64 * u64::from(PASSES_AT_ONCE))?,
            groups: device.group_counts(pages.len() as u64 * 16)?,
            planes,
            pages,
            counts: Vec::new(),
            last_conversion: 0,
            nothing: device.buffer("nothing", 0)?,
            plan,
            place,
            batch,
            device,
        })
    }

    /// Adds the values of the batch, which stay on the GPU, to `tables`; `None` if kernels cannot find all of them there.
    pub(super) fn add_to(&self, mut tables: Tables) -> Option<Tables> {
        if tables.buffers.is_empty() {
            tables.wide = self.wide();
        }
        for place in self.places(tables.buffers.len()) {
            let (id, places) = place?;
            tables.places.insert(id, places);
        }
        tables.buffers.extend(self.codes().cloned());
        (tables.wide == self.wide() && tables.buffers.len() <= TABLE_BUFFERS as usize).then_some(tables)
    }

    /// Binds the buffers for the rows of a page.
    fn bind(
        &self,
        page: &Page,
        written: &[wgpu::Buffer],
        conversion_plane: &[wgpu::Buffer],
        seen: Option<&[wgpu::Buffer]>,
    ) -> Result<Bound, GpuError> {
        let buffer = page.first_row / self.seen_rows;
        let offset = (page.first_row % self.seen_rows) as u64 * ROW_BYTES;
        let size = Some(page.rows as u64 * ROW_BYTES);
        let mut storage: Vec<Part<'_>> = vec![
            (&self.plan_buffer).into(),
            (&self.work).into(),
            Part { buffer: &written[buffer], offset, size },
            Part { buffer: &conversion_plane[buffer], offset, size },
            (&page.codes).into(),
            (&page.entries).into(),
        ];
        let nothing = || std::iter::repeat(&self.nothing);
        for (buffers, most) in [(seen.unwrap_or_default(), SEEN_BUFFERS), (&self.tables.buffers, TABLE_BUFFERS)] {
            storage.extend(buffers.iter().chain(nothing()).take(most as usize).map(Part::from));
        }
        self.device.bind(&self.set.layout, &self.params, &storage)
    }

    /// The number of the set of parameters for a page in the n-th depth of those written.
    fn set_of(&self, n: u16, page: usize) -> u32 {
        (usize::from(n) * self.pages.len() + page) as u32
    }

    /// Writes the parameters of some depths: a set for each depth and page.
    fn write_params(&self, depths: std::ops::RangeInclusive<u16>) {
        let Work { args, histogram, cursors, counts, stamps, left, worklist, .. } = self.place;
        let all = Params {
            side_rows: self.plan.side_rows as u32,
            pages: self.pages.len() as u32,
            page_rows: self.page_rows as u32,
            seen_rows: self.seen_rows as u32,
            records: self.plan.records,
            crossed: self.plan.crossed,
            args: args as u32,
            worklist: worklist as u32,
            stamps: stamps as u32,
            left: left as u32,
            counts: counts as u32,
            histogram: histogram as u32,
            cursors: cursors as u32,
            no_move_loses: u32::from(self.batch.classes.options().no_move == NoMove::Loss),
            ..Params::default()
        };
        let mut data = Vec::new();
        for depth in depths {
            for (number, page) in self.pages.iter().enumerate() {
                let [entries_from, entries_to] = page.conversions.get(usize::from(depth)).copied().unwrap_or_default();
                let (first_row, rows) = (page.first_row as u32, page.rows as u32);
                let (depth, entries_all, page) = (depth.into(), page.entries_all, number as u32);
                let set = Params { depth, page, first_row, rows, entries_from, entries_to, entries_all, ..all };
                data.extend(set.words());
                data.resize(data.len().next_multiple_of(PARAMS_STRIDE as usize / 4), 0);
            }
        }
        self.device.write(&self.params, 0, &data);
    }

    fn read_work(&self, first: usize, count: usize) -> Result<Vec<u32>, GpuError> {
        self.device.read(&self.work, 4 * first as u64, 4 * count as u64, |bytes| {
            bytes.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)).collect()
        })
    }

    fn write_work(&self, first: usize, data: &[u32]) {
        self.device.write(&self.work, 4 * first as u64, data);
    }

    /// Runs a kernel with a work group for each row of a page.
    fn by_row<'b>(&'b self, name: &'static str, bound: &'b Bound, page: usize) -> Step<'b> {
        let rows = self.pages[page].rows as u32;
        let groups = [rows.min(GROUPS_X), rows.div_ceil(GROUPS_X)];
        Step::Run { kernel: self.set.get(name), bound, params: self.set_of(0, page), groups }
    }

    /// Copies how many rows are on each page's list of a depth to where dispatches take their size from.
    fn copy_groups(&self, depth: u16) -> Step<'_> {
        let bytes = 16 * self.pages.len() as u64;
        let from_at = 4 * self.place.args as u64 + u64::from(depth) * bytes;
        Step::Copy { from: &self.work, from_at, to: &self.groups, to_at: 0, bytes }
    }

    /// Looks up the values of captures and den entries for the positions of a page.
    fn find_conversions(&self, number: usize) -> Result<(), GpuError> {
        self.write_work(self.place.histogram, &vec![0; self.set.variant.values() as usize]);
        let bound = self.bind(&self.pages[number], &self.planes.open, &self.planes.escapes, None)?;
        self.device.submit([self.by_row("conversions", &bound, number)]);
        Ok(())
    }

    /// Puts the conversions of a page in the order of their depths, words by words.
    fn sort_conversions(&mut self, number: usize, limit: u64) -> Result<(), GpuError> {
        let variant = self.set.variant;
        let histogram = self.read_work(self.place.histogram, variant.values() as usize)?;
        // Conversions of one depth lie together.
        let mut value_of_depth = vec![None; usize::from(variant.max_plies()) + 4];
        for value in (1..variant.values()).filter(|&value| value != variant.draw()) {
            if let Some(slot) = value_of_depth.get_mut(depth_of_value(value, variant)) {
                *slot = Some(value as usize);
            }
        }
        let mut cursors = vec![0; histogram.len()];
        let mut total = 0u32;
        let mut conversions = vec![[0; 2]; value_of_depth.len()];
        for (depth, value) in value_of_depth.into_iter().enumerate() {
            let Some(value) = value else { continue };
            cursors[value] = total;
            let end = total + histogram[value];
            conversions[depth] = [total, end];
            // Those of each depth begin where a GPU's memory can be read in whole sectors.
            total = end.next_multiple_of(SECTOR);
        }
        // Conversions of depths that there are none of.
        for depth in 1..conversions.len() {
            if conversions[depth] == [0; 2] {
                conversions[depth] = [conversions[depth - 1][1]; 2];
            }
        }
        let bytes = 12 * u64::from(total);
        if bytes > limit {
            return Err(GpuError::TooLarge { what: what("the conversions", &self.batch), needed: bytes, limit });
        }
        self.write_work(self.place.cursors, &cursors);
        let entries = self.device.buffer(&what("the conversions", &self.batch), bytes)?;
        let page = &mut self.pages[number];
        (page.entries, page.entries_all, page.conversions) = (entries, total, conversions);
        self.write_params(0..=0);
        let bound = self.bind(&self.pages[number], &self.planes.open, &self.planes.escapes, None)?;
        self.device.submit([self.by_row("buckets", &bound, number)]);
        Ok(())
    }

    /// No row is on any list.
    fn clear_lists(&self) {
        let depths = usize::from(self.set.variant.max_plies()) + 3;
        self.write_work(self.place.args, &[0, 0, 1, 0].repeat(self.pages.len() * depths));
    }

    /// The buffers for each page in the passes of odd depth, or of even depth.
    fn bind_passes(&self, even: bool) -> Result<Vec<Bound>, GpuError> {
        let Planes { open, lost, escapes, conversion_wins } = &self.planes;
        let (written, conversion_plane, seen) =
            if even { (lost, escapes, open) } else { (open, conversion_wins, lost) };
        self.pages.iter().map(|page| self.bind(page, written, conversion_plane, Some(seen))).collect()
    }

    /// One pass; its parameters are the n-th of those written.
    fn pass<'b>(&'b self, depth: u16, n: u16, bounds: &'b [Bound]) -> Vec<Step<'b>> {
        let mut steps = Vec::new();
        for (number, page) in self.pages.iter().enumerate() {
            let [from, to] = page.conversions.get(usize::from(depth)).copied().unwrap_or_default();
            let groups = (to - from).div_ceil(64);
            if groups > 0 {
                steps.push(Step::Run {
                    kernel: self.set.get("conversion_pass"),
                    bound: &bounds[number],
                    params: self.set_of(n, number),
                    groups: [groups.min(GROUPS_X), groups.div_ceil(GROUPS_X)],
                });
            }
        }
        steps.push(self.copy_groups(depth));
        for (number, bound) in bounds.iter().enumerate() {
            steps.push(Step::RunAsMany {
                kernel: self.set.get("quiet_pass"),
                bound,
                params: self.set_of(n, number),
                groups: &self.groups,
                at: 16 * number as u64,
            });
        }
        steps
    }

    /// Solves the batch; the values stay on the GPU. Lines of more than `byte_plies` are an error unless cells are wide.
    pub(super) fn solve(&mut self, byte_plies: u16, limit: u64) -> Result<(), GpuError> {
        let device = Arc::clone(&self.device);
        let variant = self.set.variant;
        let longest = if variant.wide { variant.max_plies() } else { byte_plies.min(variant.max_plies()) };
        let too_long = GpuError::TooLong { what: what("the table", &self.batch), plies: longest };
        self.write_params(0..=0);
        for number in 0..self.pages.len() {
            self.find_conversions(number)?;
            self.sort_conversions(number, limit)?;
        }
        let last_conversion = self
            .pages
            .iter()
            .filter_map(|page| page.conversions.iter().rposition(|[from, to]| from < to))
            .max()
            .unwrap_or(0) as u16;
        if last_conversion > longest {
            return Err(too_long);
        }

        self.clear_lists();
        let (odd, even) = (self.bind_passes(false)?, self.bind_passes(true)?);
        let all = |name| (0..self.pages.len()).map(move |page| (name, page));
        device.submit(all("no_move").map(|(name, page)| self.by_row(name, &even[page], page)));
        if self.batch.classes.options().no_move == NoMove::Loss {
            device.submit(all("first_rows").map(|(name, page)| self.by_row(name, &even[page], page)));
        }

        let mut done = 0;
        loop {
            if done == longest {
                return Err(too_long);
            }
            let upto = (done + PASSES_AT_ONCE).min(longest);
            self.write_params(done + 1..=upto);
            let passes = (done + 1..=upto).zip(0..);
            device.submit(passes.flat_map(|(depth, n)| self.pass(depth, n, if depth % 2 == 1 { &odd } else { &even })));
            done = upto;
            let lists = 4 * self.pages.len();
            let worklist = self.read_work(self.place.args + (usize::from(done) + 1) * lists, lists)?;
            if worklist.iter().skip(3).step_by(4).all(|&rows| rows == 0) && done >= last_conversion {
                break;
            }
        }
        self.write_params(0..=0);
        device.submit(all("finish").map(|(name, page)| self.by_row(name, &even[page], page)));
        let counts = self.read_work(self.place.counts, self.plan.members.len() * 4 * variant.counts() as usize)?;
        self.counts =
            counts.as_chunks::<2>().0.iter().map(|&[low, high]| u64::from(low) | u64::from(high) << 32).collect();
        self.last_conversion = last_conversion;
        Ok(())
    }

    /// Whether a cell has two bytes.
    fn wide(&self) -> bool {
        self.set.variant.wide
    }

    /// The codes, page by page.
    fn codes(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.pages.iter().map(|page| &page.codes)
    }

    /// Where among the codes each class is if the first page is number `first`; `None` if one of its sides lies in two
    /// pages.
    fn places(&self, first: usize) -> impl Iterator<Item = Option<(ClassId, ByColor<TablePlace>)>> {
        self.plan.members.iter().map(move |member| {
            let place = |color| {
                let (page, row) = (member.side(color) / self.page_rows, member.side(color) % self.page_rows);
                let whole = row + member.rows <= self.page_rows;
                whole.then_some(TablePlace { page: (first + page) as u32, cell: (row * ROW_CELLS) as u32 })
            };
            Some((member.id, ByColor { white: place(Color::White)?, black: place(Color::Black)? }))
        })
    }

    /// Counts and values of all classes, after [`solve`](Run::solve).
    pub(super) fn fetch(&self) -> Result<Vec<Solved>, GpuError> {
        let sides = self.counts.chunks(2 * self.set.variant.counts() as usize);
        self.plan.members.iter().zip(sides).map(|(member, counts)| self.solved(member, counts)).collect()
    }

    /// What was done, after [`solve`](Run::solve).
    pub(super) fn work(&self) -> Result<DeviceWork, GpuError> {
        let depths = usize::from(self.set.variant.max_plies()) + 3;
        let args = self.read_work(self.place.args, depths * self.pages.len() * 4)?;
        let looked_at = args.iter().skip(3).step_by(4).map(|&rows| u64::from(rows)).sum();
        let conversions =
            self.pages.iter().flat_map(|page| &page.conversions).map(|&[from, to]| u64::from(to - from)).sum();
        Ok(DeviceWork::new(self.plan.side_rows as u64, looked_at, conversions, self.batch.keep, self.memory()))
    }

    /// Bytes of all buffers.
    pub(super) fn memory(&self) -> u64 {
        let Planes { open, lost, escapes, conversion_wins } = &self.planes;
        let planes = [open, lost, escapes, conversion_wins].into_iter().flatten();
        let codes = self.pages.iter().take(if self.batch.keep { self.pages.len() } else { 1 }).map(|page| &page.codes);
        let entries = self.pages.iter().map(|page| &page.entries);
        let others = [&self.plan_buffer, &self.work, &self.params, &self.groups];
        planes.chain(codes).chain(entries).chain(&self.tables.buffers).chain(others).map(wgpu::Buffer::size).sum()
    }

    /// Fetches one class.
    fn solved(&self, member: &PlannedClass, counts: &[u64]) -> Result<Solved, GpuError> {
        debug_assert_eq!(member.material, self.batch.classes.get(member.id).representative);
        let variant = self.set.variant;
        let draws_too = self.batch.classes.options().no_move == NoMove::Draw;
        let stats = |counts: &[u64]| {
            let (no_move, undecided) = (counts[0], counts[counts.len() - 1]);
            let draws = undecided - if draws_too { no_move } else { 0 };
            let mut stats = Stats { no_move, draws, by_plies: Vec::new() };
            for (plies, &count) in (0..=variant.max_plies()).zip(counts).skip(1).filter(|(_, count)| **count > 0) {
                stats.add_decided(plies, count);
            }
            stats
        };
        let (white, black) = counts.split_at(variant.counts() as usize);
        let stats = ByColor { white: stats(white), black: stats(black) };
        // The CPU makes room for the pass after the last that changes something.
        let longest = Color::ALL.iter().map(|&color| stats[color].summary().longest).max().unwrap_or(0);
        let wide = longest >= u64::from(Cells::BYTE_PLIES) || self.last_conversion > Cells::BYTE_PLIES;
        let table = if self.batch.keep {
            let cells = |color| self.cells(member, color, wide);
            Some(Table { cells: ByColor { white: cells(Color::White)?, black: cells(Color::Black)? } })
        } else {
            None
        };
        Ok(Solved { stats, table })
    }

    /// Fetches the values of one side to move.
    fn cells(&self, member: &PlannedClass, color: Color, wide: bool) -> Result<Cells, GpuError> {
        let bytes_of_cell = cell_bytes(self.wide());
        let row_bytes = ROW_CELLS as u64 * bytes_of_cell;
        let (first, end) = (member.side(color), member.side(color) + member.rows);
        let part = |page| {
            let page: &Page = page;
            let (from, to) = (first.max(page.first_row), end.min(page.first_row + page.rows));
            let (at, rows) = (from.saturating_sub(page.first_row) as u64, to.saturating_sub(from) as u64);
            (rows > 0).then_some((&page.codes, at * row_bytes, rows * row_bytes))
        };
        let parts: Vec<_> = self.pages.iter().filter_map(part).collect();
        let mut bytes: Vec<u8> = Vec::with_capacity(member.rows * row_bytes as usize);
        self.device.stream(&parts, |piece| bytes.extend_from_slice(piece))?;
        if bytes_of_cell == 1 {
            return Ok(Cells::Byte(bytes));
        }
        let codes = bytes.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair));
        Ok(if wide { Cells::Wide(codes.collect()) } else { Cells::Byte(codes.map(|code| code as u8).collect()) })
    }
}

/// What a buffer is for, in errors.
fn what(name: &str, batch: &Batch<'_>) -> String {
    let material = batch.classes.get(batch.ids[0]).representative;
    match batch.ids.len() {
        1 => format!("{name} of {material}"),
        n => format!("{name} of {n} classes from {material} on"),
    }
}
