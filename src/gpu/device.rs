use super::GpuError;
use bytemuck::{AnyBitPattern, NoUninit};
use serde::Serialize;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;
use wgpu::util::DeviceExt;

/// An adapter with the limits that matter to this program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterReport {
    /// The name, as reported by the driver.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The driver with its version.
    pub driver: String,
    /// The interface: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// Largest size of a buffer bound to a kernel, in bytes.
    pub max_binding: u64,
    /// Largest size of a buffer, in bytes.
    pub max_buffer: u64,
    /// Most storage buffers bound to a kernel.
    pub storage_buffers: u32,
    /// Shared memory of a workgroup, in bytes.
    pub workgroup_memory: u32,
    /// Most invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// The smallest subgroup, in invocations.
    pub subgroup_min: u32,
    /// The largest subgroup, in invocations.
    pub subgroup_max: u32,
}

/// The choice of an adapter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The best hardware adapter, no software driver.
    Hardware,
    /// The best adapter; a software driver if there is no hardware.
    Any,
}

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
        }
    }

    /// The rank of the adapter; smaller is better.
    fn rank(&self) -> Option<usize> {
        KINDS.iter().position(|(_, kind)| *kind == self.kind)
    }
}

fn find() -> Vec<(AdapterReport, wgpu::Adapter)> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let mut found: Vec<(AdapterReport, wgpu::Adapter)> =
        pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY))
            .into_iter()
            .map(|adapter| (AdapterReport::new(&adapter), adapter))
            .collect();
    found.sort_by_key(|(report, _)| report.rank());
    found
}

/// Whether the system may have a GPU. The check is cheap; loading drivers takes time, and some write to stderr.
fn may_have_gpu() -> bool {
    !cfg!(target_os = "linux")
        || ["/dev/dri", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg"].iter().any(|path| std::path::Path::new(path).exists())
}

/// All adapters, the best first.
#[must_use]
pub fn adapters() -> Vec<AdapterReport> {
    find().into_iter().map(|(report, _)| report).collect()
}

/// An open device with its one queue.
pub(crate) struct Device {
    pub report: AdapterReport,
    /// Whether kernels may use operations within subgroups.
    pub subgroups: bool,
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// The first uncaught error since the last check.
    error: Arc<Mutex<Option<GpuError>>>,
    /// The reason why the device is lost. A lost device stays lost.
    lost: Arc<OnceLock<String>>,
    /// The number of submissions before the device pretends to be lost, for tests.
    until_lost: AtomicU32,
}

/// The layout of the buffers of a set of kernels: a uniform buffer of parameters, then storage buffers.
pub(crate) struct Layout {
    groups: wgpu::BindGroupLayout,
    pipelines: wgpu::PipelineLayout,
}

/// A compiled kernel.
pub(crate) struct Kernel(wgpu::ComputePipeline);

/// Bound buffers.
pub(crate) struct Bound(wgpu::BindGroup);

/// A kernel to run with `groups` workgroups. `params` is the number of its set of parameters.
pub(crate) struct Step<'a> {
    pub kernel: &'a Kernel,
    pub bound: &'a Bound,
    pub params: u32,
    pub groups: u32,
}

/// Distance in bytes between two sets of parameters.
pub(crate) const PARAMS_STRIDE: u64 = 256;

impl Device {
    /// Opens an adapter for kernels with `storage_buffers` storage buffers.
    pub(crate) fn open(choice: AdapterChoice, storage_buffers: u32) -> Result<Device, GpuError> {
        if choice == AdapterChoice::Hardware && !may_have_gpu() {
            return Err(GpuError::NoAdapter);
        }
        let mut found = find();
        if found.is_empty() {
            return Err(GpuError::NoAdapter);
        }
        if choice == AdapterChoice::Hardware {
            found.retain(|(report, _)| report.kind != "software");
        }
        let (report, adapter) = found.into_iter().next().ok_or(GpuError::OnlySoftware)?;
        if report.storage_buffers < storage_buffers {
            let reason =
                format!("it binds {} storage buffers, and {storage_buffers} are needed", report.storage_buffers);
            return Err(GpuError::Open { adapter: report.name, reason });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            required_features: adapter.features() & wgpu::Features::SUBGROUP,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| GpuError::Open { adapter: report.name.clone(), reason: e.to_string() })?;
        let error = Arc::new(Mutex::new(None));
        let slot = error.clone();
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| {
            let error = match e {
                wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory(e.to_string()),
                _ => GpuError::Failed(e.to_string()),
            };
            slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }));
        let lost = Arc::new(OnceLock::new());
        let slot = lost.clone();
        device.set_device_lost_callback(move |_, text| _ = slot.set(text));
        let subgroups = device.features().contains(wgpu::Features::SUBGROUP);
        let this = Device { report, subgroups, device, queue, error, lost, until_lost: AtomicU32::new(0) };
        this.check()?;
        Ok(this)
    }

    /// A layout of storage buffers, given for each whether it is read-only.
    pub(crate) fn layout(&self, read_only: &[bool]) -> Result<Layout, GpuError> {
        let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset: ty == wgpu::BufferBindingType::Uniform,
                min_binding_size: None,
            },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
        entries.extend(
            (1..).zip(read_only).map(|(i, &read_only)| entry(i, wgpu::BufferBindingType::Storage { read_only })),
        );
        let groups =
            self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipelines = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&groups)],
            immediate_size: 0,
        });
        self.check()?;
        Ok(Layout { groups, pipelines })
    }

    /// Returns the first error since the last check, once; after a loss of the device, always the loss.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        if let Some(reason) = self.lost.get() {
            return Err(GpuError::Lost(reason.clone()));
        }
        match self.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Compiles the entry point `main` of a WGSL text.
    pub(crate) fn kernel(&self, layout: &Layout, name: &str, text: &str) -> Result<Kernel, GpuError> {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(name), source };
        // SAFETY: all loops of our shaders terminate, and the shaders index within their buffers, which the program
        // sizes for their contents.
        let module =
            unsafe { self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) };
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout.pipelines),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        self.check().map_err(|error| match error {
            GpuError::Failed(message) => GpuError::Shader { name: name.to_owned(), message },
            other => other,
        })?;
        Ok(Kernel(pipeline))
    }

    /// Largest size of a buffer bound to a kernel, in bytes.
    pub(crate) fn max_binding(&self) -> u64 {
        // Kernels index words and cells with 32 bits.
        self.report.max_binding.min(self.report.max_buffer).min(u32::MAX.into()) & !255
    }

    /// A zeroed buffer for kernels.
    pub(crate) fn buffer(&self, what: &str, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.fits(what, bytes)?;
        self.create(what, bytes, STORAGE)
    }

    fn create(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let size = bytes.next_multiple_of(4).max(16);
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        self.check()?;
        Ok(buffer)
    }

    /// A buffer for kernels with these contents.
    pub(crate) fn buffer_with(&self, what: &str, contents: &[impl NoUninit]) -> Result<wgpu::Buffer, GpuError> {
        self.fits(what, size_of_val(contents) as u64)?;
        let contents = if contents.is_empty() { &[0; 16] } else { bytemuck::cast_slice(contents) };
        let descriptor = wgpu::util::BufferInitDescriptor { label: Some(what), contents, usage: STORAGE };
        let buffer = self.device.create_buffer_init(&descriptor);
        self.check()?;
        Ok(buffer)
    }

    /// A uniform buffer for `sets` sets of parameters, one every [`PARAMS_STRIDE`] bytes.
    pub(crate) fn params(&self, sets: u64) -> Result<wgpu::Buffer, GpuError> {
        self.create("parameters", sets * PARAMS_STRIDE, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)
    }

    fn fits(&self, what: &str, needed: u64) -> Result<(), GpuError> {
        let limit = self.max_binding();
        if needed <= limit { Ok(()) } else { Err(GpuError::TooLarge { what: what.to_owned(), needed, limit }) }
    }

    pub(crate) fn write(&self, buffer: &wgpu::Buffer, offset: u64, contents: &[impl NoUninit]) {
        self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(contents));
    }

    /// Binds the parameters and the storage buffers, in order.
    pub(crate) fn bind(
        &self,
        layout: &Layout,
        params: &wgpu::Buffer,
        storage: &[&wgpu::Buffer],
    ) -> Result<Bound, GpuError> {
        let size = std::num::NonZeroU64::new(PARAMS_STRIDE);
        let params = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: params, offset: 0, size });
        let storage = storage.iter().map(|buffer| buffer.as_entire_binding());
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(std::iter::once(params).chain(storage))
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout.groups,
            entries: &entries,
        });
        self.check()?;
        Ok(Bound(group))
    }

    /// Submits steps, which run one after the other, without waiting for them.
    pub(crate) fn submit<'a>(&self, steps: impl IntoIterator<Item = Step<'a>>) {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for Step { kernel, bound, params, groups } in steps {
            pass.set_pipeline(&kernel.0);
            pass.set_bind_group(0, &bound.0, &[params * PARAMS_STRIDE as u32]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        if self.until_lost.fetch_sub(1, Relaxed) == 1 {
            self.device.destroy();
            _ = self.lost.set("a test simulated the loss".to_owned());
        }
    }

    /// Simulates a loss of the device after this many submissions, for tests.
    pub(crate) fn lose_after(&self, submissions: u32) {
        self.until_lost.store(submissions, Relaxed);
    }

    /// Waits for all submitted steps.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        polled.map(drop).map_err(|e| GpuError::Failed(e.to_string()))
    }

    /// Waits for all submitted steps and returns the first `count` elements of a buffer.
    pub(crate) fn read<T: AnyBitPattern + NoUninit>(
        &self,
        buffer: &wgpu::Buffer,
        count: usize,
    ) -> Result<Vec<T>, GpuError> {
        let mut all = Vec::with_capacity(count);
        let bytes = (count * size_of::<T>()) as u64;
        self.stream(&[(buffer, bytes)], |piece| all.extend(bytemuck::pod_collect_to_vec::<u8, T>(piece)))?;
        Ok(all)
    }

    /// Waits for all submitted steps and calls `f` with the first bytes of these buffers (buffer, size), in order and in
    /// pieces. The next piece is copied while `f` runs.
    pub(crate) fn stream(&self, parts: &[(&wgpu::Buffer, u64)], mut f: impl FnMut(&[u8])) -> Result<(), GpuError> {
        let of_part = |&(buffer, bytes)| {
            (0..bytes).step_by(PIECE).map(move |at| (buffer, at, PIECE.min((bytes - at) as usize) as u64))
        };
        let pieces: Vec<(&wgpu::Buffer, u64, u64)> = parts.iter().flat_map(of_part).collect();
        let largest = pieces.iter().map(|piece| piece.2).max().unwrap_or(0);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = || self.create("staging", largest, usage);
        let staging = (0..pieces.len().min(2)).map(|_| staging()).collect::<Result<Vec<_>, _>>()?;
        let mut coming = None;
        for i in 0..=pieces.len() {
            let started = pieces.get(i).map(|&piece| (&staging[i % 2], piece.2, self.fetch(piece, &staging[i % 2])));
            if let Some((staging, bytes, mapped)) = std::mem::replace(&mut coming, started) {
                self.finish(mapped)?;
                f(&staging.get_mapped_range(..bytes).map_err(|e| GpuError::Failed(e.to_string()))?);
                staging.unmap();
            }
        }
        Ok(())
    }

    /// Starts copying bytes of a buffer to a staging buffer and mapping it.
    fn fetch(&self, (buffer, offset, bytes): (&wgpu::Buffer, u64, u64), staging: &wgpu::Buffer) -> Mapped {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, offset, staging, 0, Some(bytes));
        let submission = self.queue.submit([encoder.finish()]);
        let (answer, result) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            // Sending fails if the receiver has given up, which is harmless.
            let _ = answer.send(mapped);
        });
        Mapped { submission, result }
    }

    /// Waits until a staging buffer is mapped.
    fn finish(&self, mapped: Mapped) -> Result<(), GpuError> {
        let wait = wgpu::PollType::Wait { submission_index: Some(mapped.submission), timeout: None };
        let polled = self.device.poll(wait);
        self.check()?;
        polled.map_err(|e| GpuError::Failed(e.to_string()))?;
        // Another thread that waits for the device may have received this answer and be about to pass it on.
        match mapped.result.recv_timeout(ANSWER) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(GpuError::Failed(e.to_string())),
            Err(_) => Err(GpuError::Lost("it did not answer".to_owned())),
        }
    }
}

/// A staging buffer that is being mapped.
struct Mapped {
    submission: wgpu::SubmissionIndex,
    result: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// The most time for an answer after the device has finished.
const ANSWER: Duration = Duration::from_secs(30);

/// Bytes of a piece in [`Device::stream`].
const PIECE: usize = 32 << 20;

/// The uses of a buffer for kernels.
const STORAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_does_not_compile_is_shown() {
        let device = match Device::open(AdapterChoice::Any, 1) {
            Ok(device) => device,
            Err(error) => {
                assert!(std::env::var_os("DSQ_REQUIRE_GPU").is_none_or(|v| v != "1"), "{error}");
                return eprintln!("SKIPPED: {error}");
            }
        };
        let layout = device.layout(&[true]).unwrap();
        let broken = device.kernel(&layout, "broken", "fn main() { return up(1); }").err().expect("an unknown name");
        assert!(matches!(&broken, GpuError::Shader { name, .. } if name == "broken"), "{broken}");
        assert!(broken.to_string().contains("return up(1)"), "{broken}");
    }
}
