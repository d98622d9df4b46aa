//! A child process with line-based input and output.

use super::player::PlayerError;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The time limit for ending after the command to quit.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);
/// The interval between checks for a stop of the match while a program searches.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The flag by which Windows starts a process group.
#[cfg(windows)]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
/// The maximum bytes of a line; a longer line is split.
const LINE: u64 = 65_536;
/// The most characters of a line that a message quotes.
const MOST_QUOTED: usize = 100;

/// A running program. Dropping it ends the program.
pub(super) struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    /// The lines that the program writes; the channel closes when the program ends.
    lines: Receiver<String>,
    /// The commands that end the program.
    quit_commands: &'static str,
    /// The time limit for answers to commands without a search.
    patience: Duration,
    /// The last command, and the time by which the program must have answered it.
    asked: (String, Instant),
    /// The beginning of the last line in reply to it.
    heard: Option<String>,
}

impl Process {
    /// Starts a program. `command` is never empty.
    pub(super) fn start(
        command: &[String],
        quit_commands: &'static str,
        patience: Duration,
    ) -> Result<Process, PlayerError> {
        let name = command.join(" ");
        let crash = |e: io::Error| PlayerError::Crash(format!("cannot start {name:?}: {e}"));
        let (program, arguments) = command.split_first().ok_or_else(|| crash(io::Error::other("no command")))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A process group of its own: Ctrl-C in the terminal reaches only this program, which then ends its children.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NEW_PROCESS_GROUP);
        let mut child = command.spawn().map_err(crash)?;
        let stdin = child.stdin.take().ok_or_else(|| crash(io::Error::other("no pipe")))?;
        let stdout = child.stdout.take().ok_or_else(|| crash(io::Error::other("no pipe")))?;
        let (sender, lines) = sync_channel(256);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.by_ref().take(LINE).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
        let asked = (String::new(), Instant::now());
        Ok(Process { name, child, stdin, lines, quit_commands, patience, asked, heard: None })
    }

    /// The command line.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a line.
    pub(super) fn send(&mut self, command: &str) -> Result<(), PlayerError> {
        (self.asked, self.heard) = ((command.to_owned(), Instant::now() + self.patience), None);
        let sent = writeln!(self.stdin, "{command}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.ended())
    }

    /// The error of a program that has closed a pipe.
    fn ended(&mut self) -> PlayerError {
        // The process may end a moment after closing the pipe.
        let deadline = Instant::now() + QUIT_TIMEOUT;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return PlayerError::Crash(format!("{:?} ended: {status}", self.name));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        PlayerError::Crash(format!("{:?} closed its input or output", self.name))
    }

    /// The next line, in reply to a command without a search; a timeout counts as a crash.
    pub(super) fn reply(&mut self, stop: &AtomicBool) -> Result<String, PlayerError> {
        match self.line(self.asked.1, stop) {
            Err(PlayerError::Timeout) => {
                let ((command, _), seconds) = (&self.asked, self.patience.as_secs_f64());
                let heard = self.heard.as_deref().map(|line| format!("; its last line is {line:?}"));
                let heard = heard.unwrap_or_default();
                Err(PlayerError::Crash(format!("{:?} did not answer {command:?} within {seconds} s{heard}", self.name)))
            }
            Ok(line) => {
                self.heard = Some(line.trim().chars().take(MOST_QUOTED).collect());
                Ok(line)
            }
            error => error,
        }
    }

    /// The next line.
    ///
    /// # Errors
    /// If the deadline passes, the match is stopped or the program ends before.
    pub(super) fn line(&mut self, deadline: Instant, stop: &AtomicBool) -> Result<String, PlayerError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(PlayerError::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PlayerError::Timeout);
            }
            match self.lines.recv_timeout(left.min(STOP_POLL_INTERVAL)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends the program at once, and the programs that it has started: an engine behind a script would go on searching.
    pub(super) fn kill(&mut self) {
        // A group without its first process may already be another's.
        #[cfg(unix)]
        if matches!(self.child.try_wait(), Ok(None))
            && let Some(group) = rustix::process::Pid::from_raw(self.child.id().cast_signed())
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Killing fails if the program has already ended, which is harmless.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = writeln!(self.stdin, "{}", self.quit_commands).and_then(|()| self.stdin.flush());
        let deadline = Instant::now() + QUIT_TIMEOUT;
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
    }
}
