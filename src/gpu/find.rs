//! The adapters of the system.

use super::{AdapterChoice, AdapterReport, GpuError};

/// The kinds of adapters, the best first.
const KINDS: [(wgpu::DeviceType, &str); 5] = [
    (wgpu::DeviceType::DiscreteGpu, "discrete"),
    (wgpu::DeviceType::IntegratedGpu, "integrated"),
    (wgpu::DeviceType::VirtualGpu, "virtual"),
    (wgpu::DeviceType::Other, "other"),
    (wgpu::DeviceType::Cpu, "software"),
];

impl AdapterReport {
    fn new(adapter: &wgpu::Adapter) -> AdapterReport {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let kind =
            KINDS.iter().find(|(device_type, _)| *device_type == info.device_type).map_or("other", |kind| kind.1);
        AdapterReport {
            name: info.name.clone(),
            kind,
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            backend: info.backend.to_string(),
            max_binding: limits.max_storage_buffer_binding_size,
            max_buffer: limits.max_buffer_size,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            workgroup_memory: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            subgroup_min: info.subgroup_min_size,
            subgroup_max: info.subgroup_max_size,
            unusable: unusable(&limits, adapter.get_downlevel_capabilities().flags),
        }
    }

    /// The rank of the adapter; smaller is better.
    fn rank(&self) -> Option<usize> {
        KINDS.iter().position(|(_, kind)| *kind == self.kind)
    }
}

/// Why kernels cannot run within these limits, which are at least WebGPU's for every adapter that conforms to it.
fn unusable(limits: &wgpu::Limits, flags: wgpu::DownlevelFlags) -> Option<String> {
    if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS | wgpu::DownlevelFlags::INDIRECT_EXECUTION) {
        return Some("it has no compute shaders".to_owned());
    }
    let least = wgpu::Limits::defaults();
    let of = |limits: &wgpu::Limits| {
        [
            u64::from(limits.max_storage_buffers_per_shader_stage),
            limits.max_storage_buffer_binding_size,
            limits.max_buffer_size,
            limits.max_compute_invocations_per_workgroup.into(),
            limits.max_compute_workgroup_size_x.into(),
            limits.max_compute_workgroup_storage_size.into(),
            limits.max_compute_workgroups_per_dimension.into(),
        ]
    };
    let what = [
        "storage buffers",
        "bytes of a storage buffer",
        "bytes of a buffer",
        "invocations of a workgroup",
        "invocations of a workgroup in a row",
        "bytes of workgroup memory",
        "workgroups in a row",
    ];
    let mut all = what.into_iter().zip(of(limits).into_iter().zip(of(&least)));
    let missing = all.find(|(_, (has, needed))| has < needed);
    missing.map(|(what, (has, needed))| format!("it allows {has} {what}, and {needed} are needed"))
}

async fn find() -> Vec<(AdapterReport, wgpu::Adapter)> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let mut found: Vec<(AdapterReport, wgpu::Adapter)> = instance
        .enumerate_adapters(wgpu::Backends::PRIMARY)
        .await
        .into_iter()
        .map(|adapter| (AdapterReport::new(&adapter), adapter))
        .collect();
    found.sort_by_key(|(report, _)| report.rank());
    found
}

/// The number of the adapter that [`AdapterChoice::Named`] chooses.
fn find_named(found: &[&AdapterReport], wanted: &str) -> Result<usize, GpuError> {
    let at = match wanted.parse::<usize>() {
        Ok(number) => Some(number).filter(|&number| number < found.len()),
        Err(_) => {
            let wanted = wanted.to_lowercase();
            found.iter().position(|report| report.name.to_lowercase().contains(&wanted))
        }
    };
    at.ok_or_else(|| {
        let all: Vec<String> =
            (0..).zip(found).map(|(number, report)| format!("{number} {}", report.label())).collect();
        GpuError::NoSuchAdapter { wanted: wanted.to_owned(), found: all.join(", ") }
    })
}

/// Whether the system may have a GPU. The check is cheap; loading drivers takes time, and some write to stderr.
fn may_have_gpu() -> bool {
    !cfg!(target_os = "linux")
        || ["/dev/dri", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg"].iter().any(|path| std::path::Path::new(path).exists())
}

/// All adapters, the best first.
#[must_use]
pub fn adapters() -> Vec<AdapterReport> {
    pollster::block_on(find()).into_iter().map(|(report, _)| report).collect()
}

/// The chosen adapter.
///
/// # Errors
/// If there is none, or kernels cannot run on it.
pub(super) async fn choose(choice: AdapterChoice) -> Result<(AdapterReport, wgpu::Adapter), GpuError> {
    if choice == AdapterChoice::Hardware && !may_have_gpu() {
        return Err(GpuError::NoAdapter);
    }
    let mut found = find().await;
    if found.is_empty() {
        return Err(GpuError::NoAdapter);
    }
    let is_usable = |found: &(AdapterReport, _)| found.0.unusable.is_none();
    match choice {
        // The best one that can be used; if there is none, the error names the reason of the best.
        AdapterChoice::Any => found.sort_by_key(|found| !is_usable(found)),
        AdapterChoice::Hardware => {
            found.retain(|(report, _)| !report.is_software());
            found.sort_by_key(|found| !is_usable(found));
        }
        AdapterChoice::Named(wanted) => {
            let reports: Vec<&AdapterReport> = found.iter().map(|(report, _)| report).collect();
            let at = find_named(&reports, &wanted)?;
            found.drain(..at);
        }
    }
    let (report, adapter) = found.into_iter().next().ok_or(GpuError::OnlySoftware)?;
    if let Some(reason) = report.unusable {
        return Err(GpuError::Open { adapter: report.name, reason });
    }
    Ok((report, adapter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_chosen_by_number_or_name() {
        let report = |name: &str, kind: &'static str| AdapterReport {
            name: name.to_owned(),
            kind,
            driver: String::new(),
            backend: "vulkan".to_owned(),
            max_binding: 0,
            max_buffer: 0,
            storage_buffers: 0,
            workgroup_memory: 0,
            workgroup_invocations: 0,
            subgroup_min: 0,
            subgroup_max: 0,
            unusable: None,
        };
        let all = [report("NVIDIA H200", "discrete"), report("NVIDIA L4", "discrete"), report("llvmpipe", "software")];
        let all: Vec<&AdapterReport> = all.iter().collect();
        for (wanted, at) in [("0", 0), ("2", 2), ("nvidia", 0), ("l4", 1), ("LLVM", 2)] {
            assert_eq!(find_named(&all, wanted), Ok(at), "{wanted}");
        }
        for wanted in ["3", "AMD"] {
            let error = find_named(&all, wanted).unwrap_err().to_string();
            assert!(error.contains(wanted) && error.contains("1 NVIDIA L4, 2 llvmpipe (software)"), "{error}");
        }
    }

    #[test]
    fn the_reason_why_an_adapter_cannot_be_used() {
        let (flags, limits) = (wgpu::DownlevelFlags::all(), wgpu::Limits::defaults());
        assert_eq!(unusable(&limits, flags), None);
        let few = wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..limits.clone() };
        assert_eq!(unusable(&few, flags).unwrap(), "it allows 4 storage buffers, and 8 are needed");
        let small = wgpu::Limits { max_compute_workgroup_storage_size: 8192, ..limits.clone() };
        assert!(unusable(&small, flags).unwrap().contains("8192 bytes of workgroup memory"));
        assert_eq!(unusable(&limits, wgpu::DownlevelFlags::empty()).unwrap(), "it has no compute shaders");
    }
}
