use crate::on_demand::{OnDemandArgs, four_pieces};
use clap::Args;
use cli::arguments::{Memory, RulesArg, ThreadsArg, hash_size};
use cli::failure::{Failure, Outcome};
use cli::output::print;
use cli::progress::{progress_bar, stop_on_interrupt};
use explorer::{Config, Event, ServeError, Stop, Timeouts, serve};
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;

/// Serve a web page and an HTTP API for tables and engine.
///
/// The server solves the tables of three pieces when it starts and the tables of four in the background. It listens on
/// this machine only, unless --listen names another address. docs/http-api.md describes the API.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  dsq serve --open\n  dsq serve --open --on-demand\n  dsq serve --tables tables --listen 127.0.0.1:9000\n  \
                        curl 'http://127.0.0.1:8763/api/v1/probe?fen=7/7/3e3/7/7/7/3E3/7/7_w'"
)]
pub struct Serve {
    /// A port, or an address or host name and a port, to listen on; port 0 selects a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8763", value_parser = listen)]
    listen: Listen,
    /// Tables for positions of more than four pieces: a directory of `dsq generate`, one of `dsq repack --wdl`, one of
    /// `dsq generate --metric dtz`, or several of them, separated by `:` (on Windows `;`).
    #[arg(long, value_name = "PATH")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    on_demand: OnDemandArgs,
    /// Maximum number of pieces of the tables in memory: four pieces take about 1.1 GB, and with --tables 0.3 GB more
    /// for the engine.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(3..=4))]
    pieces: u8,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Size of the hash tables of all searches together; by default 64MiB with --pieces 3, else 256MiB.
    #[arg(long, value_name = "SIZE", value_parser = hash_size::<16>)]
    hash: Option<Memory>,
    #[command(flatten)]
    rules: RulesArg,
    /// A host name of this server, besides IP addresses and localhost; repeatable.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Another origin whose pages may send requests and show the board in a frame, such as `https://example.org`; repeatable.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// Maximum requests per second and address; requests from this machine have no limit.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u16).range(1..))]
    max_rate: u16,
    /// Maximum seconds that a request waits for a free thread; then the answer is that the server is busy (503).
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u16).range(1..))]
    max_wait: u16,
    /// The server is behind a proxy, which names the client in X-Forwarded-For, X-Real-IP or Forwarded.
    #[arg(long)]
    behind_proxy: bool,
    /// Puzzles of `dsq puzzles`, one per line, instead of the embedded ones.
    #[arg(long, value_name = "FILE")]
    puzzles: Option<PathBuf>,
    /// The least severe messages of the log, which goes to stderr: `info` logs refused requests, `debug` every request.
    #[arg(long, value_name = "LEVEL", default_value = "warn", value_parser = ["off", "error", "warn", "info", "debug"])]
    log: String,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Read the page's files from this directory, for development.
    #[arg(long, value_name = "DIR", hide = true)]
    assets: Option<PathBuf>,
}

/// The addresses of a host name and a port.
#[derive(Clone)]
struct Listen(Vec<SocketAddr>);

fn listen(text: &str) -> Result<Listen, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(Listen(vec![(Ipv4Addr::LOCALHOST, port).into()]));
    }
    if text.rsplit_once(':').is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err()) {
        return Err(
            "write a port, or an address or host name and a port, as 127.0.0.1:8763 or localhost:8763".to_owned()
        );
    }
    let addresses = text.to_socket_addrs().map_err(|error| format!("the host name has no address: {error}"))?;
    Ok(Listen(addresses.collect()))
}

/// An origin as browsers send it: a scheme, a host, and a port unless it is the scheme's default.
fn origin(text: &str) -> Result<String, String> {
    if text == "*" {
        return Err(
            "name each origin, as https://example.org: a server for all pages would let any page use this machine"
                .to_owned(),
        );
    }
    let host = text.split_once("://").map(|(_, host)| host);
    if host.is_none_or(|host| host.is_empty() || host.contains(['/', '*', '?', '#', '@', ' ', ';', ','])) {
        return Err("an origin is a scheme and a host without a path, as https://example.org".to_owned());
    }
    Ok(text.to_ascii_lowercase())
}

impl Serve {
    /// Refuses four pieces under a memory limit under which the system would kill the server.
    fn check_memory(&self) -> Outcome {
        match doushouqi::tablebase::memory_limit() {
            Some(limit) if self.pieces > 3 && limit < FOUR_PIECES => Err(Failure::Environment(format!(
                "the tables of four pieces take about 1.1 GB of memory, and the limit of this control group is {} MiB: \
                 start with --pieces 3",
                limit >> 20
            ))),
            _ => Ok(()),
        }
    }

    pub fn run(self) -> Outcome {
        start_log(&self.log);
        self.check_memory()?;
        limit_arenas(self.threads.count());
        let on_demand = self.on_demand.cache()?;
        let tables = match (self.tables, &on_demand) {
            (None, Some(cache)) => Some(four_pieces(cache, &self.rules.rules, &self.threads)?),
            (tables, _) => tables,
        };
        let stop = Stop::default();
        let on_interrupt = stop.clone();
        stop_on_interrupt(Box::new(move || on_interrupt.stop()));
        let config = Config {
            listen: self.listen.0,
            rules: self.rules.rules,
            tables,
            on_demand,
            pieces: self.pieces.into(),
            threads: self.threads.count(),
            hash_mib: self.hash.map_or(if self.pieces == 3 { 64 } else { 256 }, |size| size.mib() as usize),
            puzzles: self.puzzles,
            assets: self.assets,
            hosts: self.host,
            allow_origins: self.allow_origin,
            rate: self.max_rate.into(),
            behind_proxy: self.behind_proxy,
            timeouts: Timeouts { permit: Duration::from_secs(self.max_wait.into()), ..Timeouts::default() },
        };
        let bar = progress_bar(100, "%");
        let failed = Mutex::new(Ok(()));
        let tell = |event| match event {
            Event::Listening(address) => {
                let url = format!("http://{address}/");
                *failed.lock().unwrap_or_else(|e| e.into_inner()) = print(&url);
                if self.open {
                    open_browser(&url);
                }
                bar.set_message("four pieces");
            }
            Event::Solving(share, _) => bar.set_position((share * 100.0) as u64),
            Event::Ready => bar.finish_and_clear(),
        };
        serve(config, &stop, &tell).map_err(failure_of_server)?;
        failed.into_inner().unwrap_or_else(|e| e.into_inner())
    }
}

/// Bytes of memory for the tables of four pieces.
const FOUR_PIECES: u64 = 1_100_000_000;

/// Logs messages of this level and more severe ones to stderr.
fn start_log(level: &str) {
    let level = level.parse().unwrap_or(LevelFilter::WARN);
    let colors = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let log = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(colors);
    let log = log.with_writer(std::io::stderr);
    // An existing logger, as in tests, stays.
    let _ = log.try_init();
}

/// Limits glibc's allocator to one arena per computing thread. The default is eight per core, and each arena keeps
/// memory that solving has freed: 50 MB more after nine rule sets. Tables have pages of their own: between others, the
/// memory that a table gives back would stay unused, 350 MB with four pieces.
fn limit_arenas(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt may be called at any time; a value that it refuses changes nothing.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::try_from(threads.max(2)).unwrap_or(i32::MAX));
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
}

fn failure_of_server(error: ServeError) -> Failure {
    match error {
        ServeError::Tables(error) => error.into(),
        ServeError::OnDemand(error) => error.into(),
        error @ (ServeError::Puzzles { .. } | ServeError::TablesTooSmall) => Failure::Input(error.to_string()),
        error => Failure::Environment(error.to_string()),
    }
}

/// Opens a page in the browser. If that fails, the user still has the printed address.
fn open_browser(url: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    if let Err(error) = std::process::Command::new(program).arg(url).spawn() {
        eprintln!("dsq: cannot start {program}: {error}");
    }
}
