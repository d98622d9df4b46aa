//! Current and peak resident memory of this process, on systems that report them (Linux).

use std::fs;
use std::path::{Path, PathBuf};

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

/// The memory available without swapping, in bytes, at most what the process's Linux control groups and its own limits
/// have left; `None` if the system does not report it.
#[must_use]
pub fn available() -> Option<u64> {
    let left = groups().into_iter().filter_map(|group| Some(group.limit()?.saturating_sub(group.used())));
    // An eighth is left for stacks and for what the allocator reserves.
    let own = own_limits().into_iter().map(|(limit, used)| limit.saturating_sub(used) / 8 * 7);
    Some(left.chain(own).fold(of_system()?, u64::min))
}

#[cfg(not(windows))]
fn of_system() -> Option<u64> {
    of_status(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

#[cfg(windows)]
fn of_system() -> Option<u64> {
    use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: `status` is as long as it says.
    (unsafe { GlobalMemoryStatusEx(&mut status) } != 0).then_some(status.ullAvailPhys)
}

/// The memory limit of the process's Linux control groups, for instance of a container or a service, or of the process
/// itself (`ulimit -v`, `ulimit -d`), in bytes; `None` without a limit.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    let own = own_limits().into_iter().map(|(limit, _)| limit);
    groups().iter().filter_map(ControlGroup::limit).chain(own).min()
}

/// The limits of the process's address space and of its data, each with the bytes in use.
fn own_limits() -> Vec<(u64, u64)> {
    let read = |name: &str| fs::read_to_string(Path::new("/proc/self").join(name)).unwrap_or_default();
    limits_of(&read("limits"), &read("status"))
}

fn limits_of(limits: &str, status: &str) -> Vec<(u64, u64)> {
    let pairs = [("Max address space", "VmSize:"), ("Max data size", "VmData:")];
    let limit = |(limit, used): (&str, &str)| {
        // `unlimited` is no number.
        let soft = limits.lines().find_map(|line| line.strip_prefix(limit)?.split_whitespace().next()?.parse().ok())?;
        Some((soft, of_status(status, used)?))
    };
    pairs.into_iter().filter_map(limit).collect()
}

/// A control group that counts and may limit memory.
struct ControlGroup {
    dir: PathBuf,
    /// The files with limits, and the file with the bytes in use.
    limits: &'static [&'static str],
    used: &'static str,
    /// The entries of `memory.stat` with the bytes of cached files, which the system can take back.
    cached: [&'static str; 2],
}

impl ControlGroup {
    /// The limit; `None` if there is none. Version 1 writes "no limit" as a number of exbibytes.
    fn limit(&self) -> Option<u64> {
        self.limits.iter().filter_map(|name| self.number(name)).min().filter(|&limit| limit < 1 << 60)
    }

    /// Bytes in use that the system cannot take back.
    fn used(&self) -> u64 {
        let stat = fs::read_to_string(self.dir.join("memory.stat")).unwrap_or_default();
        let entry =
            |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok());
        let cached: u64 = self.cached.iter().filter_map(|name| entry(name)).sum();
        self.number(self.used).unwrap_or(0).saturating_sub(cached)
    }

    fn number(&self, name: &str) -> Option<u64> {
        fs::read_to_string(self.dir.join(name)).ok()?.trim().parse().ok()
    }
}

fn groups() -> Vec<ControlGroup> {
    groups_of(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default(), Path::new("/sys/fs/cgroup"))
}

/// The control groups of a process from its own up to the root of the mount, by the contents of `/proc/PID/cgroup`: each
/// of them limits the process. Of a path that is not below the mount, as in a container, the upper part may be missing.
fn groups_of(text: &str, mount: &Path) -> Vec<ControlGroup> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (mount, limits, used, cached): (_, &[&str], _, _) = match controllers {
            "" => {
                (mount.to_owned(), &["memory.max", "memory.high"], "memory.current", ["inactive_file", "active_file"])
            }
            _ if controllers.split(',').any(|name| name == "memory") => {
                let cached = ["total_inactive_file", "total_active_file"];
                (mount.join("memory"), &["memory.limit_in_bytes"], "memory.usage_in_bytes", cached)
            }
            _ => continue,
        };
        let dirs = Path::new(path.trim_start_matches('/')).ancestors().map(|path| mount.join(path));
        groups.extend(dirs.map(|dir| ControlGroup { dir, limits, used, cached }));
    }
    groups
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

    #[test]
    fn the_limits_of_the_process_are_found() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         1536000000           unlimited            bytes     \n";
        let status = "VmSize:\t 1000 kB\nVmData:\t 10 kB\n";
        assert_eq!(limits_of(limits, status), [(1_536_000_000, 1_024_000)]);
        assert!(limits_of("", status).is_empty());
    }

    /// The smallest limit on the way to the root counts, in both versions of control groups.
    #[test]
    fn the_limits_of_control_groups_are_found() {
        let mount = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = mount.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let numbers = |text: &str| -> Vec<(Option<u64>, u64)> {
            groups_of(text, mount.path()).iter().map(|group| (group.limit(), group.used())).collect()
        };
        write("memory.max", "max\n");
        write("system.slice/memory.max", "1000\n");
        write("system.slice/memory.high", "700\n");
        write("system.slice/memory.current", "600\n");
        write("system.slice/memory.stat", "anon 90\ninactive_file 100\nactive_file 200\ninactive_file_x 9\n");
        write("system.slice/dsq.service/memory.max", "600000000\n");
        write("system.slice/dsq.service/memory.high", "max\n");
        let v2 = "0::/system.slice/dsq.service\n";
        assert_eq!(numbers(v2), [(Some(600_000_000), 0), (Some(700), 300), (None, 0)]);
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/job/memory.limit_in_bytes", "5000\n");
        write("memory/job/memory.usage_in_bytes", "4000\n");
        write("memory/job/memory.stat", "cache 1\ntotal_inactive_file 1000\ntotal_active_file 500\n");
        assert_eq!(numbers("7:cpu,memory:/job\n3:cpuset:/job\n"), [(Some(5000), 2500), (None, 0)]);
        // The paths of a container are those of the host.
        assert_eq!(numbers("7:memory:/docker/1234\n").last(), Some(&(None, 0)));
        assert_eq!(numbers("no line\n"), []);
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
