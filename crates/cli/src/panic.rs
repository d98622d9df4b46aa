//! The end of the program on a panic.

use crate::name::name;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{PanicHookInfo, set_hook};
use std::process::abort;

/// Makes a panic of any thread print one line to stderr and abort the program, since the panic may leave state that other
/// threads use half done. With `RUST_BACKTRACE=1` a backtrace follows the line.
pub(crate) fn abort_on_panic() {
    set_hook(Box::new(|panic| {
        // An error of stderr must not become a second panic.
        let _ = report(panic, &mut io::stderr().lock());
        abort();
    }));
}

fn report(panic: &PanicHookInfo<'_>, out: &mut impl Write) -> io::Result<()> {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    writeln!(out, "{}: internal error at {place}: {}; please report it", name(), message.replace('\n', " "))?;
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        writeln!(out, "{backtrace}")?;
    }
    out.flush()
}
