//! The server as a process, and a small client for it.

use crate::dsq::{Bound, command};
use doushouqi::board::RuleOptions;
use explorer::{Config, Event, Stop, Timeouts};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The time limit of an answer. It only guards against hanging.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A server as a process, which ends with the test.
pub struct Server {
    /// `None` for a server in this process.
    child: Option<Bound>,
    /// Ends a server in this process.
    stop: Stop,
    address: SocketAddr,
}

impl Server {
    /// A server on a free port.
    pub fn start(arguments: &[&str]) -> Server {
        Server::listening("127.0.0.1:0", arguments)
    }

    pub fn listening(address: &str, arguments: &[&str]) -> Server {
        Server::spawn(&mut command(&[&["serve", "--listen", address], arguments].concat()))
    }

    /// The server that a command starts.
    pub fn spawn(command: &mut Command) -> Server {
        let mut child = Bound::start(command.stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(child.process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line:?}")).parse().unwrap();
        Server { child: Some(child), stop: Stop::default(), address }
    }

    /// A server in this process with other timeouts than the program's. It has two threads and tables of three pieces.
    pub fn with_timeouts(timeouts: Timeouts, behind_proxy: bool) -> Server {
        let config = Config {
            listen: vec![([127, 0, 0, 1], 0).into()],
            rules: RuleOptions::PAPER,
            tables: None,
            on_demand: None,
            pieces: 3,
            threads: 2,
            hash_mib: 64,
            puzzles: None,
            assets: None,
            hosts: Vec::new(),
            allow_origins: Vec::new(),
            rate: 10_000.0,
            behind_proxy,
            timeouts,
        };
        let ((listening, address), stop) = (mpsc::channel(), Stop::default());
        let stopped = stop.clone();
        std::thread::spawn(move || {
            let tell = |event| {
                if let Event::Listening(address) = event {
                    listening.send(address).expect("somebody waits");
                }
            };
            explorer::serve(config, &stopped, &tell).expect("a server");
        });
        Server { child: None, stop, address: address.recv().expect("it listens") }
    }

    fn child(&self) -> &Bound {
        self.child.as_ref().expect("a server of its own")
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn pid(&self) -> u32 {
        self.child().process.id()
    }

    pub fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream: BufReader::new(stream), open: true }
    }

    /// Sends SIGTERM and returns the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("-TERM");
        self.wait()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        self.child().signal(signal);
    }

    /// Waits for the end of the server and returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            let child = self.child.as_mut().expect("a server of its own");
            if let Some(status) = child.process.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else { return self.stop.stop() };
        let ended = child.process.try_wait().unwrap();
        // A panic of the server aborts it. Its last words are on stderr.
        let is_well = ended.is_none_or(|status| status.code().is_some());
        assert!(is_well || std::thread::panicking(), "the server crashed: {ended:?}");
    }
}

/// A connection that is kept open for the next request.
pub struct Connection {
    stream: BufReader<TcpStream>,
    open: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Connection {
    pub fn get(&mut self, target: &str) -> Answer {
        self.get_with(target, "")
    }

    pub fn get_with(&mut self, target: &str, headers: &str) -> Answer {
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        self.raw(request.as_bytes()).unwrap_or_else(|| panic!("no answer to {target}"))
    }

    pub fn post(&mut self, target: &str, body: &str) -> Answer {
        let head = "Host: localhost\r\nContent-Type: application/json";
        let request = format!("POST {target} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.raw(request.as_bytes()).unwrap_or_else(|| panic!("no answer to {target}"))
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Waits for the beginning of an answer.
    pub fn begun(&mut self) {
        assert!(!self.stream.fill_buf().expect("an answer").is_empty(), "the connection has ended");
    }

    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The next line of the answer.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line
    }

    /// Sends bytes and reads an answer; `None` if the server ends the connection instead.
    pub fn raw(&mut self, bytes: &[u8]) -> Option<Answer> {
        // The server may have closed the connection already; then there is no answer to read.
        let _ = self.stream.get_mut().write_all(bytes);
        let mut line = String::new();
        if self.stream.read_line(&mut line).ok()? == 0 {
            self.open = false;
            return None;
        }
        let status = line.split(' ').nth(1)?.parse().unwrap_or_else(|_| panic!("no status: {line:?}"));
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        self.open = answer.header("connection") != Some("close");
        let bodiless = bytes.starts_with(b"HEAD") || status == 304 || status == 204;
        if !bodiless {
            answer.body = self.body(&answer)?;
        }
        Some(answer)
    }

    fn body(&mut self, answer: &Answer) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line).ok()?;
                let length = usize::from_str_radix(line.trim(), 16).expect("a length");
                let mut chunk = vec![0; length + 2];
                self.stream.read_exact(&mut chunk).ok()?;
                body.extend(&chunk[..length]);
                if length == 0 {
                    return Some(body);
                }
            }
        }
        let length: usize = answer.header("content-length").map_or(0, |text| text.parse().unwrap());
        body.resize(length, 0);
        self.stream.read_exact(&mut body).ok()?;
        Some(body)
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn json_or_null(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The server-sent events.
    pub fn events(&self) -> Vec<(String, Value)> {
        let text = self.text();
        let field = |event: &str, name: &str| {
            event.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
        };
        text.split("\n\n")
            .filter_map(|event| Some((field(event, "event:")?, serde_json::from_str(&field(event, "data:")?).unwrap())))
            .collect()
    }
}
