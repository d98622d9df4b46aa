//! A browser driven by WebDriver: headless Chromium through chromedriver, over plain HTTP. Chromium's headless shell, a build
//! without windows that needs 0.4 of the processor time, is used where it is installed.
//!
//! A test reads the page in one of three ways. [`expect`](Browser::expect) and [`wait`](Browser::wait) try again until
//! what must become true is true. [`stays`](Browser::stays), [`get`](Browser::get) and [`text`](Browser::text) read once,
//! when nothing is pending: the reaction to all that was done before is over. [`now`](Browser::now) reads in the middle of
//! a reaction, which is right only while the test itself holds the reaction up.

use super::relay::Relay;
use crate::dsq::Bound;
use crate::skip::skip;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
];

/// The maximum time of the page for any answer. It only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether nothing is pending in a page that has been loaded. A page without scripts never has anything pending.
const QUIET: &str = "(document.readyState === 'complete' && !(window.pending?.() ?? []).length)";

/// A number in a variable of the environment.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text:?}")))
}

/// The latency of every test, in milliseconds.
fn least_latency() -> u64 {
    variable("DSQ_PAGE_LATENCY").unwrap_or(0)
}

/// A browser of one test. The next test with the same options gets it with a new tab, and without stored data.
pub struct Browser {
    driver: &'static Driver,
    session: String,
    options: Options,
    /// Between the browser and the host.
    relay: Relay,
    /// The path of the host that contains the page.
    folder: String,
}

/// A tab of a browser.
pub struct Tab(Value);

/// The options of a browser.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Options {
    pub no_javascript: bool,
    /// Whether pages may use a GPU, which is one in software. The headless shell has none.
    pub webgpu: bool,
}

/// The sessions of browsers that no test uses.
static IDLE: Mutex<Vec<(Options, String)>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<(Options, String)>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether chromedriver is installed. Without it the test is skipped.
pub fn available() -> bool {
    let found = major_version("chromedriver").is_some();
    if !found {
        skip("there is no chromedriver (Debian: chromium, chromium-driver)");
    }
    found
}

/// The first number that a program prints as its version, such as 156; `None` if it does not run.
fn major_version(program: &str) -> Option<u32> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split(' ').find_map(|word| word.split_once('.')?.0.parse().ok())
}

/// The script that starts the headless shell, if the shell is installed in chromedriver's version.
fn headless_shell() -> Option<&'static str> {
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        let version = major_version("chromium-headless-shell");
        version.is_some() && version == major_version("chromedriver")
    });
    FOUND.then_some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/browser/headless-shell"))
}

/// The beginning of the names of this process's browser profiles.
fn profiles() -> String {
    format!("{}/browser-{}-", env!("CARGO_TARGET_TMPDIR"), std::process::id())
}

impl Browser {
    /// A browser for the page in a folder of a host.
    pub fn start(host: SocketAddr, folder: &str, options: Options) -> Browser {
        let (driver, relay) = (Driver::shared(), Relay::start(host));
        let mut browser = Browser { driver, session: String::new(), options, relay, folder: folder.to_owned() };
        let waiting = {
            let mut idle = idle();
            idle.iter().position(|(other, _)| *other == options).map(|i| idle.swap_remove(i).1)
        };
        browser.session = waiting.unwrap_or_else(|| browser.new_session());
        browser.relay.gate.delay.store(least_latency(), Ordering::Relaxed);
        browser.prepare();
        browser
    }

    /// Prepares a new tab.
    fn prepare(&self) {
        self.size(1280, 800);
        // A new tab of an old browser does not have the focus.
        self.chromium("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        if self.options.no_javascript {
            self.chromium("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
        }
        if let Some(rate) = variable("DSQ_PAGE_THROTTLE") {
            self.chromium("Emulation.setCPUThrottlingRate", &json!({"rate": rate}));
        }
        self.delay_workers();
    }

    /// From now on every answer takes at least so many milliseconds longer: those of the host, also to service workers, and
    /// those of the workers of a page without a server.
    pub fn latency(&self, milliseconds: u64) {
        self.relay.gate.delay.store(milliseconds.max(least_latency()), Ordering::Relaxed);
        self.delay_workers();
    }

    /// From now on answers arrive in another order for each seed: each takes up to so many milliseconds longer, as its
    /// address and the seed say; and pages arrive in parts.
    pub fn shuffle(&self, milliseconds: u64, seed: u64) {
        self.relay.gate.spread.store(milliseconds, Ordering::Relaxed);
        self.relay.gate.seed.store(seed, Ordering::Relaxed);
    }

    /// From now on no question of this document is answered, until [`release`](Browser::release).
    pub fn hold(&self) {
        self.relay.gate.is_closed.store(true, Ordering::Relaxed);
        self.run("Worker.held = []");
    }

    /// Questions are answered again, after the latency.
    pub fn release(&self) {
        self.relay.gate.is_closed.store(false, Ordering::Relaxed);
        self.run("Worker.held?.splice(0).forEach((post) => post()); Worker.held = null");
    }

    /// Delays the messages to workers in this tab by the latency.
    fn delay_workers(&self) {
        let script = format!(
            "Worker.post ??= Worker.prototype.postMessage;
             Worker.prototype.postMessage = function (...all) {{
                 const post = () => Worker.post.apply(this, all);
                 setTimeout(() => (Worker.held ? Worker.held.push(post) : post()), {});
             }};",
            self.relay.gate.delay.load(Ordering::Relaxed)
        );
        self.run(&script);
        self.chromium("Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
    }

    /// From now on another host has the address of the page.
    pub fn relay_to(&self, host: SocketAddr) {
        self.relay.turn_to(host);
    }

    /// Takes the network from the page, or gives it back.
    pub fn offline(&self, offline: bool) {
        self.chromium("Network.enable", &json!({}));
        let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.chromium("Network.emulateNetworkConditions", &conditions);
    }

    /// The tab that commands go to.
    pub fn tab(&self) -> Tab {
        Tab(self.request("GET", &format!("/session/{}/window", self.session), &Value::Null))
    }

    /// Opens another tab, which shares the stored data with the others. Commands go to it from now on.
    pub fn open_tab(&self) -> Tab {
        let tab = Tab(self.post("window/new", &json!({"type": "tab"}))["handle"].take());
        self.switch(&tab);
        self.prepare();
        tab
    }

    /// From now on commands go to a tab.
    pub fn switch(&self, Tab(handle): &Tab) {
        self.post("window", &json!({"handle": handle}));
    }

    fn new_session(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).into();
        flags.push(format!("--user-data-dir={}{}", profiles(), COUNT.fetch_add(1, Ordering::Relaxed)));
        if self.options.webgpu {
            flags.retain(|flag| flag != "--disable-gpu");
            flags.extend(["--enable-unsafe-webgpu".to_owned(), "--use-webgpu-adapter=swiftshader".to_owned()]);
        }
        let mut chrome = json!({"args": flags});
        if let Some(shell) = headless_shell().filter(|_| !self.options.webgpu) {
            chrome["binary"] = shell.into();
        }
        let logs = json!({"browser": "ALL"});
        let timeouts = json!({"script": PATIENCE.as_millis() as u64});
        let wanted = json!({"goog:chromeOptions": chrome, "goog:loggingPrefs": logs, "timeouts": timeouts});
        let session = self.request("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        session["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Replaces all tabs by an empty one, which has no history and no emulated devices, and removes all stored data.
    fn reset(&self) -> Result<(), String> {
        let at = |path: &str| format!("/session/{}/{path}", self.session);
        let old = self.ask("GET", &at("window/handles"), &Value::Null)?;
        let new = self.ask("POST", &at("window/new"), &json!({"type": "tab"}))?;
        for handle in old.as_array().into_iter().flatten() {
            self.ask("POST", &at("window"), &json!({"handle": handle}))?;
            self.ask("DELETE", &at("window"), &json!({}))?;
        }
        self.ask("POST", &at("window"), &json!({"handle": new["handle"]}))?;
        let clear = json!({"origin": format!("http://{}", self.relay.address), "storageTypes": "all"});
        for (command, parameters) in [("Storage.clearDataForOrigin", clear), ("Network.clearBrowserCache", json!({}))] {
            self.ask("POST", &at("goog/cdp/execute"), &json!({"cmd": command, "params": parameters}))?;
        }
        self.ask("POST", &at("se/log"), &json!({"type": "browser"})).map(drop)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.driver.port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(2 * PATIENCE)).unwrap();
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).map_err(|error| error.to_string())?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = reader.read_line(&mut line).map_err(|error| error.to_string())?;
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
            if read == 0 || line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].take()),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// Opens a path of the server; with scripts it waits until the page has started.
    pub fn open(&self, path: &str) {
        self.visit(path);
        self.wait("document.documentElement.dataset.ready === 'true'");
    }

    pub fn visit(&self, path: &str) {
        self.post("url", &json!({"url": format!("http://{}{}{path}", self.relay.address, self.folder)}));
    }

    pub fn reload(&self) {
        self.post("refresh", &json!({}));
        self.wait("document.documentElement.dataset.ready === 'true'");
    }

    /// The value of an expression in the page once nothing is pending.
    pub fn get(&self, expression: &str) -> Value {
        let read = format!(
            "if (!{QUIET}) return false;
             try {{ return {{ value: {expression} }}; }} catch (error) {{ return {{ error: String(error) }}; }}"
        );
        let mut found = self.poll(&read, 5).unwrap_or_else(|| self.never_quiet());
        assert!(found["error"].is_null(), "{expression}: {}; {}", found["error"], self.state());
        found["value"].take()
    }

    /// The value of an expression as text once nothing is pending.
    pub fn text(&self, expression: &str) -> String {
        let value = self.get(expression);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The value of an expression at this moment, whatever is pending.
    pub fn now(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"))
    }

    /// Waits until nothing is pending in the page: no request, no timer, no animation, no dialog that closes.
    pub fn quiet(&self) {
        self.poll(&format!("return {QUIET}"), 5).unwrap_or_else(|| self.never_quiet());
    }

    fn never_quiet(&self) -> ! {
        panic!("still pending: {}; {}", self.now("JSON.stringify(window.pending?.())"), self.state())
    }

    /// Waits until an expression has a value. An expression that throws has no value yet.
    #[track_caller]
    pub fn expect(&self, expression: &str, value: impl Into<Value>) {
        let (wanted, end) = (value.into(), Instant::now() + PATIENCE);
        // The page compares, too, so that it answers as soon as the value is there.
        let read = format!(
            "let value; try {{ value = {expression}; }} catch (error) {{ value = String(error); }}
             if (JSON.stringify(value) === JSON.stringify({wanted}) || performance.now() > (step.end ??= performance.now() + 500))
               return {{ value }};
             return false;"
        );
        loop {
            let found = self.poll(&read, 5).map_or(Value::Null, |mut found| found["value"].take());
            if found == wanted {
                return;
            }
            assert!(Instant::now() < end, "{expression} is still {found}, not {wanted}; {}", self.state());
        }
    }

    /// Checks the value of an expression that the reaction to all that was done before does not change.
    #[track_caller]
    pub fn stays(&self, expression: &str, value: impl Into<Value>) {
        assert_eq!(self.get(expression), value.into(), "{expression}");
    }

    /// Runs a script at this moment.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true. An expression that throws is not true yet.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let check = format!("try {{ return Boolean({expression}); }} catch {{ return false; }}");
        assert!(self.poll(&check, 10).is_some(), "still not so: {expression}; {}", self.state());
    }

    /// The first value other than `false` of a script, which the page runs again and again, after some milliseconds
    /// each. `None` if that takes too long.
    fn poll(&self, script: &str, milliseconds: u32) -> Option<Value> {
        let script = format!(
            "const step = () => {{ {script} }};
             return new Promise((done) => {{
               const again = () => {{ const value = step(); if (value === false) setTimeout(again, {milliseconds}); else done(value); }};
               again();
             }});"
        );
        let body = json!({"script": script, "args": []});
        let end = Instant::now() + PATIENCE;
        loop {
            match self.ask("POST", &format!("/session/{}/execute/sync", self.session), &body) {
                Ok(value) => return Some(value),
                // Another page was opened meanwhile, which runs the script from its start.
                Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
                Err(_) => return None,
            }
        }
    }

    fn state(&self) -> String {
        let state = "`${location.href} ${document.querySelector('#resulttext')?.textContent} ${document.querySelector('#toast')?.textContent}`";
        format!("{}; console: {:?}", self.now(state), self.console())
    }

    /// The centres of the elements of the selectors, scrolled into view. Waits until they are there, enabled, and stay in
    /// place, because answers of the server change the length of the page.
    fn middles<const N: usize>(&self, selectors: [&str; N]) -> [(i64, i64); N] {
        let script = format!(
            "const all = {}.map((selector) => document.querySelector(selector));
             if (all.includes(null) || all.some((e) => e.matches(':disabled'))) return false;
             for (const e of all) e.scrollIntoViewIfNeeded?.();
             const middle = (r) => [r.left + r.width / 2, r.top + r.height / 2].map(Math.round);
             const found = all.map((e) => middle(e.getBoundingClientRect())), rests = String(found) === String(step.before);
             step.before = found;
             return rests && found;",
            json!(&selectors[..])
        );
        let found = self
            .poll(&script, 30)
            .unwrap_or_else(|| panic!("{selectors:?} are not there, or never rest; {}", self.state()));
        std::array::from_fn(|i| (found[i][0].as_i64().unwrap(), found[i][1].as_i64().unwrap()))
    }

    fn middle(&self, selector: &str) -> (i64, i64) {
        self.middles([selector])[0]
    }

    fn actions(&self, actions: &Value) {
        self.post("actions", &json!({"actions": [actions]}));
    }

    fn pointer(&self, kind: &str, button: u8, steps: &[(i64, i64)]) {
        let mut actions = Vec::new();
        for (i, (x, y)) in steps.iter().enumerate() {
            actions.push(json!({"type": "pointerMove", "duration": if i == 0 { 0 } else { 40 }, "x": x, "y": y}));
            if i == 0 {
                actions.push(json!({"type": "pointerDown", "button": button}));
            }
        }
        actions.push(json!({"type": "pointerUp", "button": button}));
        self.actions(&json!({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}));
    }

    pub fn click(&self, selector: &str) {
        self.pointer("mouse", 0, &[self.middle(selector)]);
    }

    /// Taps with a finger, and waits for the click that follows.
    pub fn tap(&self, selector: &str) {
        self.run("window.tapped = false; addEventListener('click', () => { window.tapped = true; }, {once: true, capture: true})");
        self.pointer("touch", 0, &[self.middle(selector)]);
        self.wait("window.tapped");
    }

    /// Swipes with a finger from one element to another.
    pub fn swipe(&self, from: &str, to: &str) {
        self.pointer("touch", 0, &self.middles([from, to]));
    }

    /// Turns the wheel over an element by pixels; down is positive.
    pub fn wheel(&self, selector: &str, pixels: i64) {
        let (x, y) = self.middle(selector);
        let scroll = json!({"type": "scroll", "duration": 0, "origin": "viewport", "x": x, "y": y, "deltaX": 0, "deltaY": pixels});
        self.actions(&json!({"type": "wheel", "id": "wheel", "actions": [scroll]}));
    }

    pub fn drag(&self, from: &str, to: &str) {
        self.drag_with(0, from, to);
    }

    pub fn drag_with(&self, button: u8, from: &str, to: &str) {
        let [(x1, y1), (x2, y2)] = self.middles([from, to]);
        self.pointer("mouse", button, &[(x1, y1), ((x1 + x2) / 2, (y1 + y2) / 2), (x2, y2)]);
    }

    /// Presses keys one after the other, on the focused element.
    pub fn keys(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})])
            .collect();
        self.actions(&json!({"type": "key", "id": "keyboard", "actions": actions}));
    }

    pub fn type_into(&self, selector: &str, text: &str) {
        let quoted = json!(selector);
        self.run(&format!("const e = document.querySelector({quoted}); e.focus(); e.select?.();"));
        let keys: Vec<String> = text.chars().map(String::from).collect();
        self.keys(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    }

    pub fn choose(&self, selector: &str, value: &str) {
        let (selector, value) = (json!(selector), json!(value));
        self.run(&format!("const e = document.querySelector({selector}); e.value = {value}; e.dispatchEvent(new Event('change', {{bubbles: true}}));"));
    }

    /// A command of Chromium's own protocol.
    pub fn chromium(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    pub fn size(&self, width: u32, height: u32) {
        self.chromium(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    pub fn prefer(&self, feature: &str, value: &str) {
        self.chromium("Emulation.setEmulatedMedia", &json!({"features": [{"name": feature, "value": value}]}));
    }

    /// With `DSQ_SCREENSHOTS` a screenshot as PNG, kept among the tests' output.
    pub fn screenshot(&self, name: &str) {
        if std::env::var_os("DSQ_SCREENSHOTS").is_some() {
            self.picture(name, "png");
        }
    }

    /// A screenshot as "png" or "webp"; kept among the tests' output.
    pub fn picture(&self, name: &str, format: &str) -> Vec<u8> {
        let data = self.chromium("Page.captureScreenshot", &json!({"format": format, "optimizeForSpeed": false}));
        let picture = base64(data["data"].as_str().expect("a picture"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.{format}")), &picture).unwrap();
        picture
    }

    /// The console messages since the last call.
    pub fn console(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({"type": "browser"}));
        entries.as_array().unwrap().iter().map(|entry| format!("{} {}", entry["level"], entry["message"])).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.reset().is_ok() {
            idle().push((self.options, std::mem::take(&mut self.session)));
            return;
        }
        // Without a body the driver refuses, and its browser keeps running.
        let closed = self.ask("DELETE", &format!("/session/{}", self.session), &json!({}));
        assert!(closed.is_ok() || std::thread::panicking(), "a browser is left: {closed:?}");
    }
}

/// A chromedriver process, which drives any number of browsers.
struct Driver {
    port: u16,
    /// Keeps the driver running.
    _process: Bound,
}

impl Driver {
    /// The driver of all tests, which ends with this process, and its browsers with it.
    fn shared() -> &'static Driver {
        static SHARED: LazyLock<Driver> = LazyLock::new(Driver::start);
        &SHARED
    }

    /// Starts chromedriver, in up to five tries: it takes a port that is free for IPv4, and ends if the port is taken
    /// for IPv6.
    fn start() -> Driver {
        // The brackets keep the pattern from matching the shell itself.
        let end = format!("pkill -KILL -f -- '[-]-user-data-dir={0}'; rm -rf '{0}'*", profiles());
        for _ in 0..5 {
            let mut driver = Command::new("chromedriver");
            let mut process = Bound::ending(driver.arg("--port=0").stdout(Stdio::piped()), &end);
            if let Some(port) = port_of(&mut process.process) {
                return Driver { port, _process: process };
            }
        }
        panic!("chromedriver did not say where it listens");
    }
}

fn port_of(driver: &mut Child) -> Option<u16> {
    let mut reader = BufReader::new(driver.stdout.take().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 0 {
        if let Some((_, port)) = line.trim().trim_end_matches('.').rsplit_once("on port ")
            && let Ok(port) = port.parse()
            && port != 0
        {
            // Reading continues, because the process would block on a full pipe.
            std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
            return Some(port);
        }
        line.clear();
    }
    None
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, &c| bits << 6 | digit(c)) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
