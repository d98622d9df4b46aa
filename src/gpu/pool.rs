//! Buffers on the device whose memory is used again, because a driver takes longer to allocate and free gigabytes than a
//! batch takes to be solved.

use std::ops::Deref;
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

/// The free buffers of a device: at most twice as many bytes as were in use at the same time, enough for batches of
/// different sizes in turn. Where the device has less memory, they are freed when it runs out.
#[derive(Default)]
pub(super) struct Pool(Mutex<Contents>);

#[derive(Default)]
struct Contents {
    /// The free buffers; the one that was used last is last.
    free: Vec<wgpu::Buffer>,
    /// Bytes of the buffers in use, now and at the most.
    used: u64,
    most_used: u64,
}

impl Pool {
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
        let mut bytes: u64 = contents.free.iter().map(wgpu::Buffer::size).sum();
        while bytes > 2 * contents.most_used {
            bytes -= contents.free.remove(0).size();
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
