use super::GpuError;
use bytemuck::NoUninit;
use serde::Serialize;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
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

impl AdapterReport {
    fn new(adapter: &wgpu::Adapter) -> AdapterReport {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        };
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

    /// Whether the adapter is a software driver.
    fn is_software(&self) -> bool {
        self.kind == "software"
    }

    /// The rank of the adapter; smaller is better.
    fn rank(&self) -> u8 {
        match self.kind {
            "discrete" => 0,
            "integrated" => 1,
            "virtual" => 2,
            "other" => 3,
            _ => 4,
        }
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
            found.retain(|(report, _)| !report.is_software());
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
            note(
                &slot,
                match e {
                    wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory(e.to_string()),
                    _ => GpuError::Failed(e.to_string()),
                },
            );
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
        match self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Compiles the entry point `main` of a WGSL text with these values for its overrides, by number.
    pub(crate) fn kernel(
        &self,
        layout: &Layout,
        name: &str,
        text: &str,
        overrides: &[f64],
    ) -> Result<Kernel, GpuError> {
        // A value for an override that the text does not declare is an error.
        let declared = |(id, _): &(String, f64)| text.contains(&format!("@id({id})"));
        let ids: Vec<(String, f64)> =
            overrides.iter().enumerate().map(|(id, &value)| (id.to_string(), value)).filter(declared).collect();
        let constants: Vec<(&str, f64)> = ids.iter().map(|(id, value)| (id.as_str(), *value)).collect();
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
                constants: &constants,
                zero_initialize_workgroup_memory: false,
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
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let size = bytes.next_multiple_of(4).max(16);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage,
            mapped_at_creation: false,
        });
        self.check()?;
        Ok(buffer)
    }

    /// A buffer for kernels with these contents.
    pub(crate) fn buffer_with(&self, what: &str, contents: &[impl NoUninit]) -> Result<wgpu::Buffer, GpuError> {
        self.fits(what, size_of_val(contents) as u64)?;
        let contents = if contents.is_empty() { &[0; 16] } else { bytemuck::cast_slice(contents) };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let buffer =
            self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(what), contents, usage });
        self.check()?;
        Ok(buffer)
    }

    /// A uniform buffer for `sets` sets of parameters, one every [`PARAMS_STRIDE`] bytes.
    pub(crate) fn params(&self, sets: u64) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("parameters"),
            size: sets * PARAMS_STRIDE,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.check()?;
        Ok(buffer)
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

    /// Waits for all submitted steps and calls `f` with a range of bytes of a buffer.
    pub(crate) fn read<T>(
        &self,
        buffer: &wgpu::Buffer,
        offset: u64,
        bytes: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        let staging = self.staging(bytes)?;
        let mapped = self.fetch(buffer, offset, bytes, &staging);
        self.with_mapped(&staging, bytes, mapped, f)
    }

    /// Calls `f` with all bytes of these parts of buffers (buffer, offset, size), in order and in pieces. The next
    /// piece is copied while `f` runs.
    pub(crate) fn stream(&self, parts: &[(&wgpu::Buffer, u64, u64)], mut f: impl FnMut(&[u8])) -> Result<(), GpuError> {
        let pieces: Vec<(&wgpu::Buffer, u64, u64)> = parts
            .iter()
            .flat_map(|&(buffer, first, bytes)| {
                let piece = move |at: u64| (buffer, first + at, (bytes - at).min(PIECE));
                (0..bytes).step_by(PIECE as usize).map(piece)
            })
            .collect();
        let largest = pieces.iter().map(|piece| piece.2).max().unwrap_or(0);
        let staging = [self.staging(largest)?, self.staging(largest)?];
        let mut coming = None;
        for (i, (buffer, offset, bytes)) in pieces.into_iter().enumerate() {
            let here = &staging[i % 2];
            let before = coming.replace((here, bytes, self.fetch(buffer, offset, bytes, here)));
            if let Some((staging, bytes, mapped)) = before {
                self.with_mapped(staging, bytes, mapped, &mut f)?;
                staging.unmap();
            }
        }
        match coming {
            Some((staging, bytes, mapped)) => self.with_mapped(staging, bytes, mapped, f),
            None => Ok(()),
        }
    }

    /// A buffer for reading back from the device.
    fn staging(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes.max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.check()?;
        Ok(buffer)
    }

    /// Starts copying bytes of a buffer to a staging buffer and mapping it.
    fn fetch(&self, buffer: &wgpu::Buffer, offset: u64, bytes: u64, staging: &wgpu::Buffer) -> Mapped {
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

    /// Waits until a staging buffer is mapped and calls `f` with its bytes.
    fn with_mapped<T>(
        &self,
        staging: &wgpu::Buffer,
        bytes: u64,
        mapped: Mapped,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        let wait = wgpu::PollType::Wait { submission_index: Some(mapped.submission), timeout: None };
        let polled = self.device.poll(wait);
        self.check()?;
        polled.map_err(|e| GpuError::Failed(e.to_string()))?;
        // Another thread that waits for the device may have received this answer and be about to pass it on.
        match mapped.result.recv_timeout(ANSWER) {
            Ok(Ok(())) => {}
            Ok(Err(e)) => return Err(GpuError::Failed(e.to_string())),
            Err(_) => return Err(GpuError::Lost("it did not answer".to_owned())),
        }
        let range = staging.get_mapped_range(..bytes).map_err(|e| GpuError::Failed(e.to_string()))?;
        Ok(f(&range))
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
const PIECE: u64 = 32 << 20;

fn note(slot: &Mutex<Option<GpuError>>, error: GpuError) {
    slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
}
