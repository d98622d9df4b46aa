//! The answers of the explorer as a WebAssembly module: requests of the HTTP API, answered with the same JSON.
//!
//! The host writes bytes to `input`, calls `start` once and `answer` for each request, and reads `output`. While
//! `answer` runs, an analysis sends its events by the imported function `event`. Everything runs on the thread of the
//! host, which ends an analysis by ending the module. Plain functions on bytes need no generated JavaScript.
//!
//! Instead of answering requests, a module can measure the device or solve a class: the host calls `measure` or `count`, then
//! `resume` after each operation of its GPU (see `doushouqi::gpu`), until they return 1, and reads `output`. The values of a
//! class that one module has solved are copied to the module that answers: `values` of the one to `values` of the other,
//! which has called `receive` before, and calls `keep` after that.
#![cfg(target_family = "wasm")]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)]

mod count;
mod faults;
mod here;
mod measure;
mod respond;
mod threads;

use answers::counted_class::{CountedClass, CountedHead};
use count::Device;
use doushouqi::board::Color;
use doushouqi::search::network::Network;
use doushouqi::tablebase::Cells;
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
    /// The measurement or the count that waits for the GPU.
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// The class that was solved, or whose values are received.
static COUNTED: Mutex<Option<CountedClass>> = Mutex::new(None);

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Takes the file of a network of the engine in the input. Returns 0, or 1 if it is damaged.
#[unsafe(no_mangle)]
pub extern "C" fn network() -> u32 {
    let file = std::mem::take(&mut *lock(&INPUT));
    u32::from(!Network::from_bytes(&file).is_ok_and(Network::provide))
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

/// Solves the class of the position in the input, a query of the HTTP API. `device` is 0 to choose, 1 for the CPU, 2 for the
/// GPU. Returns 1 if the task is finished, 0 if it waits for the GPU. The output is what `receive` needs; empty if the task
/// has failed, which an event has reported.
#[unsafe(no_mangle)]
pub extern "C" fn count(device: u32) -> u32 {
    report_panics();
    let query = String::from_utf8_lossy(&std::mem::take(&mut *lock(&INPUT))).into_owned();
    let device = [Device::Auto, Device::Cpu, Device::Gpu].get(device as usize).copied().unwrap_or(Device::Auto);
    TASK.set(Some(Box::pin(async move {
        let counted = count::count(&query, device).await;
        let head = counted.as_ref().map(|counted| serde_json::to_vec(&counted.head()).unwrap_or_default());
        *lock(&COUNTED) = counted;
        head.unwrap_or_default()
    })));
    resume()
}

/// Makes room for the values of a class, whose `count` had the input as output. Of the classes that are kept only the same one
/// under another no-capture limit stays. Returns 0, or 1 if there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C" fn receive() -> u32 {
    let head: Option<CountedHead> = serde_json::from_slice(&std::mem::take(&mut *lock(&INPUT))).ok();
    head.iter().for_each(Here::make_room);
    *lock(&COUNTED) = head.and_then(CountedClass::reserved);
    u32::from(lock(&COUNTED).is_none())
}

/// The values of a class with White (0) or Black (1) to move.
#[unsafe(no_mangle)]
pub extern "C" fn values(turn: usize) -> *mut u8 {
    match lock(&COUNTED).as_mut().map(|counted| counted.table.values_mut(Color::ALL[turn % 2])) {
        Some(Cells::Byte(values)) => values.as_mut_ptr(),
        Some(Cells::Wide(values)) => values.as_mut_ptr().cast(),
        None => std::ptr::null_mut(),
    }
}

/// The bytes of `values`.
#[unsafe(no_mangle)]
pub extern "C" fn values_len(turn: usize) -> usize {
    match lock(&COUNTED).as_ref().map(|counted| counted.table.values(Color::ALL[turn % 2])) {
        Some(Cells::Byte(values)) => values.len(),
        Some(Cells::Wide(values)) => 2 * values.len(),
        None => 0,
    }
}

/// Keeps the class for answers.
#[unsafe(no_mangle)]
pub extern "C" fn keep() {
    lock(&COUNTED).take().into_iter().for_each(Here::keep);
}

/// Measures the device by solving all endgames of up to this many pieces. Returns 1 if the measurement is finished, 0 if it
/// waits for the GPU.
#[unsafe(no_mangle)]
pub extern "C" fn measure(pieces: usize) -> u32 {
    report_panics();
    TASK.set(Some(Box::pin(measure::measure(pieces))));
    resume()
}

/// Goes on with the measurement or the count after an operation of the GPU.
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
