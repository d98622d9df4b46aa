//! One batch on the GPU.

use super::kernels::Kernels;
use super::plan::{Member, Plan};
use super::script::{Dispatch, EMPTY_LIST, KernelName, MAX_DISPATCHES, PASSES_AT_ONCE, Pace, Script, submission};
use super::tables::Tables;
use crate::board::{ByColor, Color, NoMove};
use crate::clock::Instant;
use crate::gpu::{Bound, Buffer, Device, GpuError, Groups, PARAMS_STRIDE, Part, RawBuffer, Step};
use crate::shaders::*;
use crate::tablebase::solve::backend::{DeviceWork, Job, Solved};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::needs::gpu::BatchFormat;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::value::Cells;
use crate::tablebase::{ClassId, ROW_CELLS, Stats};
use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traffic;

/// The longest line in plies that the counters and the depths of conversions can represent.
pub(super) const MAX_PLIES: u16 = KINDS as u16 - 3;

/// The planes of one side to move, or of both.
#[derive(Clone)]
struct Planes {
    open: Buffer,
    lost: Buffer,
    escapes: Buffer,
}

/// The buffers of a batch.
#[cfg_attr(not(test), expect(dead_code, reason = "tests read the records, the planes and the trace"))]
struct Buffers {
    /// The records of the rows.
    rows: Buffer,
    /// The counters and the states of the rows.
    state: Buffer,
    list: Buffer,
    planes: ByColor<Planes>,
    /// The codes and the conversions of each page.
    pages: Vec<Buffer>,
    params: RawBuffer,
    neighbours: Bound,
    /// By page: for kernels without a depth, for lists, and for passes that find wins or losses.
    bounds: Vec<[Bound; 4]>,
    /// The records of the kernels, if they trace.
    touches: Option<Buffer>,
}

/// The end of an attempt to solve a batch.
pub(super) enum Done {
    Solved,
    /// The buffers of conversions are too small: the number of entries that each row needs.
    NeedsEntries(u64),
}

/// Why not all classes of a batch were passed on.
#[derive(Debug)]
pub(super) enum FetchError {
    Gpu(GpuError),
    /// The receiver refused a class.
    Refused(SolveError),
}

impl From<GpuError> for FetchError {
    fn from(error: GpuError) -> FetchError {
        FetchError::Gpu(error)
    }
}

/// A batch on the GPU.
pub(super) struct Run<'a> {
    device: Arc<Device>,
    kernels: Arc<Kernels>,
    job: Job<'a>,
    pub plan: Arc<Plan>,
    script: Script,
    /// `None` after the last use.
    buffers: Option<Buffers>,
    /// The counters as last read, and the visits. The next fields count the waits for the GPU, and the dispatches.
    counted: Vec<u32>,
    visits: u64,
    pub waits: u64,
    pub dispatches: u64,
    /// The number of classes that were passed on.
    fetched: usize,
}

impl<'a> Run<'a> {
    pub(super) async fn new(
        device: Arc<Device>,
        kernels: Arc<Kernels>,
        job: Job<'a>,
        plan: Arc<Plan>,
        tables: &Tables,
        format: BatchFormat,
    ) -> Result<Run<'a>, GpuError> {
        let script = Script::new(&plan, &job, format);
        let buffers = Some(Buffers::new(&device, &kernels, &plan, &script, tables).await?);
        let counted = vec![0; script.counters()];
        Ok(Run { device, kernels, job, plan, script, buffers, counted, visits: 0, waits: 0, dispatches: 0, fetched: 0 })
    }

    fn buffers(&self) -> &Buffers {
        self.buffers.as_ref().expect("buffers are in use until the values are fetched")
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.kernels.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most work of a submission.
    fn at_once(&self) -> usize {
        self.pace().at_once.min(self.script.format.submitted_rows)
    }

    /// Submits dispatches one after the other. Waits only as long as the pace of the GPU is not known.
    async fn execute(&mut self, mut dispatches: &[Dispatch]) -> Result<(), GpuError> {
        while !dispatches.is_empty() {
            let (now, rest) = dispatches.split_at(submission(dispatches, self.at_once()));
            let start = Instant::now();
            self.submit(now).await?;
            let work = now.iter().map(Dispatch::work).sum();
            if self.pace().is_measuring() && now.iter().any(|dispatch| dispatch.kernel == KernelName::Init) {
                self.device.wait().await?;
                self.waits += 1;
                self.pace().measured(work, start.elapsed().as_secs_f64());
            }
            dispatches = rest;
        }
        Ok(())
    }

    /// Submits dispatches together.
    async fn submit(&mut self, dispatches: &[Dispatch]) -> Result<(), GpuError> {
        let buffers = self.buffers();
        let mut sets = Vec::with_capacity(dispatches.len() * PARAMS_STRIDE as usize);
        let mut list = 0;
        let mut steps = Vec::new();
        for (params, dispatch) in (0..).zip(dispatches) {
            list += u32::from(dispatch.kernel == KernelName::List);
            let set = Params { list: list.saturating_sub(1), ..dispatch.params };
            sets.extend_from_slice(bytemuck::bytes_of(&set));
            sets.resize(sets.len().next_multiple_of(PARAMS_STRIDE as usize), 0);
            let [whole, listed, wins, losses] = &buffers.bounds[dispatch.page];
            let bound = match dispatch.kernel {
                KernelName::Neighbours => &buffers.neighbours,
                KernelName::Init | KernelName::Finish => whole,
                KernelName::List => listed,
                KernelName::Pass if dispatch.params.wins != 0 => wins,
                KernelName::Pass => losses,
            };
            let groups = match dispatch.groups {
                Some(groups) => Groups::Fixed(groups),
                None => Groups::Stored(&buffers.list, 16 * u64::from(set.list)),
            };
            steps.push(Step { kernel: self.kernels.kernel(dispatch.kernel), bound, params, groups });
        }
        self.device.write(&buffers.params, 0, &sets).await?;
        if list > 0 {
            self.device.write(&buffers.list, 0, &vec![EMPTY_LIST; list as usize]).await?;
        }
        let seconds = self.device.submit(steps).await?;
        for (dispatch, seconds) in dispatches.iter().zip(seconds) {
            self.kernels.times.add(dispatch.kernel.name(), dispatch.params.depth as u16, seconds);
        }
        self.dispatches += dispatches.len() as u64;
        Ok(())
    }

    async fn read_counters(&mut self) -> Result<(), GpuError> {
        self.waits += 1;
        let start = Instant::now();
        let before = self.counted[VISITS as usize];
        self.counted = self.device.read(&self.buffers().state, self.counted.len()).await?;
        self.kernels.times.add("waiting", 0, start.elapsed().as_secs_f64());
        // The counter of visits may overflow in a batch, but not between two reads.
        self.visits += u64::from(self.counted[VISITS as usize].wrapping_sub(before));
        Ok(())
    }

    /// A counter of a side.
    fn count(&self, side: usize, kind: usize) -> u64 {
        let at = self.script.counts() + 2 * (side * KINDS as usize + kind);
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
    pub(super) async fn solve(&mut self, longest: u16) -> Result<Done, GpuError> {
        let too_long = GpuError::TooLong { what: format!("the table of {}", self.plan.name), plies: longest };
        let all = 0..self.plan.sides.len();
        let metric = self.job.classes.metric();
        let last = self.job.classes.options().no_capture_limit;
        if last.is_some_and(|limit| metric.decided(false, limit) > longest) {
            return Err(too_long);
        }
        self.execute(&self.script.start(self.at_once())).await?;
        let mut next = self.script.first_pass();
        loop {
            if last.is_some_and(|limit| next > limit) {
                break;
            }
            if next > longest {
                return Err(too_long);
            }
            let end = (next + PASSES_AT_ONCE).min(last.unwrap_or(longest) + 1);
            self.execute(&self.script.passes(next..end, self.at_once())).await?;
            next = end;
            self.read_counters().await?;
            let per_row = |(page, &used): (&Range<usize>, &u32)| u64::from(used).div_ceil(page.len() as u64);
            let used = self.script.pages.iter().zip(&self.counted[USED as usize..]);
            let entries = used.map(per_row).max().unwrap_or(0);
            if entries > self.script.format.entries_per_row {
                return Ok(Done::NeedsEntries(entries));
            }
            let last_conversion = self.last_conversion(all.clone());
            if last_conversion > longest {
                return Err(too_long);
            }
            let decided = [true, false].map(|wins| metric.decided(wins, end - 1));
            let changed = all.clone().any(|side| decided.iter().any(|&number| self.count(side, number.into()) != 0));
            if !changed && end > last_conversion {
                break;
            }
        }
        self.execute(&self.script.finish(self.at_once())).await?;
        if !self.job.values {
            self.read_counters().await?;
            self.buffers = None;
        }
        Ok(Done::Solved)
    }

    /// Passes the counts and the values of the classes on, one class after the other, after [`solve`](Run::solve): the
    /// values of one class are in memory at a time.
    ///
    /// # Errors
    /// If the GPU fails, its counts are not the counts of all positions or of its values, or the receiver refuses a class.
    /// The classes that were not passed on are [`left`](Run::left).
    pub(super) async fn fetch(
        &mut self,
        mut pass_on: impl FnMut(ClassId, Solved) -> Result<(), SolveError>,
    ) -> Result<(), FetchError> {
        if self.job.values {
            self.read_counters().await?;
        }
        let counted = (0..self.plan.members.len()).map(|class| self.counts_of(class)).collect::<Result<Vec<_>, _>>()?;
        for (class, mut solved) in counted.into_iter().enumerate() {
            if self.job.values {
                solved.values = Some(self.values_of(class, &solved.stats).await?);
            }
            pass_on(self.plan.members[class].id, solved).map_err(FetchError::Refused)?;
            self.fetched += 1;
        }
        Ok(())
    }

    /// The classes that were not passed on.
    pub(super) fn left(&self) -> Vec<ClassId> {
        self.plan.ids().skip(self.fetched).collect()
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
                return Err(GpuError::Wrong(format!(
                    "of {material} with {color} to move it decided {decided} of {} positions and left {found}",
                    material.positions()
                )));
            }
            Ok(stats)
        };
        let stats = ByColor { white: stats_of(Color::White)?, black: stats_of(Color::Black)? };
        Ok(Solved { stats, deepest: ByColor::default(), values: None })
    }

    /// Fetches the values of a class. Counts them again: a driver may compile the kernels wrongly.
    async fn values_of(&self, class: usize, stats: &ByColor<Stats>) -> Result<SolvedRows, GpuError> {
        let member = &self.plan.members[class];
        let codes = ByColor {
            white: self.codes_of(member, Color::White).await?,
            black: self.codes_of(member, Color::Black).await?,
        };
        SolvedRows::of_codes(member.index.clone(), member.rows.clone(), stats, codes).map_err(|turn| {
            let material = self.job.material(member.id);
            GpuError::Wrong(format!("the values of {material} with {turn} to move are not its counts"))
        })
    }

    /// The codes of the solved rows of a class for one side to move.
    async fn codes_of(&self, member: &Member, color: Color) -> Result<Cells, GpuError> {
        let mut codes = Cells::empty(self.script.format.cell_bytes(), member.rows.len() * ROW_CELLS);
        let row_bytes = ROW_CELLS * codes.cell_bytes();
        self.device.read_into(&self.parts_of(member, color, row_bytes), codes.view_mut().bytes()).await?;
        Ok(codes)
    }

    /// The parts of the pages with the codes of a class for one side to move.
    fn parts_of(&self, member: &Member, color: Color, row_bytes: usize) -> Vec<Part<'_>> {
        let first = member.first + color as usize * self.script.side_rows;
        let end = first + member.rows.len();
        let mut parts: Vec<Part<'_>> = Vec::new();
        for (page, buffer) in self.script.pages.iter().zip(&self.buffers().pages) {
            let rows = first.max(page.start)..end.min(page.end);
            if !rows.is_empty() {
                let at = |row: usize| ((row - page.start) * row_bytes) as u64;
                parts.push((buffer, at(rows.start), at(rows.end) - at(rows.start)));
            }
        }
        parts
    }

    /// The counters of the work, after [`solve`](Run::solve).
    pub(super) fn work(&self) -> DeviceWork {
        let rows = 2 * self.plan.rows as u64;
        let visits = self.visits;
        let conversions = self.counted[USED as usize..self.script.counts()].iter().map(|&used| u64::from(used)).sum();
        let row_bytes = 8 * self.plan.row_words() as u64;
        // `init` writes three planes and the state. A visit reads two planes of its side at an even depth and one at an
        // odd depth, at least one plane of the opponent, and writes one plane.
        let set_up = 3 * row_bytes + 32 + if self.job.values { 2 * ROW_CELLS as u64 } else { 0 };
        let bytes_moved = rows * set_up + visits * (7 * row_bytes / 2 + 32) + 16 * conversions;
        DeviceWork { rows, row_visits: visits, conversions, bytes_moved, ..DeviceWork::default() }
    }
}

impl Buffers {
    async fn new(
        device: &Device,
        kernels: &Kernels,
        plan: &Plan,
        script: &Script,
        tables: &Tables,
    ) -> Result<Buffers, GpuError> {
        let label = |name: &str| format!("{name} of {}", plan.name);
        let mut sides = plan.sides.clone();
        for &([side, number], table) in &plan.looked_up {
            let capture = &mut sides[side].captures[number];
            (capture.buffer, capture.cell) = tables.places[&table];
        }
        let sides = device.buffer_with(&label("the sides"), &sides).await?;
        let given = device.buffer_with(&label("the squares"), &plan.given).await?;
        let places = device.buffer_with(&label("the places"), &plan.places).await?;
        let rows = device.unset_buffer(&label("the rows"), script.record_bytes()).await?;
        let state = device.buffer(&label("the states"), script.state_bytes()).await?;
        let list = device.unset_buffer(&label("the lists"), script.list_bytes()).await?;
        let plane = async || device.unset_buffer(&label("a plane"), script.plane_bytes()).await;
        let planes = async || Ok(Planes { open: plane().await?, lost: plane().await?, escapes: plane().await? });
        let white = planes().await?;
        let black = if script.joint { white.clone() } else { planes().await? };
        let planes = ByColor { white, black };
        let mut pages = Vec::new();
        for number in 0..script.pages.len() {
            let [codes, all] = script.page_bytes(number);
            let page = device.unset_buffer(&label("the conversions and codes"), all).await?;
            device.clear(&page, codes).await?;
            pages.push(page);
        }
        let params = device.params(MAX_DISPATCHES as u64).await?;
        let touches = if kernels.trace { Some(device.buffer("the trace", 64 << 20).await?) } else { None };
        let bind = async |kernel: KernelName, storage: &[&Buffer]| {
            let storage: Vec<&Buffer> = storage.iter().copied().chain(&touches).collect();
            device.bind(kernels.layout(kernel), &params, &storage).await
        };
        let neighbours = bind(KernelName::Neighbours, &[&sides, &given, &places, &rows]).await?;
        let mut bounds = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            let color = script.color(number);
            let (own, opponent) = (&planes[color], &planes[!color]);
            let mut whole = vec![&sides, &rows, &state, &own.open, &own.lost, &own.escapes, page];
            whole.extend(tables.buffers.iter().chain(std::iter::repeat(&sides)).take(kernels.tables));
            let wins = [&sides, &rows, &state, &own.open, &opponent.lost, &own.escapes, page, &list];
            let losses = [&sides, &rows, &state, &own.lost, &opponent.open, &own.escapes, page, &list];
            bounds.push([
                bind(KernelName::Init, &whole).await?,
                bind(KernelName::List, &[&state, &list]).await?,
                bind(KernelName::Pass, &wins).await?,
                bind(KernelName::Pass, &losses).await?,
            ]);
        }
        Ok(Buffers { rows, state, list, planes, pages, params, neighbours, bounds, touches })
    }
}
