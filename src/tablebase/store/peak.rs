//! Current and peak resident memory of this process, on systems that report them (Linux).

use std::fs;

/// Resets the peak.
pub(crate) fn restart() {
    // If the reset is not allowed, the peak covers the whole run of the process, an upper bound of the peak since now.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak since the last [`restart`], in bytes; `None` if the system does not report it.
pub(crate) fn bytes() -> Option<u64> {
    of_status(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The current resident memory, in bytes; `None` if the system does not report it.
pub(crate) fn now() -> Option<u64> {
    of_status(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The memory available without swapping, in bytes, at most the limit of the Linux control group; `None` if the system
/// does not report it.
pub(crate) fn available() -> Option<u64> {
    let available = of_status(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.iter().filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    Some(limits.fold(available, u64::min))
}

/// Returns free memory that the allocator retains to the system: gigabytes after millions of small allocations.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time and does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn of_status(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_counts_what_is_touched() {
        let status = "Name:\tdsq\nVmHWM:\t   12 kB\nVmRSS:\t 8 kB\n";
        assert_eq!((of_status(status, "VmHWM:"), of_status(status, "VmRSS:")), (Some(12 << 10), Some(8 << 10)));
        assert_eq!((of_status("VmHWM: x kB", "VmHWM:"), of_status("", "VmHWM:")), (None, None));
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
        restart();
        let Some(before) = bytes() else { return };
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(bytes().unwrap() >= before.min(64 << 20) && touched[5] == 1);
    }

    /// The allocator retains freed memory below an allocation that is still in use.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn what_is_freed_goes_back() {
        let mut parts: Vec<Vec<u8>> = (0..6_000).map(|_| std::hint::black_box(vec![1; 100_000])).collect();
        let last = parts.pop();
        drop(parts);
        let before = now().unwrap();
        trim();
        let after = now().unwrap();
        assert!(before > 500 << 20 && after + (400 << 20) < before, "{before} {after}");
        assert_eq!(last.unwrap()[99_999], 1);
    }
}
