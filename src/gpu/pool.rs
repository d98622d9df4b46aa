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

/// The buffers of a device. The free ones keep their memory, as long as all together take no more than were in use at the
/// same time, or on a card with its own memory twice as much, enough for batches of different sizes in turn. When the
/// memory of the card runs out, the free ones are freed.
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

    /// Whether another buffer is within the limit.
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

    /// Frees the memory of all free buffers; whether there was one.
    pub(super) fn clear(&self) -> bool {
        !std::mem::take(&mut self.contents().free).is_empty()
    }

    fn put(&self, buffer: wgpu::Buffer) {
        let mut contents = self.contents();
        contents.used -= buffer.size();
        contents.free.push(buffer);
        self.trim(&mut contents);
    }

    /// Frees the buffers that were used longest ago, as far as there are too many.
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

#[cfg(test)]
mod tests {
    use super::GpuError;
    use crate::gpu::device::tests::device;

    #[test]
    fn a_buffer_is_used_again_and_zeroed() {
        let Some(device) = device() else { return };
        let contents: Vec<u32> = (1..=5000).collect();
        let buffer = device.buffer_with("numbers", &contents).unwrap();
        assert_eq!(device.read::<u32>(&buffer, 5000).unwrap(), contents);
        let first = wgpu::Buffer::clone(&buffer);
        let clone = buffer.clone();
        drop(buffer);
        // A clone is still in use.
        let other = device.unset_buffer("other numbers", 20_000).unwrap();
        assert!(*other != first);
        drop(clone);
        let again = device.buffer("zeros", 19_000).unwrap();
        assert!(*again == first);
        assert_eq!(device.read::<u32>(&again, 4750).unwrap(), vec![0; 4750]);
        // A much smaller buffer has memory of its own.
        assert!(device.buffer("few zeros", 100).unwrap().size() < 200);
        // The free buffers give way to one that none of them fits.
        drop((other, again));
        device.limit_memory(50_000);
        let large = device.buffer("many zeros", 45_000).unwrap();
        assert!(matches!(device.buffer("too many", 20_000), Err(GpuError::OutOfMemory(_))));
        drop(large);
        device.buffer("many", 20_000).unwrap();
    }
}
