//! What the server has done so far, for Prometheus.

use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets of the time that answers took, in seconds.
const BOUNDS: [f64; 8] = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.1, 1.0, 10.0];

/// The answers of one path.
#[derive(Default)]
struct Path {
    /// By the first digit of the status.
    answers: [AtomicU64; 6],
    within: [AtomicU64; BOUNDS.len()],
    microseconds: AtomicU64,
}

/// Counters and gauges.
pub struct Metrics {
    paths: BTreeMap<&'static str, Path>,
    /// Refused, by code.
    refused: Mutex<BTreeMap<&'static str, u64>>,
    searches: AtomicU64,
    searching: AtomicI64,
    pub connections: AtomicI64,
}

/// Counts a search as running until it is dropped.
pub struct Running<'a>(&'a Metrics);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.searching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is not among the paths.
const OTHER: &str = "other";

impl Metrics {
    /// Counts these paths apart.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = &'static str>) -> Metrics {
        Metrics {
            paths: paths.into_iter().chain([OTHER]).map(|path| (path, Path::default())).collect(),
            refused: Mutex::default(),
            searches: AtomicU64::new(0),
            searching: AtomicI64::new(0),
            connections: AtomicI64::new(0),
        }
    }

    /// Counts an answer.
    pub fn answered(&self, path: Option<&str>, status: StatusCode, time: Duration) {
        let path = path.and_then(|path| self.paths.get(path)).or_else(|| self.paths.get(OTHER));
        let Some(path) = path else { return };
        path.answers[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
        path.microseconds.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
        let seconds = time.as_secs_f64();
        for (bound, within) in BOUNDS.iter().zip(&path.within) {
            if seconds <= *bound {
                within.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts an error by its code.
    pub fn refused(&self, code: &'static str) {
        *self.refused.lock().unwrap_or_else(|e| e.into_inner()).entry(code).or_default() += 1;
    }

    /// Counts a search.
    pub fn search(&self) -> Running<'_> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        self.searching.fetch_add(1, Ordering::Relaxed);
        Running(self)
    }

    /// The text that Prometheus reads. `more` are further gauges: name, meaning, value.
    #[must_use]
    pub fn text(&self, more: &[(&str, &str, f64)]) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP dsq_{name} {help}\n# TYPE dsq_{name} {kind}");
        };
        head(&mut text, "requests_total", "counter", "Requests answered, by path and class of status.");
        for (path, counts) in &self.paths {
            for (class, count) in counts.answers.iter().enumerate().skip(1) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(text, "dsq_requests_total{{path=\"{path}\",status=\"{class}xx\"}} {count}");
                }
            }
        }
        head(&mut text, "request_seconds", "histogram", "Time from request to answer, by path.");
        for (path, counts) in &self.paths {
            let total: u64 = counts.answers.iter().map(|count| count.load(Ordering::Relaxed)).sum();
            if total == 0 {
                continue;
            }
            for (bound, within) in BOUNDS.iter().zip(&counts.within) {
                let within = within.load(Ordering::Relaxed);
                let _ = writeln!(text, "dsq_request_seconds_bucket{{path=\"{path}\",le=\"{bound}\"}} {within}");
            }
            let sum = counts.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
            let _ = writeln!(text, "dsq_request_seconds_bucket{{path=\"{path}\",le=\"+Inf\"}} {total}");
            let _ = writeln!(text, "dsq_request_seconds_sum{{path=\"{path}\"}} {sum}");
            let _ = writeln!(text, "dsq_request_seconds_count{{path=\"{path}\"}} {total}");
        }
        head(&mut text, "errors_total", "counter", "Requests refused, by code.");
        for (code, count) in &*self.refused.lock().unwrap_or_else(|e| e.into_inner()) {
            let _ = writeln!(text, "dsq_errors_total{{code=\"{code}\"}} {count}");
        }
        head(&mut text, "searches_total", "counter", "Searches begun.");
        let _ = writeln!(text, "dsq_searches_total {}", self.searches.load(Ordering::Relaxed));
        let gauges = [
            ("searches", "Searches running.", self.searching.load(Ordering::Relaxed) as f64),
            ("connections", "Open connections.", self.connections.load(Ordering::Relaxed) as f64),
        ];
        for (name, help, value) in gauges.iter().chain(more) {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "dsq_{name} {value}");
        }
        text
    }
}
