//! The most memory that this process has had, as far as the system counts it (Linux does).

use std::fs;

/// Begins to count anew.
pub(crate) fn restart() {
    // Where that is not allowed, what is counted is the most since the process began: no less than what is asked for.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory since, in bytes.
pub(crate) fn bytes() -> Option<u64> {
    of_status(&fs::read_to_string("/proc/self/status").ok()?)
}

fn of_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_counts_what_is_touched() {
        assert_eq!(of_status("Name:\tdsq\nVmHWM:\t   12 kB\nVmRSS:\t 8 kB\n"), Some(12 << 10));
        assert_eq!((of_status("VmHWM: x kB"), of_status("")), (None, None));
        restart();
        let Some(before) = bytes() else { return };
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(bytes().unwrap() >= before.min(64 << 20) && touched[5] == 1);
    }
}
