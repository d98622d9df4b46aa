//! A relay between a browser and a host, which delays every request, and so every answer.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A relay until this process ends.
pub struct Relay {
    /// The address that stands for the host's.
    pub address: SocketAddr,
    /// Milliseconds before a request goes on to the host.
    pub delay: Arc<AtomicU64>,
    host: Arc<Mutex<SocketAddr>>,
}

impl Relay {
    pub fn start(host: SocketAddr) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, delay) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
        let (delays, host) = (delay.clone(), Arc::new(Mutex::new(host)));
        let hosts = host.clone();
        std::thread::spawn(move || {
            for browser in listener.incoming() {
                let (browser, delay, host) = (browser.unwrap(), delays.clone(), *hosts.lock().unwrap());
                std::thread::spawn(move || connect(browser, host, delay));
            }
        });
        Relay { address, delay, host }
    }

    /// From now on connections go to another host.
    pub fn turn_to(&self, host: SocketAddr) {
        *self.host.lock().unwrap() = host;
    }
}

/// Relays a connection. If the host takes none, the browser's ends, too.
fn connect(browser: TcpStream, host: SocketAddr, delay: Arc<AtomicU64>) -> Option<()> {
    let host = TcpStream::connect(host).ok()?;
    for stream in [&browser, &host] {
        stream.set_nodelay(true).ok()?;
    }
    let (answers, requests) = (host.try_clone().ok()?, browser.try_clone().ok()?);
    std::thread::spawn(move || pump(answers, browser, &AtomicU64::new(0)));
    pump(requests, host, &delay);
    Some(())
}

/// Copies what one end sends to the other, until either ends.
fn pump(mut from: TcpStream, mut to: TcpStream, delay: &AtomicU64) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        std::thread::sleep(Duration::from_millis(delay.load(Ordering::Relaxed)));
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Read);
    let _ = to.shutdown(Shutdown::Write);
}
