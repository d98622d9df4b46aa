//! Buffers that are used again: those of kernels, because a driver takes as long to allocate and free gigabytes as a batch
//! takes to be solved, and those through which the host copies.

use super::error::GpuError;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A buffer for kernels. When the last of its clones is dropped, its memory returns to the pool of its device.
#[derive(Clone)]
pub(crate) struct Buffer(Arc<Pooled>);

struct Pooled {
    buffer: wgpu::Buffer,
    pool: Arc<Pool>,
}

impl Deref for Buffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.0.buffer
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.put(self.buffer.clone());
    }
}

/// The buffers of a device, in use and free. Together they take no more memory than the most that was in use at the same
/// time; on a GPU with its own memory twice as much, enough for batches of different sizes in turn. When the memory runs
/// out, the device clears the free ones.
pub(super) struct Pool {
    contents: Mutex<Contents>,
    has_own_memory: bool,
    /// The most bytes of all buffers, for tests.
    limit: AtomicU64,
}

#[derive(Default)]
struct Contents {
    /// The free buffers; the one that was used last is last.
    free: Vec<wgpu::Buffer>,
    /// Bytes of the buffers in use, now and at the most.
    used: u64,
    most_used: u64,
}

impl Contents {
    /// Bytes of all buffers.
    fn bytes(&self) -> u64 {
        self.used + self.free.iter().map(wgpu::Buffer::size).sum::<u64>()
    }
}

impl Pool {
    pub(super) fn new(has_own_memory: bool) -> Arc<Pool> {
        Arc::new(Pool { contents: Mutex::default(), has_own_memory, limit: u64::MAX.into() })
    }

    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Relaxed);
    }

    /// # Errors
    /// [`GpuError::OutOfMemory`] if another buffer of this size is beyond the limit.
    pub(super) fn check(&self, bytes: u64) -> Result<(), GpuError> {
        let (needed, limit) = (bytes + self.contents().bytes(), self.limit.load(Relaxed));
        if needed > limit {
            return Err(GpuError::OutOfMemory(format!("{needed} bytes are needed, and {limit} allowed")));
        }
        Ok(())
    }

    /// The smallest free buffer that has this many bytes and at most a quarter more.
    pub(super) fn take(self: &Arc<Pool>, bytes: u64) -> Option<Buffer> {
        let mut contents = self.contents();
        let fits = |buffer: &wgpu::Buffer| (bytes..=bytes + bytes / 4).contains(&buffer.size());
        let fitting = contents.free.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let (at, _) = fitting.min_by_key(|(_, buffer)| buffer.size())?;
        let buffer = contents.free.remove(at);
        drop(contents);
        Some(self.adopt(buffer))
    }

    /// A new buffer as one of the pool's.
    pub(super) fn adopt(self: &Arc<Pool>, buffer: wgpu::Buffer) -> Buffer {
        let mut contents = self.contents();
        contents.used += buffer.size();
        contents.most_used = contents.most_used.max(contents.used);
        self.trim(&mut contents);
        Buffer(Arc::new(Pooled { buffer, pool: self.clone() }))
    }

    /// Frees the memory of all free buffers. Returns whether there were any.
    pub(super) fn clear(&self) -> bool {
        !std::mem::take(&mut self.contents().free).is_empty()
    }

    fn put(&self, buffer: wgpu::Buffer) {
        let mut contents = self.contents();
        contents.used -= buffer.size();
        contents.free.push(buffer);
        self.trim(&mut contents);
    }

    /// Frees the buffers that were used longest ago until the others are within the bound.
    fn trim(&self, contents: &mut Contents) {
        let most = contents.most_used * if self.has_own_memory { 2 } else { 1 };
        while contents.bytes() > most && !contents.free.is_empty() {
            contents.free.remove(0);
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer that the host maps, with the submission that used it last.
pub(super) struct Staging {
    pub buffer: wgpu::Buffer,
    pub used_by: Option<wgpu::SubmissionIndex>,
}

/// The free staging buffers of a device, for each direction.
#[derive(Default)]
pub(super) struct StagingPool {
    reading: Mutex<Vec<Staging>>,
    writing: Mutex<Vec<Staging>>,
}

impl StagingPool {
    /// At most `count` buffers of at least this size.
    pub(super) fn take(&self, mode: wgpu::MapMode, bytes: u64, count: usize) -> Vec<Staging> {
        let mut free = self.free(mode);
        let mut taken = Vec::new();
        while let Some(at) = free.iter().position(|staging| staging.buffer.size() >= bytes)
            && taken.len() < count
        {
            taken.push(free.swap_remove(at));
        }
        taken
    }

    pub(super) fn put(&self, mode: wgpu::MapMode, all: Vec<Staging>) {
        self.free(mode).extend(all);
    }

    fn free(&self, mode: wgpu::MapMode) -> MutexGuard<'_, Vec<Staging>> {
        let list = if mode == wgpu::MapMode::Read { &self.reading } else { &self.writing };
        list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
