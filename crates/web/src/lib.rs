//! The answers of the explorer as a WebAssembly module: requests of the HTTP API, answered with the same JSON.
//!
//! The host writes bytes to `input`, calls `start` once and `answer` for each request, and reads `output`. While
//! `answer` runs, an analysis sends its events by the imported function `event`. Everything runs on the thread of the
//! host, which ends an analysis by ending the module. Plain functions on bytes need no generated JavaScript.
//!
//! Instead of answering requests, a module can measure the device: the host calls `measure`, then `resume` after each
//! operation of its GPU (see `doushouqi::gpu`), until they return 1, and reads `output`.
#![cfg(target_family = "wasm")]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)]

mod faults;
mod here;
mod measure;
mod respond;

use here::Here;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Receives an event of an analysis: its name and its data, as UTF-8.
    safe fn event(name: *const u8, name_len: usize, data: *const u8, data_len: usize);
    /// Receives the message of a panic, after which the module must not be called.
    safe fn panicked(message: *const u8, len: usize);
}

type Task = Pin<Box<dyn Future<Output = Vec<u8>>>>;

thread_local! {
    /// The measurement that waits for the GPU.
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place for `len` bytes of input, until the next call of a function.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    let mut input = lock(&INPUT);
    input.clear();
    input.resize(len, 0);
    input.as_mut_ptr()
}

/// The bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    lock(&OUTPUT).as_ptr()
}

/// The number of bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    lock(&OUTPUT).len()
}

/// Solves the tables of up to three pieces. The input is the puzzles, one a line. Returns 0, or 1 if the puzzles cannot be
/// read or there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn start() -> u32 {
    report_panics();
    faults::report();
    let puzzles = std::mem::take(&mut *lock(&INPUT));
    u32::from(Here::start(&String::from_utf8_lossy(&puzzles)).is_none())
}

/// Answers a request and returns the HTTP status. The input is a line with the method and the address, the value in the
/// path decoded, then the body. `random` is a random number from 0 to 1.
#[unsafe(no_mangle)]
pub extern "C" fn answer(random: f64) -> u32 {
    let request = std::mem::take(&mut *lock(&INPUT));
    let here = Here { random: (random * (1u64 << 53) as f64) as u64 };
    let (status, answer) = respond::respond(here, &request);
    *lock(&OUTPUT) = answer;
    status.into()
}

/// Measures the device by solving all endgames of up to this many pieces. Returns 1 if the measurement is finished, 0 if it
/// waits for the GPU.
#[unsafe(no_mangle)]
pub extern "C" fn measure(pieces: usize) -> u32 {
    report_panics();
    TASK.set(Some(Box::pin(measure::measure(pieces))));
    resume()
}

/// Goes on with the measurement after an operation of the GPU.
#[unsafe(no_mangle)]
pub extern "C" fn resume() -> u32 {
    let Some(mut task) = TASK.take() else { return 1 };
    match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(report) => {
            *lock(&OUTPUT) = report;
            1
        }
        Poll::Pending => {
            TASK.set(Some(task));
            0
        }
    }
}

fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        panicked(message.as_ptr(), message.len());
    }));
}

/// Sends an event of an analysis or a measurement to the host.
fn send(answers::analysis::Event { name, data }: answers::analysis::Event) {
    event(name.as_ptr(), name.len(), data.as_ptr(), data.len());
}
