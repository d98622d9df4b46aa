//! Signals that were ignored when the program started: SIGHUP under `nohup`, SIGINT in a background job of a script.

use libc::c_int;

/// The signals that end the program.
const WATCHED: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Calls `install`, which installs handlers for the signals that end the program. Ignored signals stay ignored. No other
/// thread may run.
pub(crate) fn keep_ignored<T>(install: impl FnOnce() -> T) -> T {
    let ignored: Vec<c_int> = WATCHED.into_iter().filter(|&signal| is_ignored(signal)).collect();
    // An ignored signal that arrives during `install` waits until it is ignored again, which discards it.
    set_mask(libc::SIG_BLOCK, &ignored);
    let result = install();
    for &signal in &ignored {
        // SAFETY: ignoring a signal installs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    set_mask(libc::SIG_UNBLOCK, &ignored);
    result
}

fn is_ignored(signal: c_int) -> bool {
    // SAFETY: zeros are a valid `sigaction`; without a new action, the call only writes the current one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Blocks or unblocks signals for this thread.
fn set_mask(how: c_int, signals: &[c_int]) {
    // SAFETY: zeros are a valid `sigset_t`, which the calls change and read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for &signal in signals {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
    }
}
