//! The plan of all classes: for each class the classes it needs, its memory, and its time by a measured rate.

use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{ClassId, Classes, Material, MemoryNeed, expected_file_bytes};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

/// One class of a plan, as one line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedClass {
    /// The representative of the class.
    pub class: Material,
    /// Pieces on the board.
    pub pieces: usize,
    /// The classes that captures lead to, which must be solved first.
    pub captures: Vec<Material>,
    /// Positions with one side to move.
    pub positions: u64,
    /// Rows of 4096 cells for one side to move; the predicted time is proportional to them.
    pub rows: u64,
    /// The peak memory of the job with everything in memory, in bytes.
    pub bytes: u64,
    /// The peak memory of the job with conversions in temporary files, in bytes. A job with a lower limit fails.
    pub spilled_bytes: u64,
    /// The GiB to request for the job, also its memory limit.
    pub memory_gib: u64,
    /// The bytes of the conversions, which go to temporary files if they do not fit into the request.
    pub conversion_bytes: u64,
    /// The most bytes of temporary files within the request.
    pub temporary_bytes: u64,
    /// The bytes of the decoded values of the classes that captures lead to.
    pub capture_bytes: u64,
    /// The predicted bytes of the tables that captures lead to.
    pub read_bytes: u64,
    /// The predicted bytes of the class's table; 0 if only the counts are kept.
    pub file_bytes: u64,
    /// The predicted seconds on one core.
    pub seconds: f64,
}

/// All classes of 2 to N pieces, each after the classes that its captures lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The classes, fewest pieces first.
    pub classes: Vec<PlannedClass>,
}

/// The machines that run the jobs of a plan.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Machines {
    /// Jobs that run at the same time.
    pub jobs: usize,
    /// Cores of each job. A class is assumed to use all of them equally well.
    pub cores_per_job: usize,
    /// The bytes per second that the file system reads and writes for all jobs together, in equal shares. `None` if
    /// files take no time.
    pub bytes_per_second: Option<f64>,
}

impl Machines {
    /// Machines that run `cores` jobs of one core each. Files take no time.
    #[must_use]
    pub fn of_cores(cores: usize) -> Machines {
        Machines { jobs: cores, cores_per_job: 1, bytes_per_second: None }
    }
}

/// The speed of a core.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rate {
    /// Rows for one side to move that a core solves per second.
    pub rows_per_second: f64,
    /// The constant seconds of every job, for starting, reading and writing.
    pub job_seconds: f64,
}

impl PlannedClass {
    /// Plans one class. Its values are kept if `values` is true, else only its counts. The request is at most
    /// `limit_gib`, unless the class cannot be solved with less.
    #[must_use]
    pub fn new(classes: &Classes, id: ClassId, values: bool, rate: Rate, limit_gib: Option<u64>) -> PlannedClass {
        let class = classes.get(id);
        let material = class.representative;
        let rows = class.index().rows as u64;
        let need = MemoryNeed::of_job(classes, id, values);
        let captures = classes.captures(id);
        let file_bytes = |id: ClassId| expected_file_bytes(classes, id);
        let memory_gib = request_gib(&need, limit_gib);
        PlannedClass {
            class: material,
            pieces: material.len(),
            read_bytes: captures.iter().copied().map(file_bytes).sum(),
            file_bytes: if values { file_bytes(id) } else { 0 },
            captures: captures.into_iter().map(|id| classes.get(id).representative).collect(),
            positions: material.positions(),
            rows,
            bytes: need.total() as u64,
            spilled_bytes: need.peak_spilled() as u64,
            memory_gib,
            conversion_bytes: need.conversions() as u64,
            temporary_bytes: need.temporary_bytes(usize::try_from(memory_gib * GIB).unwrap_or(usize::MAX)),
            capture_bytes: need.captures() as u64,
            seconds: rate.job_seconds + rows as f64 / rate.rows_per_second,
        }
    }

    /// The bytes that the job reads and writes: the tables that captures lead to, its own table, and twice the temporary
    /// files.
    #[must_use]
    pub(crate) fn io_bytes(&self) -> u64 {
        self.read_bytes + self.file_bytes + 2 * self.temporary_bytes
    }
}

const GIB: u64 = 1 << 30;

/// The whole GiB to request for a job, rounded up in steps of at most a sixteenth to keep the number of job sizes
/// small.
fn request_gib(need: &MemoryNeed, limit_gib: Option<u64>) -> u64 {
    let limit_gib = limit_gib.unwrap_or(u64::MAX);
    let limit = usize::try_from(limit_gib.saturating_mul(GIB)).unwrap_or(usize::MAX);
    let gib = (need.request(limit) as u64).div_ceil(GIB).max(1);
    let step = (gib.next_power_of_two() / 32).max(1);
    gib.max(gib.next_multiple_of(step).min(limit_gib))
}

impl Plan {
    /// Plans the classes of 2 to `pieces` pieces. With `stats_only`, classes of the most pieces keep only their counts.
    /// With `limit_gib`, jobs above the limit write conversions to temporary files and solve the values in parts.
    #[must_use]
    pub fn new(rules: &RuleOptions, pieces: usize, stats_only: bool, rate: Rate, limit_gib: Option<u64>) -> Plan {
        let classes = Classes::new(rules, pieces);
        let planned = classes.iter().map(|(id, class)| {
            let values = !(stats_only && class.representative.len() == pieces);
            PlannedClass::new(&classes, id, values, rate, limit_gib)
        });
        Plan { classes: planned.collect() }
    }

    /// The classes of one number of pieces.
    pub fn level(&self, pieces: usize) -> impl Iterator<Item = &PlannedClass> {
        self.classes.iter().filter(move |class| class.pieces == pieces)
    }

    /// The largest number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.classes.last().map_or(0, |class| class.pieces)
    }

    /// The seconds of all classes together, on one core.
    #[must_use]
    pub fn core_seconds(&self) -> f64 {
        self.classes.iter().map(|class| class.seconds).sum()
    }

    /// The seconds to solve all classes on these machines. The simulated scheduler starts a class as soon as a job has
    /// ended and the classes that its captures lead to are solved, the longest class first.
    #[must_use]
    pub fn simulate(&self, machines: &Machines) -> f64 {
        let number: HashMap<Material, usize> = self.classes.iter().enumerate().map(|(i, c)| (c.class, i)).collect();
        let time = |class: &PlannedClass| {
            let waiting =
                machines.bytes_per_second.map_or(0.0, |rate| class.io_bytes() as f64 * machines.jobs as f64 / rate);
            class.seconds / machines.cores_per_job.max(1) as f64 + waiting
        };
        let times: Vec<f64> = self.classes.iter().map(time).collect();
        let mut missing: Vec<usize> = self.classes.iter().map(|class| class.captures.len()).collect();
        let mut needed_by = vec![Vec::new(); self.classes.len()];
        for (i, class) in self.classes.iter().enumerate() {
            class.captures.iter().for_each(|capture| needed_by[number[capture]].push(i));
        }
        let mut ready: BinaryHeap<(Seconds, Reverse<usize>)> = BinaryHeap::new();
        let length = |i: usize| (Seconds(times[i]), Reverse(i));
        ready.extend((0..missing.len()).filter(|&i| missing[i] == 0).map(length));
        let mut running: BinaryHeap<Reverse<(Seconds, usize)>> = BinaryHeap::new();
        let mut now = 0.0;
        loop {
            while running.len() < machines.jobs.max(1)
                && let Some((Seconds(seconds), Reverse(i))) = ready.pop()
            {
                running.push(Reverse((Seconds(now + seconds), i)));
            }
            let Some(Reverse((Seconds(end), done))) = running.pop() else { return now };
            now = end;
            for &i in &needed_by[done] {
                missing[i] -= 1;
                if missing[i] == 0 {
                    ready.push(length(i));
                }
            }
        }
    }
}

/// The classes that one task solves, one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The classes, the longest first.
    pub classes: Vec<Material>,
    /// The GiB to request: the largest request of its classes.
    pub memory_gib: u64,
    /// The predicted seconds of all its classes.
    pub seconds: f64,
}

/// Distributes the classes of one level over at most `count` bundles of about equal time: the longest class first, each
/// to the bundle with the least time so far. The longest bundle comes first.
#[must_use]
pub fn bundles<'a>(classes: impl Iterator<Item = &'a PlannedClass>, count: usize) -> Vec<Bundle> {
    let mut classes: Vec<&PlannedClass> = classes.collect();
    classes.sort_by_key(|class| (Reverse(Seconds(class.seconds)), class.class.to_string()));
    let mut bundles =
        vec![Bundle { classes: Vec::new(), memory_gib: 0, seconds: 0.0 }; count.clamp(1, classes.len().max(1))];
    for class in classes {
        let least = bundles.iter_mut().min_by_key(|bundle| Seconds(bundle.seconds)).expect("there is at least one");
        least.classes.push(class.class);
        least.memory_gib = least.memory_gib.max(class.memory_gib);
        least.seconds += class.seconds;
    }
    bundles.retain(|bundle| !bundle.classes.is_empty());
    bundles.sort_by_key(|bundle| Reverse(Seconds(bundle.seconds)));
    bundles
}

/// Seconds with a total order.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Seconds(f64);

impl Eq for Seconds {}

impl Ord for Seconds {
    fn cmp(&self, other: &Seconds) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Seconds {
    fn partial_cmp(&self, other: &Seconds) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn plan(pieces: usize) -> Plan {
        Plan::new(&RuleOptions::PAPER, pieces, false, RATE, None)
    }

    const RATE: Rate = Rate { rows_per_second: 1000.0, job_seconds: 0.1 };

    /// With a limit of 10 GiB for each job, the plan counts all classes of six pieces within the limit.
    #[test]
    fn a_limit_of_memory_is_kept() {
        let free = Plan::new(&RuleOptions::PAPER, 6, true, RATE, None);
        let limited = Plan::new(&RuleOptions::PAPER, 6, true, RATE, Some(10));
        let mut spilled = 0;
        for (free, limited) in free.level(6).zip(limited.level(6)) {
            // The request is at most a sixteenth, or one GiB, above the need.
            assert!(free.memory_gib * GIB >= free.bytes, "{}", free.class);
            assert!(free.memory_gib * GIB <= free.bytes + (free.bytes / 16).max(GIB), "{}", free.class);
            assert!(limited.memory_gib <= 10 && limited.memory_gib * GIB >= limited.spilled_bytes, "{}", free.class);
            assert_eq!((free.bytes, free.spilled_bytes), (limited.bytes, limited.spilled_bytes));
            spilled += usize::from(limited.memory_gib < free.memory_gib);
        }
        assert!(spilled > 300, "{spilled}");
        let sizes: HashSet<u64> = free.level(6).map(|class| class.memory_gib).collect();
        assert!(sizes.contains(&20) || sizes.iter().any(|gib| !gib.is_power_of_two()), "{sizes:?}");
        // A class that needs more than the limit requests more.
        let short = Plan::new(&RuleOptions::PAPER, 6, true, RATE, Some(2));
        assert!(short.level(6).all(|class| class.memory_gib * GIB >= class.spilled_bytes));
    }

    #[test]
    fn captures_come_before_what_needs_them() {
        let plan = plan(5);
        assert_eq!((plan.level(2).count(), plan.level(3).count(), plan.level(4).count()), (10, 42, 134));
        let mut before = HashSet::new();
        for class in &plan.classes {
            assert!(class.captures.iter().all(|capture| before.contains(capture)), "{}", class.class);
            assert!(class.bytes > 0 && class.seconds > 0.1);
            before.insert(class.class);
        }
    }

    /// One core takes the sum of the times; more take at least the longest chain and the sum divided by the cores.
    #[test]
    fn the_simulation_stays_within_its_bounds() {
        let plan = plan(4);
        let sum = plan.core_seconds();
        assert!((plan.simulate(&Machines::of_cores(1)) - sum).abs() < 1e-6 * sum);
        let mut chain: HashMap<Material, f64> = HashMap::new();
        for class in &plan.classes {
            let before = class.captures.iter().map(|capture| chain[capture]).fold(0.0, f64::max);
            chain.insert(class.class, before + class.seconds);
        }
        let longest = chain.values().copied().fold(0.0, f64::max);
        assert!((plan.simulate(&Machines::of_cores(10_000)) - longest).abs() < 1e-9);
        let mut last = sum;
        for cores in [2, 3, 8, 30, 100] {
            let seconds = plan.simulate(&Machines::of_cores(cores));
            assert!(seconds <= last + 1e-9 && seconds >= longest.max(sum / cores as f64) - 1e-9, "{cores}: {seconds}");
            last = seconds;
        }
    }

    /// A file system that all jobs share takes at least the time of all bytes; more cores for each job shorten only the
    /// rest.
    #[test]
    fn files_take_their_time() {
        let plan = Plan::new(&RuleOptions::PAPER, 4, false, RATE, Some(1));
        let bytes: u64 = plan.classes.iter().map(PlannedClass::io_bytes).sum();
        let written: u64 = plan.classes.iter().map(|class| class.file_bytes).sum();
        assert!(written > 0 && bytes > written, "tables are written, and read by the classes above them");
        let rate = bytes as f64 / 1000.0;
        for jobs in [1, 8, 64] {
            let machines = Machines { jobs, cores_per_job: 1, bytes_per_second: Some(rate) };
            let (with, without) = (plan.simulate(&machines), plan.simulate(&Machines::of_cores(jobs)));
            assert!(with >= 1000.0 && with > without, "{jobs} jobs: {with} s, {without} s without files");
            let faster = plan.simulate(&Machines { cores_per_job: 4, ..machines });
            assert!(faster < with && faster >= 1000.0, "{jobs} jobs: {faster} s");
        }
        let one = plan.simulate(&Machines { jobs: 1, cores_per_job: 1, bytes_per_second: Some(rate) });
        assert!((one - plan.core_seconds() - 1000.0).abs() < 1e-6 * one);
    }

    #[test]
    fn bundles_hold_every_class_once_and_are_about_equal() {
        let plan = plan(4);
        for count in [1, 7, 40, 1000] {
            let bundles = bundles(plan.level(4), count);
            assert!(bundles.len() <= count);
            let all: Vec<Material> = bundles.iter().flat_map(|bundle| bundle.classes.clone()).collect();
            assert_eq!(all.len(), 134);
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), 134);
            let longest = plan.level(4).map(|class| class.seconds).fold(0.0, f64::max);
            let (first, last) = (&bundles[0], &bundles[bundles.len() - 1]);
            assert!(first.seconds - last.seconds <= longest + 1e-9, "{count}");
        }
    }
}
