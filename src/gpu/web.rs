//! The GPU of a browser, through functions of the page's scripts: `crates/explorer/src/site/gpu.js`. Everything runs on one
//! thread, and one operation is awaited at a time: after the end of an operation the scripts poll the task that awaits it.

use super::{AdapterChoice, AdapterReport, GpuError, Groups, PARAMS_STRIDE, Part, Step};
use bytemuck::{AnyBitPattern, NoUninit};
use serde::Deserialize;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::Arc;
use std::task::Poll;

// Objects are numbered from 1 on. The scripts report errors of all functions at the end of the next awaited operation.
#[link(wasm_import_module = "gpu")]
unsafe extern "C" {
    // Opens the GPU; awaited.
    safe fn open();
    // A new zeroed buffer of this size, for kernels or for parameters.
    safe fn buffer(bytes: f64, is_params: u32) -> u32;
    fn write(buffer: u32, at: f64, from: *const u8, bytes: usize);
    safe fn clear(buffer: u32, bytes: f64);
    // Copies a part of a buffer to memory; awaited.
    fn read(buffer: u32, at: f64, bytes: usize, to: *mut u8);
    // A layout; by storage buffer, its binding and whether it is read-only.
    fn layout(storage: *const [u32; 2], count: usize) -> u32;
    // A kernel, compiled from its WGSL; awaited.
    fn kernel(layout: u32, text: *const u8, bytes: usize) -> u32;
    fn bind(layout: u32, params: u32, storage: *const u32, count: usize) -> u32;
    // Submits steps: kernel, bound buffers, the offset of the parameters, the number of workgroups, and if that is in a
    // buffer, the buffer and the offset there.
    fn submit(steps: *const [u32; 6], count: usize);
    // Waits for all submitted steps; awaited.
    safe fn wait();
    // Forgets an object; a buffer's memory is freed.
    safe fn release(object: u32);
    // Copies the beginning of the answer of the last awaited operation, in JSON, and returns its length.
    fn answer(to: *mut u8, capacity: usize) -> usize;
}

/// The answer of an awaited operation.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Opened(Opened),
    Done,
    None,
    OutOfMemory(String),
    Lost(String),
    Failed(String),
}

/// The GPU, as the browser describes it.
#[derive(Deserialize)]
struct Opened {
    name: String,
    software: bool,
    max_binding: u64,
    max_buffer: u64,
    storage_buffers: u32,
    workgroup_memory: u32,
    workgroup_invocations: u32,
}

/// Awaits the operation that was just begun.
async fn finished() -> Result<Answer, GpuError> {
    let mut polled = false;
    poll_fn(|_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    let mut bytes = vec![0; 4096];
    // SAFETY: the function writes at most as many bytes as there are.
    let len = unsafe { answer(bytes.as_mut_ptr(), bytes.len()) };
    let read = serde_json::from_slice(bytes.get(..len).unwrap_or_default());
    match read.map_err(|error| GpuError::Failed(format!("the answer of the GPU cannot be read: {error}")))? {
        Answer::None => Err(GpuError::NoAdapter),
        Answer::OutOfMemory(reason) => Err(GpuError::OutOfMemory(reason)),
        Answer::Lost(reason) => Err(GpuError::Lost(reason)),
        Answer::Failed(reason) => Err(GpuError::Failed(reason)),
        answer => Ok(answer),
    }
}

/// An object of the scripts.
struct Object(u32);

impl Drop for Object {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// A buffer.
pub(crate) struct RawBuffer {
    object: Object,
    size: u64,
}

/// A buffer for kernels.
#[derive(Clone)]
pub(crate) struct Buffer(Arc<RawBuffer>);

impl Deref for Buffer {
    type Target = RawBuffer;

    fn deref(&self) -> &RawBuffer {
        &self.0
    }
}

pub(crate) struct Layout(Object);
pub(crate) struct Kernel(Object);

/// Bound buffers, which stay in use as long as this exists.
pub(crate) struct Bound {
    group: Object,
    _buffers: Vec<Buffer>,
}

/// The GPU, open.
pub(crate) struct Device {
    pub report: AdapterReport,
    /// Whether kernels may use operations within subgroups.
    pub subgroups: bool,
}

impl Device {
    /// Opens the GPU that the browser chooses.
    pub(crate) async fn open(_: AdapterChoice, _guaranteed: bool) -> Result<Device, GpuError> {
        open();
        let Answer::Opened(opened) = finished().await? else { return Err(GpuError::NoAdapter) };
        let report = AdapterReport {
            name: opened.name,
            kind: if opened.software { "software" } else { "other" },
            driver: String::new(),
            backend: "webgpu".to_owned(),
            max_binding: opened.max_binding,
            max_buffer: opened.max_buffer,
            storage_buffers: opened.storage_buffers,
            workgroup_memory: opened.workgroup_memory,
            workgroup_invocations: opened.workgroup_invocations,
            subgroup_min: 0,
            subgroup_max: 0,
            unusable: None,
        };
        Ok(Device { report, subgroups: false })
    }

    /// A layout of storage buffers, given for each the binding and whether it is read-only.
    pub(crate) async fn layout(&self, storage: &[(u32, bool)]) -> Result<Layout, GpuError> {
        let storage: Vec<[u32; 2]> = storage.iter().map(|&(binding, read_only)| [binding, read_only.into()]).collect();
        // SAFETY: the function reads as many pairs as there are.
        Ok(Layout(Object(unsafe { layout(storage.as_ptr(), storage.len()) })))
    }

    /// Compiles the entry point `main` of a WGSL text.
    pub(crate) async fn kernel(&self, layout: &Layout, name: &str, text: &str) -> Result<Kernel, GpuError> {
        // SAFETY: the function reads the text, of this length, before it returns.
        let compiled = Kernel(Object(unsafe { kernel(layout.0.0, text.as_ptr(), text.len()) }));
        finished().await.map_err(|error| match error {
            GpuError::Failed(message) => GpuError::Shader { name: name.to_owned(), message },
            other => other,
        })?;
        Ok(compiled)
    }

    /// Largest size of a buffer bound to a kernel, in bytes.
    pub(crate) fn max_binding(&self) -> u64 {
        // Kernels index words and cells with 32 bits.
        self.report.max_binding.min(self.report.max_buffer).min(u32::MAX.into()) & !255
    }

    /// The most storage buffers of a kernel.
    pub(crate) fn storage_buffers(&self) -> u32 {
        self.report.storage_buffers
    }

    /// A zeroed buffer for kernels, of at least this size.
    pub(crate) async fn buffer(&self, what: &str, bytes: u64) -> Result<Buffer, GpuError> {
        self.unset_buffer(what, bytes).await
    }

    /// A buffer for kernels, of at least this size.
    pub(crate) async fn unset_buffer(&self, what: &str, bytes: u64) -> Result<Buffer, GpuError> {
        let limit = self.max_binding();
        if bytes > limit {
            return Err(GpuError::TooLarge { what: what.to_owned(), needed: bytes, limit });
        }
        let size = bytes.max(16).next_multiple_of(4);
        Ok(Buffer(Arc::new(RawBuffer { object: Object(buffer(size as f64, 0)), size })))
    }

    /// A buffer for kernels with these contents.
    pub(crate) async fn buffer_with(&self, what: &str, contents: &[impl NoUninit]) -> Result<Buffer, GpuError> {
        let buffer = self.unset_buffer(what, size_of_val(contents) as u64).await?;
        self.write(&buffer, 0, contents).await?;
        Ok(buffer)
    }

    /// Zeroes the first bytes of a buffer.
    pub(crate) async fn clear(&self, buffer: &Buffer, bytes: u64) -> Result<(), GpuError> {
        clear(buffer.object.0, bytes.min(buffer.size) as f64);
        Ok(())
    }

    /// A uniform buffer for `sets` sets of parameters, one every [`PARAMS_STRIDE`] bytes.
    pub(crate) async fn params(&self, sets: u64) -> Result<RawBuffer, GpuError> {
        let size = sets * PARAMS_STRIDE;
        Ok(RawBuffer { object: Object(buffer(size as f64, 1)), size })
    }

    /// Writes these contents to a buffer from the byte `offset` on, before the next submission.
    pub(crate) async fn write(
        &self,
        buffer: &RawBuffer,
        offset: u64,
        contents: &[impl NoUninit],
    ) -> Result<(), GpuError> {
        self.upload(buffer, offset, bytemuck::cast_slice(contents)).await
    }

    /// Copies `contents`, whose length is a multiple of 4, to a buffer from the byte `first` on.
    pub(crate) async fn upload(&self, buffer: &RawBuffer, first: u64, contents: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the function reads the contents, of this length, before it returns.
        unsafe { write(buffer.object.0, first as f64, contents.as_ptr(), contents.len()) };
        Ok(())
    }

    /// Binds the parameters and the storage buffers, in order.
    pub(crate) async fn bind(
        &self,
        layout: &Layout,
        params: &RawBuffer,
        storage: &[&Buffer],
    ) -> Result<Bound, GpuError> {
        let numbers: Vec<u32> = storage.iter().map(|buffer| buffer.object.0).collect();
        // SAFETY: the function reads as many numbers as there are.
        let group = Object(unsafe { bind(layout.0.0, params.object.0, numbers.as_ptr(), numbers.len()) });
        Ok(Bound { group, _buffers: storage.iter().map(|&buffer| buffer.clone()).collect() })
    }

    /// Submits steps, which run one after the other, without waiting for them.
    pub(crate) async fn submit<'a>(&self, steps: impl IntoIterator<Item = Step<'a>>) -> Result<Vec<f64>, GpuError> {
        let numbers = |Step { kernel, bound, params, groups }: Step<'a>| {
            let [groups, buffer, at] = match groups {
                Groups::Fixed(groups) => [groups, 0, 0],
                Groups::Stored(buffer, at) => [0, buffer.object.0, at as u32],
            };
            [kernel.0.0, bound.group.0, params * PARAMS_STRIDE as u32, groups, buffer, at]
        };
        let steps: Vec<[u32; 6]> = steps.into_iter().map(numbers).collect();
        // SAFETY: the function reads as many steps as there are.
        unsafe { submit(steps.as_ptr(), steps.len()) };
        Ok(Vec::new())
    }

    /// Waits for all submitted steps.
    pub(crate) async fn wait(&self) -> Result<(), GpuError> {
        wait();
        finished().await.map(drop)
    }

    /// Waits for all submitted steps and returns the first `count` elements of a buffer.
    pub(crate) async fn read<T: AnyBitPattern + NoUninit>(
        &self,
        buffer: &RawBuffer,
        count: usize,
    ) -> Result<Vec<T>, GpuError> {
        let mut all = vec![T::zeroed(); count];
        let bytes = size_of_val(&all[..]);
        self.read_into(&[(buffer, 0, bytes as u64)], bytemuck::cast_slice_mut(&mut all)).await?;
        Ok(all)
    }

    /// Waits for all submitted steps and copies these parts, one after the other, to `to`, which has their size.
    pub(crate) async fn read_into(&self, parts: &[Part<'_>], mut to: &mut [u8]) -> Result<(), GpuError> {
        for &(buffer, first, bytes) in parts {
            let (now, rest) = to.split_at_mut(bytes as usize);
            // SAFETY: the function writes as many bytes as there are, before the operation is finished. Until then this task
            // borrows them.
            unsafe { read(buffer.object.0, first as f64, now.len(), now.as_mut_ptr()) };
            finished().await?;
            to = rest;
        }
        Ok(())
    }

    /// Tests, which do not run here, limit the memory and simulate losses.
    pub(crate) fn limit_memory(&self, _: u64) {}

    pub(crate) fn lose_after(&self, _: u32) {}
}
