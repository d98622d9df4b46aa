use super::find::choose;
use super::pool::{Buffer, Pool, StagingPool};
use super::timer::StepTimer;
use super::{AdapterChoice, AdapterReport, GpuError, Groups, PARAMS_STRIDE, Step};
use bytemuck::NoUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// An open device with its one queue.
pub(crate) struct Device {
    pub report: AdapterReport,
    /// Whether kernels may use operations within subgroups.
    pub subgroups: bool,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pool: Arc<Pool>,
    pub(super) staging: StagingPool,
    /// The reason why the device is lost, or unusable after an error outside of [`checked`](Device::checked). A lost
    /// device stays lost.
    lost: Arc<OnceLock<String>>,
    /// The number of submissions before the device pretends to be lost, for tests.
    until_lost: AtomicU32,
    /// Measures every step, if that is wanted.
    timer: OnceLock<StepTimer>,
}

/// The layout of the buffers of kernels: a uniform buffer of parameters, and storage buffers.
pub(crate) struct Layout {
    /// The bindings of the storage buffers.
    storage: Vec<u32>,
    groups: wgpu::BindGroupLayout,
    pipelines: wgpu::PipelineLayout,
}

/// A compiled kernel.
pub(crate) struct Kernel(wgpu::ComputePipeline);

/// Bound buffers, which stay in use as long as this exists.
pub(crate) struct Bound {
    group: wgpu::BindGroup,
    _buffers: Vec<Buffer>,
}

impl Device {
    /// Opens an adapter with all of its limits, or with no more than those that WebGPU guarantees.
    pub(crate) async fn open(choice: AdapterChoice, guaranteed: bool) -> Result<Device, GpuError> {
        let (report, adapter) = choose(choice).await?;
        let limits = if guaranteed { wgpu::Limits::defaults() } else { adapter.limits() };
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            required_features: adapter.features() & (wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY),
            required_limits: limits,
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&descriptor)
            .await
            .map_err(|e| GpuError::Open { adapter: report.name.clone(), reason: e.to_string() })?;
        let lost = Arc::new(OnceLock::new());
        let slot = lost.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| _ = slot.set(error.to_string())));
        let slot = lost.clone();
        device.set_device_lost_callback(move |_, text| _ = slot.set(text));
        let subgroups = device.features().contains(wgpu::Features::SUBGROUP);
        let (pool, staging) = (Pool::new(report.kind == "discrete"), StagingPool::default());
        let (until_lost, timer) = (AtomicU32::new(0), OnceLock::new());
        let this = Device { report, subgroups, device, queue, pool, staging, lost, until_lost, timer };
        this.check_lost()?;
        Ok(this)
    }

    /// A layout of storage buffers, given for each the binding and whether it is read-only.
    pub(crate) async fn layout(&self, storage: &[(u32, bool)]) -> Result<Layout, GpuError> {
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
        let of_storage = |&(binding, read_only): &_| entry(binding, wgpu::BufferBindingType::Storage { read_only });
        entries.extend(storage.iter().map(of_storage));
        let storage = storage.iter().map(|entry| entry.0).collect();
        self.checked(|device| {
            let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
            let groups = device.create_bind_group_layout(&descriptor);
            let pipelines = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&groups)],
                immediate_size: 0,
            });
            Layout { storage, groups, pipelines }
        })
        .await
    }

    /// Calls `f` and returns the first error of the operations in it. Operations of other threads do not count: error
    /// scopes belong to a thread. `f` must not hand work to a thread pool, which may run other work on this thread.
    ///
    /// # Errors
    /// [`GpuError::Lost`] if the device is lost, before or after `f`; otherwise the error.
    pub(super) async fn checked<T>(&self, f: impl FnOnce(&wgpu::Device) -> T) -> Result<T, GpuError> {
        self.check_lost()?;
        let kinds = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
        let scopes = kinds.map(|kind| self.device.push_error_scope(kind));
        let result = f(&self.device);
        // Scopes end in reverse order, and before another thread may go on with this work.
        let errors: Vec<_> = scopes.into_iter().rev().map(|scope| scope.pop()).collect();
        let mut error = None;
        for found in errors {
            error = error.or(found.await);
        }
        self.check_lost()?;
        match error {
            None => Ok(result),
            Some(error @ wgpu::Error::OutOfMemory { .. }) => Err(GpuError::OutOfMemory(error.to_string())),
            Some(error) => Err(GpuError::Failed(error.to_string())),
        }
    }

    /// # Errors
    /// [`GpuError::Lost`] if the device is lost.
    fn check_lost(&self) -> Result<(), GpuError> {
        self.lost.get().map_or(Ok(()), |reason| Err(GpuError::Lost(reason.clone())))
    }

    /// Compiles the entry point `main` of a WGSL text.
    pub(crate) async fn kernel(&self, layout: &Layout, name: &str, text: &str) -> Result<Kernel, GpuError> {
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(name), source };
        let pipeline = self.checked(|device| {
            // SAFETY: all loops of our shaders terminate, and the shaders index within their buffers, which the program
            // sizes for their contents.
            let module =
                unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) };
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&layout.pipelines),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        });
        pipeline.await.map(Kernel).map_err(|error| match error {
            GpuError::Failed(message) => GpuError::Shader { name: name.to_owned(), message },
            other => other,
        })
    }

    /// Largest size of a buffer bound to a kernel, in bytes.
    pub(crate) fn max_binding(&self) -> u64 {
        let limits = self.device.limits();
        // Kernels index words and cells with 32 bits.
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(u32::MAX.into()) & !255
    }

    /// The most storage buffers of a kernel.
    pub(crate) fn storage_buffers(&self) -> u32 {
        self.device.limits().max_storage_buffers_per_shader_stage
    }

    /// A zeroed buffer for kernels, of at least this size.
    pub(crate) async fn buffer(&self, what: &str, bytes: u64) -> Result<Buffer, GpuError> {
        let buffer = self.unset_buffer(what, bytes).await?;
        self.clear(&buffer, buffer.size()).await?;
        Ok(buffer)
    }

    /// Zeroes the first bytes of a buffer.
    pub(crate) async fn clear(&self, buffer: &Buffer, bytes: u64) -> Result<(), GpuError> {
        self.submit_commands(|encoder| encoder.clear_buffer(buffer, 0, Some(bytes))).await.map(drop)
    }

    /// A buffer for kernels, of at least this size, with the contents of an earlier buffer or zeros.
    pub(crate) async fn unset_buffer(&self, what: &str, bytes: u64) -> Result<Buffer, GpuError> {
        let limit = self.max_binding();
        if bytes > limit {
            return Err(GpuError::TooLarge { what: what.to_owned(), needed: bytes, limit });
        }
        if let Some(buffer) = self.pool.take(bytes) {
            return Ok(buffer);
        }
        // A size that buffers of other batches are likely to have, too.
        let size = bytes.max(16).next_multiple_of((bytes.next_power_of_two() / 16).max(4)).min(limit);
        let create = async || {
            self.pool.check(size)?;
            self.create(what, size, STORAGE).await
        };
        let mut created = create().await;
        if matches!(created, Err(GpuError::OutOfMemory(_))) && self.pool.clear() {
            self.wait().await?;
            created = create().await;
        }
        Ok(self.pool.adopt(created?))
    }

    pub(super) async fn create(
        &self,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        self.checked(|device| device.create_buffer(&descriptor)).await
    }

    /// A uniform buffer for `sets` sets of parameters, one every [`PARAMS_STRIDE`] bytes.
    pub(crate) async fn params(&self, sets: u64) -> Result<wgpu::Buffer, GpuError> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        self.create("parameters", sets * PARAMS_STRIDE, usage).await
    }

    /// Writes these contents to a buffer from the byte `offset` on, before the next submission.
    pub(crate) async fn write(
        &self,
        buffer: &wgpu::Buffer,
        offset: u64,
        contents: &[impl NoUninit],
    ) -> Result<(), GpuError> {
        self.checked(|_| self.queue.write_buffer(buffer, offset, bytemuck::cast_slice(contents))).await
    }

    /// Binds the parameters and the storage buffers, in order.
    pub(crate) async fn bind(
        &self,
        layout: &Layout,
        params: &wgpu::Buffer,
        storage: &[&Buffer],
    ) -> Result<Bound, GpuError> {
        let size = std::num::NonZeroU64::new(PARAMS_STRIDE);
        let params = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: params, offset: 0, size });
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: params }];
        for (&binding, buffer) in layout.storage.iter().zip(storage) {
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        }
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout.groups, entries: &entries };
        let group = self.checked(|device| device.create_bind_group(&descriptor)).await?;
        Ok(Bound { group, _buffers: storage.iter().map(|&buffer| buffer.clone()).collect() })
    }

    /// From now on measures the time of every step on the GPU; each submission then waits for its end.
    ///
    /// # Errors
    /// If the GPU has no timestamps.
    pub(crate) async fn time_steps(&self) -> Result<(), GpuError> {
        if !self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(GpuError::Failed(format!("{} has no timestamps", self.report.name)));
        }
        let period = self.queue.get_timestamp_period();
        let timer = self.checked(|device| StepTimer::new(device, period)).await?;
        _ = self.timer.set(timer);
        Ok(())
    }

    /// Submits steps, which run one after the other, without waiting for them. Returns the seconds of each step if they are
    /// [measured](Device::time_steps), otherwise nothing.
    pub(crate) async fn submit<'a>(&self, steps: impl IntoIterator<Item = Step<'a>>) -> Result<Vec<f64>, GpuError> {
        let steps: Vec<Step<'a>> = steps.into_iter().collect();
        let timer = self.timer.get();
        self.submit_commands(|encoder| {
            let parts = if timer.is_some() { steps.chunks(1) } else { steps.chunks(steps.len().max(1)) };
            for (number, part) in (0..).zip(parts) {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: None,
                    timestamp_writes: timer.map(|timer| timer.around(number)),
                });
                part.iter().for_each(|step| step.record(&mut pass));
            }
            if let Some(timer) = timer {
                timer.resolve(encoder, steps.len());
            }
        })
        .await?;
        if self.until_lost.fetch_sub(1, Relaxed) == 1 {
            self.device.destroy();
            _ = self.lost.set("a test simulated the loss".to_owned());
        }
        match timer {
            Some(timer) => Ok(timer.seconds(&self.read(&timer.ticks, 2 * steps.len()).await?)),
            None => Ok(Vec::new()),
        }
    }

    pub(super) async fn submit_commands(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        self.checked(|device| {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder);
            self.queue.submit([encoder.finish()])
        })
        .await
    }

    /// Limits the bytes of all buffers for kernels, for tests.
    pub(crate) fn limit_memory(&self, bytes: u64) {
        self.pool.set_limit(bytes);
    }

    /// Simulates a loss of the device after this many submissions, for tests.
    pub(crate) fn lose_after(&self, submissions: u32) {
        self.until_lost.store(submissions, Relaxed);
    }

    /// Waits for all submitted steps.
    pub(crate) async fn wait(&self) -> Result<(), GpuError> {
        self.poll(wgpu::PollType::wait_indefinitely()).await
    }

    pub(super) async fn poll(&self, wait: wgpu::PollType) -> Result<(), GpuError> {
        let polled = self.checked(|device| device.poll(wait)).await?;
        polled.map(drop).map_err(|e| GpuError::Failed(e.to_string()))
    }
}

impl Step<'_> {
    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.kernel.0);
        pass.set_bind_group(0, &self.bound.group, &[self.params * PARAMS_STRIDE as u32]);
        match self.groups {
            Groups::Fixed(groups) => pass.dispatch_workgroups(groups, 1, 1),
            Groups::Stored(buffer, at) => pass.dispatch_workgroups_indirect(buffer, at),
        }
    }
}

/// The uses of a buffer for kernels.
const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::INDIRECT);

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::gpu::AdapterChoice;
    use pollster::block_on;

    /// What was opened, or `None` if there is no GPU, which skips the test.
    pub(crate) fn opened<T>(result: Result<T, GpuError>) -> Option<T> {
        match result {
            Ok(opened) => Some(opened),
            Err(error) => {
                crate::skip::skip(&error.to_string());
                None
            }
        }
    }

    pub(in crate::gpu) fn device() -> Option<Device> {
        opened(block_on(Device::open(AdapterChoice::Any, true)))
    }

    #[test]
    fn a_buffer_is_used_again_and_zeroed() {
        let Some(device) = device() else { return };
        let contents: Vec<u32> = (1..=5000).collect();
        let buffer = block_on(device.buffer_with("numbers", &contents)).unwrap();
        assert_eq!(block_on(device.read::<u32>(&buffer, 5000)).unwrap(), contents);
        let first = wgpu::Buffer::clone(&buffer);
        let clone = buffer.clone();
        drop(buffer);
        // A clone is still in use.
        let other = block_on(device.unset_buffer("other numbers", 20_000)).unwrap();
        assert!(*other != first);
        drop(clone);
        let again = block_on(device.buffer("zeros", 19_000)).unwrap();
        assert!(*again == first);
        assert_eq!(block_on(device.read::<u32>(&again, 4750)).unwrap(), vec![0; 4750]);
        // A much smaller buffer has memory of its own.
        assert!(block_on(device.buffer("few zeros", 100)).unwrap().size() < 200);
        // The free buffers give way to one that none of them fits.
        drop((other, again));
        device.limit_memory(50_000);
        let large = block_on(device.buffer("many zeros", 45_000)).unwrap();
        assert!(matches!(block_on(device.buffer("too many", 20_000)), Err(GpuError::OutOfMemory(_))));
        drop(large);
        block_on(device.buffer("many", 20_000)).unwrap();
    }

    /// An error belongs to the thread that causes it, also if another thread uses the device at the same time.
    #[test]
    fn threads_do_not_take_errors_of_each_other() {
        let Some(device) = device() else { return };
        let too_large = wgpu::BufferDescriptor {
            label: None,
            size: device.device.limits().max_buffer_size + 4,
            usage: STORAGE,
            mapped_at_creation: false,
        };
        let failed = block_on(device.checked(|inner| {
            let buffer = inner.create_buffer(&too_large);
            std::thread::scope(|scope| {
                let other = || {
                    let buffer = block_on(device.buffer_with("numbers", &[1u32, 2]))?;
                    block_on(device.read::<u32>(&buffer, 2))
                };
                assert_eq!(scope.spawn(other).join().unwrap().unwrap(), [1, 2]);
            });
            buffer
        }));
        assert!(matches!(failed, Err(GpuError::Failed(_))), "{failed:?}");
        block_on(device.wait()).unwrap();
    }

    #[test]
    fn a_submission_that_fails_is_an_error() {
        let Some(device) = device() else { return };
        let buffer = block_on(device.buffer("zeros", 1000)).unwrap();
        let gone = block_on(device.create("destroyed", 1000, STORAGE)).unwrap();
        gone.destroy();
        let copied =
            block_on(device.submit_commands(|encoder| encoder.copy_buffer_to_buffer(&gone, 0, &buffer, 0, Some(1000))));
        assert!(matches!(copied, Err(GpuError::Failed(_))), "{copied:?}");
        assert!(matches!(block_on(device.write(&gone, 0, &[1u32])), Err(GpuError::Failed(_))));
        assert_eq!(block_on(device.read::<u32>(&buffer, 250)).unwrap(), vec![0; 250]);
    }

    /// An error outside of the device's own operations does not pass unnoticed: the device counts as lost.
    #[test]
    fn an_error_that_nobody_checks_for_ends_the_use_of_the_device() {
        let Some(device) = device() else { return };
        let _ = device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: device.device.limits().max_buffer_size + 4,
            usage: STORAGE,
            mapped_at_creation: false,
        });
        assert!(matches!(block_on(device.buffer("zeros", 16)), Err(GpuError::Lost(_))));
    }

    #[test]
    fn a_kernel_that_does_not_compile_is_shown() {
        let Some(device) = device() else { return };
        let layout = block_on(device.layout(&[(1, true)])).unwrap();
        let broken =
            block_on(device.kernel(&layout, "broken", "fn main() { return up(1); }")).err().expect("an unknown name");
        assert!(matches!(&broken, GpuError::Shader { name, .. } if name == "broken"), "{broken}");
        assert!(broken.to_string().contains("return up(1)"), "{broken}");
    }
}
