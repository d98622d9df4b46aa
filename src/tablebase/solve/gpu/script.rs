//! What a batch does on a GPU: the sizes of its buffers, and the dispatches in their order. Computed without a GPU.

use super::plan::Plan;
use crate::board::{Color, NoMove};
use crate::shaders::*;
use crate::tablebase::Metric;
use crate::tablebase::solve::backend::Job;
use crate::tablebase::solve::needs::gpu::BatchFormat;
use std::fmt;
use std::ops::Range;

/// The number of passes that are submitted before the host reads the counters.
pub(super) const PASSES_AT_ONCE: u16 = 16;
/// The most dispatches of a submission. Each has its own parameters.
pub(super) const MAX_DISPATCHES: usize = 256;
/// The beginning of a list of rows: the numbers of workgroups in three dimensions, and the number of rows.
pub(super) const EMPTY_LIST: [u32; 4] = [0, 1, 1, 0];
/// The work of a row in `init`, in rows of a pass: an H200 took 24 and 2.4 ns.
const WHOLE_ROW: usize = 10;

/// The table kernels.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KernelName {
    Neighbours,
    Init,
    List,
    Pass,
    Finish,
}

impl KernelName {
    pub(super) const ALL: [KernelName; 5] =
        [KernelName::Neighbours, KernelName::Init, KernelName::List, KernelName::Pass, KernelName::Finish];

    /// The name of its file.
    pub(super) fn name(self) -> &'static str {
        match self {
            KernelName::Neighbours => "neighbours",
            KernelName::Init => "init",
            KernelName::List => "list",
            KernelName::Pass => "pass",
            KernelName::Finish => "finish",
        }
    }
}

/// A dispatch of a kernel for rows of one page.
#[derive(Copy, Clone, Debug)]
pub(super) struct Dispatch {
    pub kernel: KernelName,
    pub page: usize,
    pub params: Params,
    /// The number of workgroups; `None` if the list of the pass has it.
    pub groups: Option<u32>,
}

impl Dispatch {
    /// The work, in rows of a pass.
    pub(super) fn work(&self) -> usize {
        let rows = self.params.count as usize;
        match self.kernel {
            KernelName::Init => WHOLE_ROW * rows,
            KernelName::Neighbours | KernelName::List => rows / 16,
            KernelName::Pass | KernelName::Finish => rows,
        }
    }
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Params { depth, first, count, .. } = self.params;
        write!(f, "{} depth {depth} rows {first}+{count} page {}", self.kernel.name(), self.page)
    }
}

/// The script of a batch. White's rows come first, then as many of Black.
pub(super) struct Script {
    /// The number of rows of one side to move, and of sides to move of all classes.
    pub side_rows: usize,
    pub sides: usize,
    /// Whether the planes of both sides to move are in one buffer, so that one dispatch processes both.
    pub joint: bool,
    /// The rows of each page.
    pub pages: Vec<Range<usize>>,
    pub format: BatchFormat,
    words: Halves,
    row_words: usize,
    record: usize,
    neighbours: usize,
    no_move_loses: bool,
    metric: Metric,
}

impl Script {
    pub(super) fn new(plan: &Plan, job: &Job<'_>, format: BatchFormat) -> Script {
        let (rows, plane_row) = (plan.rows, 8 * plan.row_words() as u64);
        let pages = format.pages(rows, plane_row);
        let neighbours = 4 * plan.members.iter().map(|member| member.index.row_pieces.len()).max().unwrap_or(0);
        Script {
            side_rows: rows,
            sides: plan.sides.len(),
            joint: format.is_joint(rows, plane_row),
            pages,
            format,
            words: halves(plan.words.bits()),
            row_words: plan.row_words(),
            // Whole sectors of 32 bytes.
            record: (2 + neighbours).next_multiple_of(8),
            neighbours,
            no_move_loses: job.classes.options().no_move == NoMove::Loss,
            metric: job.classes.metric(),
        }
    }

    /// The side to move of a page, if its rows are of one side.
    pub(super) fn color(&self, page: usize) -> Color {
        if self.pages[page].start >= self.side_rows { Color::Black } else { Color::White }
    }

    /// Bytes of the records of all rows.
    pub(super) fn record_bytes(&self) -> u64 {
        4 * (self.side_rows * self.record) as u64
    }

    /// Bytes of a plane of one side to move, or of both.
    pub(super) fn plane_bytes(&self) -> u64 {
        8 * (self.side_rows * self.row_words * if self.joint { 2 } else { 1 }) as u64
    }

    /// Bytes of a page's codes, and of the page.
    pub(super) fn page_bytes(&self, page: usize) -> [u64; 2] {
        let (rows, format) = (self.pages[page].len() as u64, self.format);
        [rows * format.code_bytes(), rows * (format.code_bytes() + format.entry_bytes())]
    }

    /// The number of counters, which the states of the rows follow.
    pub(super) fn counters(&self) -> usize {
        self.counts() + self.sides * 2 * KINDS as usize
    }

    /// The index of the first count among the counters.
    pub(super) fn counts(&self) -> usize {
        USED as usize + self.pages.len()
    }

    /// The index of a field of the states, by row.
    pub(super) fn field(&self, field: u32) -> usize {
        self.counters() + field as usize * 2 * self.side_rows
    }

    /// The number of fields of the states.
    fn fields(&self) -> u32 {
        if self.is_limited() { LIMIT_FIELDS } else { STATE_FIELDS }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.metric != Metric::Dtw
    }

    /// Bytes of the counters and the states.
    pub(super) fn state_bytes(&self) -> u64 {
        4 * self.field(self.fields()) as u64
    }

    /// Bytes of the lists of passes: their beginnings, then the rows of the list in use.
    pub(super) fn list_bytes(&self) -> u64 {
        let rows = self.pages.iter().map(|page| page.len()).max().unwrap_or(0);
        (16 * MAX_DISPATCHES + 4 * rows) as u64
    }

    /// The dispatches that initialize the batch; none has more work than `at_once`, except for a single row.
    pub(super) fn start(&self, at_once: usize) -> Vec<Dispatch> {
        let neighbours = self.dispatch(KernelName::Neighbours, 0, 0..self.side_rows, 0);
        let rows = self.parts(at_once / WHOLE_ROW);
        let init = rows.into_iter().map(|(page, rows)| self.dispatch(KernelName::Init, page, rows, 0));
        std::iter::once(neighbours).chain(init).collect()
    }

    /// The first pass with anything to find: `init` finds the wins in one ply by a conversion.
    pub(super) fn first_pass(&self) -> u16 {
        if self.no_move_loses || self.is_limited() { 1 } else { 2 }
    }

    /// The dispatches of these passes.
    pub(super) fn passes(&self, depths: Range<u16>, at_once: usize) -> Vec<Dispatch> {
        let parts = self.parts(at_once);
        // As on the CPU, a pass off the beat comes first and only finds positions, which are decided after the pass on the beat.
        let modes: &[u32] = if self.is_limited() { &[FIND, ON_BEAT, DECIDE] } else { &[ON_BEAT] };
        let of_part = |depth: u16, mode: u32, (page, rows): &(usize, Range<usize>)| {
            [KernelName::List, KernelName::Pass].map(|kernel| {
                let dispatch = self.dispatch(kernel, *page, rows.clone(), depth);
                let wins = (depth % 2 == 1) == (mode == ON_BEAT);
                let decided = self.metric.decided(wins, depth).into();
                Dispatch { params: Params { decided, mode, wins: wins.into(), ..dispatch.params }, ..dispatch }
            })
        };
        let mut dispatches = Vec::new();
        for depth in depths {
            // The positions that are lost in one ply are found by `init`.
            for &mode in modes.iter().filter(|&&mode| mode != FIND || depth > 1) {
                dispatches.extend(parts.iter().flat_map(|part| of_part(depth, mode, part)));
            }
        }
        dispatches
    }

    /// The dispatches that count and mark what no pass has decided.
    pub(super) fn finish(&self, at_once: usize) -> Vec<Dispatch> {
        self.parts(at_once).into_iter().map(|(page, rows)| self.dispatch(KernelName::Finish, page, rows, 0)).collect()
    }

    /// The rows of all pages in parts of at most so many rows, at least one.
    fn parts(&self, rows: usize) -> Vec<(usize, Range<usize>)> {
        let of_page = |(number, page): (usize, &Range<usize>)| {
            let end = page.end;
            page.clone()
                .step_by(rows.max(1))
                .map(move |first| (number, first..end.min(first.saturating_add(rows.max(1)))))
        };
        self.pages.iter().enumerate().flat_map(of_page).collect()
    }

    fn dispatch(&self, kernel: KernelName, page: usize, rows: Range<usize>, depth: u16) -> Dispatch {
        let rows_of_group = match kernel {
            KernelName::Neighbours => 4,
            KernelName::Init | KernelName::Pass => 1,
            KernelName::List => 1024,
            KernelName::Finish => 64,
        };
        let groups = rows.len().div_ceil(rows_of_group).min(GROUPS as usize) as u32;
        let params = self.params(page, rows, depth);
        Dispatch { kernel, page, params, groups: (kernel != KernelName::Pass).then_some(groups) }
    }

    fn params(&self, page: usize, rows: Range<usize>, depth: u16) -> Params {
        let start = self.pages[page].start;
        let [code_bytes, page_bytes] = self.page_bytes(page);
        let black = if self.joint || start < self.side_rows { 0 } else { self.side_rows };
        Params {
            words: self.words,
            depth: depth.into(),
            decided: 0,
            mode: ON_BEAT,
            wins: 0,
            first: rows.start as u32,
            count: rows.len() as u32,
            side_rows: self.side_rows as u32,
            written_first: black as u32,
            seen_first: if self.joint || black > 0 { 0 } else { self.side_rows } as u32,
            row_words: self.row_words as u32,
            record: self.record as u32,
            neighbours: self.neighbours as u32,
            states: self.counters() as u32,
            counts: self.counts() as u32,
            page: page as u32,
            page_first: start as u32,
            entries: (code_bytes / 8) as u32,
            entries_end: (page_bytes / 8) as u32,
            // Lists are numbered in a submission.
            list: 0,
            list_rows: 4 * MAX_DISPATCHES as u32,
            no_move_loses: self.no_move_loses.into(),
            keep: self.format.values.into(),
            wide: self.format.wide.into(),
            limited: self.is_limited().into(),
        }
    }
}

/// The number of the first dispatches that one submission contains: with at most `at_once` work, or a single one. A pass stays
/// with the dispatch that lists its rows.
pub(super) fn submission(dispatches: &[Dispatch], at_once: usize) -> usize {
    let (mut count, mut work) = (0, 0);
    for group in dispatches.chunk_by(|a, b| (a.kernel, b.kernel) == (KernelName::List, KernelName::Pass)) {
        work += group.iter().map(Dispatch::work).sum::<usize>();
        if count > 0 && (work > at_once || count + group.len() > MAX_DISPATCHES) {
            break;
        }
        count += group.len();
    }
    count
}

/// The work of a submission, which must be done in much less than the two seconds after which drivers end it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pace {
    /// The most work of a submission, and the bound that it does not exceed.
    pub at_once: usize,
    pub limit: usize,
}

impl Pace {
    /// The seconds that a submission may take.
    const SECONDS: f64 = 0.5;

    pub(super) fn new(limit: usize) -> Pace {
        Pace { at_once: limit.min(1 << 18), limit }
    }

    /// Whether the time of the next submission decides about the work of those after it.
    pub(super) fn is_measuring(&self) -> bool {
        self.at_once < self.limit
    }

    /// Adjusts the work of a submission to the time that some work took.
    pub(super) fn measured(&mut self, work: usize, seconds: f64) {
        // Half of what the time allows, and not much more than was measured: little work does not fill a GPU.
        let most = (work as f64 * Pace::SECONDS / 2.0 / seconds.max(1e-6)) as usize;
        self.at_once = most.min(16 * work).clamp(1, self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;
    use crate::tablebase::{Options, Solver};

    /// The script of a class; `limit` is the size of a buffer.
    fn scripted(rules: &str, material: &str, limit: u64, test: impl FnOnce(Script)) {
        let rules: RuleOptions = rules.parse().unwrap();
        let solver = Solver::new(&rules, 4, Options::default());
        let ids = [solver.classes().member(material.parse().unwrap()).unwrap().class];
        let job = solver.job(&ids, false);
        let plan = Plan::new(&ids, solver.classes(), [].into());
        let format = BatchFormat { values: false, wide: false, entries_per_row: 100, limit, submitted_rows: 1 << 20 };
        test(Script::new(&plan, &job, format));
    }

    #[test]
    fn a_pass_is_two_dispatches_for_all_rows() {
        scripted("paper", "EPvLR", 128 << 20, |script| {
            assert_eq!((script.pages.len(), script.pages[0].clone()), (1, 0..2 * script.side_rows));
            let named = |dispatches: Vec<Dispatch>| dispatches.iter().map(Dispatch::to_string).collect::<Vec<_>>();
            let (rows, side) = (2 * script.side_rows, script.side_rows);
            let start =
                [format!("neighbours depth 0 rows 0+{side} page 0"), format!("init depth 0 rows 0+{rows} page 0")];
            assert_eq!(named(script.start(usize::MAX)), start);
            assert_eq!(script.passes(2..18, usize::MAX).len(), 32);
            let pass = ["list", "pass"].map(|kernel| format!("{kernel} depth 7 rows 0+{rows} page 0"));
            assert_eq!(named(script.passes(7..8, usize::MAX)), pass);
            assert_eq!(script.first_pass(), 2);
        });
        scripted("no-move=loss", "EPvLR", 128 << 20, |script| assert_eq!(script.first_pass(), 1));
    }

    /// With small buffers, planes of one side fill a buffer, and no page has rows of both sides.
    #[test]
    fn rows_are_divided_among_pages_and_submissions() {
        scripted("paper", "EPvLR", 600 << 10, |script| {
            assert!(!script.joint && script.pages.len() > 2);
            let mut end = 0;
            for (number, page) in script.pages.iter().enumerate() {
                assert_eq!(page.start, end);
                end = page.end;
                let black = script.color(number) == Color::Black;
                assert!(if black { page.start >= script.side_rows } else { page.end <= script.side_rows });
                assert!(script.page_bytes(number)[1] <= 600 << 10);
            }
            assert_eq!(end, 2 * script.side_rows);
            let passes = script.passes(1..4, 500);
            let rows: u32 = passes.iter().filter(|d| d.kernel == KernelName::Pass).map(|d| d.params.count).sum();
            assert_eq!(rows as usize, 3 * end);
            let mut rest = &passes[..];
            while !rest.is_empty() {
                let (now, after) = rest.split_at(submission(rest, 1500));
                assert!(now.len() == 2 || now.iter().map(Dispatch::work).sum::<usize>() <= 1500);
                assert_eq!((now[0].kernel, now.last().unwrap().kernel), (KernelName::List, KernelName::Pass));
                rest = after;
            }
        });
    }

    #[test]
    fn slow_gpus_get_less_work_at_once() {
        let mut pace = Pace::new(1 << 26);
        pace.measured(1 << 18, 20.0);
        assert_eq!(pace.at_once, 3276);
        pace.measured(3276, 0.125);
        assert_eq!(pace.at_once, 6552);
        while pace.is_measuring() {
            pace.measured(pace.at_once, 0.001);
        }
        assert_eq!(pace.at_once, 1 << 26);
    }
}
