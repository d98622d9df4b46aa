//! A relay between a browser and a host, which delays or holds every request, and so every answer.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A relay until this process ends.
pub struct Relay {
    /// The address that stands for the host's.
    pub address: SocketAddr,
    /// What requests pass.
    pub gate: Arc<Gate>,
    host: Arc<Mutex<SocketAddr>>,
}

/// Where requests wait.
#[derive(Default)]
pub struct Gate {
    /// Milliseconds before a request goes on.
    pub delay: AtomicU64,
    /// Up to so many milliseconds more, another number for each request.
    pub spread: AtomicU64,
    /// Which numbers these are.
    pub seed: AtomicU64,
    /// Whether no request goes on.
    pub is_closed: AtomicBool,
}

impl Gate {
    /// Sends a request. While answers are shuffled it asks for plain ones, whose parts can be read as they arrive.
    fn ask(&self, request: &[u8], to: &mut TcpStream) -> io::Result<()> {
        const ENCODING: &[u8] = b"Accept-Encoding";
        self.pass(request);
        let at = request.windows(ENCODING.len()).position(|word| word == ENCODING);
        let mut request = request.to_vec();
        if let Some(at) = at.filter(|_| self.spread.load(Ordering::Relaxed) > 0) {
            request[at] = b'X';
        }
        to.write_all(&request)
    }

    fn pass(&self, request: &[u8]) {
        let mut hasher = DefaultHasher::new();
        (self.seed.load(Ordering::Relaxed), request.split(|byte| *byte == b'\r').next()).hash(&mut hasher);
        let more = hasher.finish() % (self.spread.load(Ordering::Relaxed) + 1);
        std::thread::sleep(Duration::from_millis(self.delay.load(Ordering::Relaxed) + more));
        while self.is_closed.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends an answer: a page in parts while answers are shuffled, so that the browser may show it before all of it is there.
    fn answer(&self, bytes: &[u8], to: &mut TcpStream) -> io::Result<()> {
        const PARTS: usize = 8;
        let is_page = bytes.windows(9).any(|word| word == b"text/html");
        if !is_page || self.spread.load(Ordering::Relaxed) == 0 {
            return to.write_all(bytes);
        }
        bytes.chunks(bytes.len().div_ceil(PARTS)).try_for_each(|part| {
            std::thread::sleep(Duration::from_millis(40));
            to.write_all(part)
        })
    }
}

impl Relay {
    pub fn start(host: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, gate) = (listener.local_addr().unwrap(), Arc::<Gate>::default());
        let (gates, host) = (gate.clone(), Arc::new(Mutex::new(host)));
        let hosts = host.clone();
        std::thread::spawn(move || {
            for browser in listener.incoming() {
                let (browser, gate, host) = (browser.unwrap(), gates.clone(), *hosts.lock().unwrap());
                std::thread::spawn(move || connect(browser, host, gate));
            }
        });
        Relay { address, gate, host }
    }

    /// From now on connections go to another host.
    pub fn turn_to(&self, host: SocketAddr) {
        *self.host.lock().unwrap() = host;
    }
}

/// Relays a connection. If the host takes none, the browser's ends, too.
fn connect(browser: TcpStream, host: SocketAddr, gate: Arc<Gate>) -> Option<()> {
    let host = TcpStream::connect(host).ok()?;
    for stream in [&browser, &host] {
        stream.set_nodelay(true).ok()?;
    }
    let (answers, requests, answer_gate) = (host.try_clone().ok()?, browser.try_clone().ok()?, gate.clone());
    std::thread::spawn(move || pump(answers, browser, |bytes, to| answer_gate.answer(bytes, to)));
    pump(requests, host, |bytes, to| gate.ask(bytes, to));
    Some(())
}

/// Sends what one end says to the other, until either ends.
fn pump(mut from: TcpStream, mut to: TcpStream, send: impl Fn(&[u8], &mut TcpStream) -> io::Result<()>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if send(&bytes[..length], &mut to).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Read);
    let _ = to.shutdown(Shutdown::Write);
}
