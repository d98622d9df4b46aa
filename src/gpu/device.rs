use super::GpuError;
use serde::Serialize;
use std::sync::{Arc, Mutex};
use wgpu::util::DeviceExt;

/// An adapter, and what of its limits matters here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterReport {
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    pub driver: String,
    pub backend: String,
    /// Bytes of the largest buffer that a kernel sees.
    pub max_binding: u64,
    /// Bytes of the largest buffer.
    pub max_buffer: u64,
    /// Buffers that a kernel sees at once.
    pub storage_buffers: u32,
    /// Bytes that a work group shares.
    pub workgroup_memory: u32,
    pub workgroup_invocations: u32,
    pub subgroup_min: u32,
    pub subgroup_max: u32,
}

/// Which adapter to take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A real card only.
    Hardware,
    /// The best there is, software if nothing else.
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

    /// Whether it is a program that plays a card.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }

    /// Smaller is better.
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

/// Whether the system shows a card at all. Asking costs nothing, while loading drivers takes a while, and some of them write
/// to stderr.
fn may_have_card() -> bool {
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
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    pipeline_layout: wgpu::PipelineLayout,
    /// The first error that nothing else caught.
    error: Arc<Mutex<Option<GpuError>>>,
    storage_buffers: u32,
}

/// A compiled kernel.
pub(crate) struct Kernel(wgpu::ComputePipeline);

/// One run of a kernel.
pub(crate) struct Dispatch<'a> {
    pub kernel: &'a Kernel,
    /// Where its parameters start in the uniform buffer.
    pub params: u32,
    pub groups: u32,
}

/// Bytes from one set of parameters to the next.
pub(crate) const PARAMS_STRIDE: u64 = 256;

impl Device {
    /// Opens an adapter for kernels that see a uniform buffer (parameters) and `read_only.len()` storage buffers.
    pub fn open(choice: Choice, read_only: &[bool]) -> Result<Device, GpuError> {
        if choice == Choice::Hardware && !may_have_card() {
            return Err(GpuError::NoAdapter);
        }
        let mut found = find();
        if found.is_empty() {
            return Err(GpuError::NoAdapter);
        }
        if choice == Choice::Hardware {
            found.retain(|(report, _)| !report.is_software());
        }
        let (report, adapter) = found.into_iter().next().ok_or(GpuError::OnlySoftware)?;
        let storage_buffers = read_only.len() as u32;
        if report.storage_buffers < storage_buffers {
            let reason =
                format!("it binds {} storage buffers, and {storage_buffers} are needed", report.storage_buffers);
            return Err(GpuError::Open { adapter: report.name, reason });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            required_features: wgpu::Features::empty(),
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
        let slot = error.clone();
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&slot, GpuError::Lost(text));
            }
        });
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
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let this = Device { report, device, queue, layout, pipeline_layout, error, storage_buffers };
        this.check()?;
        Ok(this)
    }

    /// The first error so far, once.
    pub fn check(&self) -> Result<(), GpuError> {
        match self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Compiles the `main` of a WGSL text.
    pub fn kernel(&self, name: &str, source: &str) -> Result<Kernel, GpuError> {
        let descriptor =
            wgpu::ShaderModuleDescriptor { label: Some(name), source: wgpu::ShaderSource::Wgsl(source.into()) };
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        checks.force_loop_bounding = false;
        // SAFETY: all loops of our shaders end; every other check stays.
        let module = unsafe { self.device.create_shader_module_trusted(descriptor, checks) };
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&self.pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        self.check()?;
        Ok(Kernel(pipeline))
    }

    /// Bytes of the largest buffer that a kernel can see.
    pub fn max_binding(&self) -> u64 {
        self.report.max_binding.min(self.report.max_buffer) & !255
    }

    /// A buffer of zeros for kernels.
    pub fn buffer(&self, what: &str, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
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
    pub fn buffer_with(&self, what: &str, contents: &[u32]) -> Result<wgpu::Buffer, GpuError> {
        self.fits(what, size_of_val(contents) as u64)?;
        let contents = if contents.is_empty() { &[0; 4] } else { contents };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(what),
            contents: bytemuck::cast_slice(contents),
            usage,
        });
        self.check()?;
        Ok(buffer)
    }

    /// A uniform buffer of parameters, a set every [`PARAMS_STRIDE`] bytes.
    pub fn params(&self, sets: u64) -> Result<wgpu::Buffer, GpuError> {
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

    pub fn write(&self, buffer: &wgpu::Buffer, offset: u64, contents: &[u32]) {
        self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(contents));
    }

    /// Binds the parameters and the storage buffers, in order.
    pub fn bind(&self, params: &wgpu::Buffer, storage: &[&wgpu::Buffer]) -> Result<wgpu::BindGroup, GpuError> {
        debug_assert_eq!(storage.len(), self.storage_buffers as usize);
        let params = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: params,
            offset: 0,
            size: std::num::NonZeroU64::new(PARAMS_STRIDE),
        });
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: params }];
        entries.extend(
            (1..)
                .zip(storage)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        });
        self.check()?;
        Ok(group)
    }

    /// Runs kernels one after the other, without waiting for them.
    pub fn submit(&self, group: &wgpu::BindGroup, dispatches: &[Dispatch<'_>]) {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for dispatch in dispatches {
                pass.set_pipeline(&dispatch.kernel.0);
                pass.set_bind_group(0, group, &[dispatch.params]);
                pass.dispatch_workgroups(dispatch.groups, 1, 1);
            }
        }
        self.queue.submit([encoder.finish()]);
    }

    /// Waits for all that was submitted and calls `f` with these bytes of a buffer.
    pub fn read<T>(
        &self,
        buffer: &wgpu::Buffer,
        offset: u64,
        bytes: u64,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("what is read back"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.check()?;
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, Some(bytes));
        self.queue.submit([encoder.finish()]);
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(mapped);
        });
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| GpuError::Failed(e.to_string()))?;
        self.check()?;
        match result.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            Some(Ok(())) => {}
            Some(Err(e)) => return Err(GpuError::Failed(e.to_string())),
            None => return Err(GpuError::Lost("it did not answer".to_owned())),
        }
        let range = staging.get_mapped_range(..).map_err(|e| GpuError::Failed(e.to_string()))?;
        Ok(f(&range))
    }
}

fn note(slot: &Mutex<Option<GpuError>>, error: GpuError) {
    slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
}
