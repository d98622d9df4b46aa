//! Counters and gauges in the text format of Prometheus.

use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the histogram of response times, in seconds.
const BOUNDS: [f64; 8] = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.1, 1.0, 10.0];

/// The responses of one path.
#[derive(Default)]
struct Path {
    /// Responses by the first digit of the status.
    responses: [AtomicU64; 6],
    /// Responses within each bound.
    within: [AtomicU64; BOUNDS.len()],
    microseconds: AtomicU64,
}

/// The server's counters and gauges.
pub struct Metrics {
    paths: BTreeMap<&'static str, Path>,
    /// Errors by code.
    errors: Mutex<BTreeMap<&'static str, u64>>,
    searches: AtomicU64,
    searching: AtomicI64,
    pub connections: AtomicI64,
}

/// Counts a search as running until dropped.
pub struct Running<'a>(&'a Metrics);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.searching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The label of all other paths.
const OTHER: &str = "other";

impl Metrics {
    /// Counts these paths separately and all others together.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = &'static str>) -> Metrics {
        Metrics {
            paths: paths.into_iter().chain([OTHER]).map(|path| (path, Path::default())).collect(),
            errors: Mutex::default(),
            searches: AtomicU64::new(0),
            searching: AtomicI64::new(0),
            connections: AtomicI64::new(0),
        }
    }

    /// Counts a response.
    pub fn response(&self, path: Option<&str>, status: StatusCode, time: Duration) {
        let path = path.and_then(|path| self.paths.get(path)).or_else(|| self.paths.get(OTHER));
        let Some(path) = path else { return };
        path.responses[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
        path.microseconds.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
        let seconds = time.as_secs_f64();
        for (bound, within) in BOUNDS.iter().zip(&path.within) {
            if seconds <= *bound {
                within.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts an error by its code.
    pub fn error(&self, code: &'static str) {
        *self.errors.lock().unwrap_or_else(|e| e.into_inner()).entry(code).or_default() += 1;
    }

    /// Counts a search.
    pub fn search(&self) -> Running<'_> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        self.searching.fetch_add(1, Ordering::Relaxed);
        Running(self)
    }

    /// The metrics as text. `more` lists further gauges: name, help, value.
    #[must_use]
    pub fn text(&self, more: &[(&str, &str, f64)]) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP dsq_{name} {help}\n# TYPE dsq_{name} {kind}");
        };
        head(&mut text, "requests_total", "counter", "Requests by path and status class.");
        for (path, counts) in &self.paths {
            for (class, count) in counts.responses.iter().enumerate().skip(1) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(text, "dsq_requests_total{{path=\"{path}\",status=\"{class}xx\"}} {count}");
                }
            }
        }
        head(&mut text, "request_seconds", "histogram", "Response time by path.");
        for (path, counts) in &self.paths {
            let total: u64 = counts.responses.iter().map(|count| count.load(Ordering::Relaxed)).sum();
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
        head(&mut text, "errors_total", "counter", "Errors by code.");
        for (code, count) in &*self.errors.lock().unwrap_or_else(|e| e.into_inner()) {
            let _ = writeln!(text, "dsq_errors_total{{code=\"{code}\"}} {count}");
        }
        head(&mut text, "searches_total", "counter", "Searches started.");
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
