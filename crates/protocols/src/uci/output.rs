//! The output of a session, and texts in it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The output, shared with the search.
pub(super) struct Output<W> {
    writer: Arc<Mutex<(W, Option<io::Error>)>>,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Output<W> {
        Output { writer: Arc::clone(&self.writer) }
    }
}

impl<W: Write> Output<W> {
    pub(super) fn new(writer: W) -> Output<W> {
        Output { writer: Arc::new(Mutex::new((writer, None))) }
    }

    fn lock(&self) -> MutexGuard<'_, (W, Option<io::Error>)> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line, if the condition holds while no other line is written.
    pub(super) fn line_if(&self, condition: impl Fn() -> bool, text: &str) {
        let mut guard = self.lock();
        let (writer, error) = &mut *guard;
        if error.is_none() && condition() {
            *error = writeln!(writer, "{text}").and_then(|()| writer.flush()).err();
        }
    }

    pub(super) fn line(&self, text: &str) {
        self.line_if(|| true, text);
    }

    /// An `info string`.
    pub(super) fn note(&self, text: &str) {
        self.line(&format!("info string {text}"));
    }

    pub(super) fn failed(&self) -> bool {
        self.lock().1.is_some()
    }

    pub(super) fn result(&self) -> io::Result<()> {
        self.lock().1.take().map_or(Ok(()), Err)
    }
}

/// Quotes input in a message, on one line and shortened.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{dots}")
}
