//! Copies between the host and the device, in pieces through a few staging buffers that are used again.

use super::pool::{Buffer, Staging};
use super::{Device, GpuError, Part};
use bytemuck::{AnyBitPattern, NoUninit};
use rayon::prelude::*;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Bytes of a piece.
const PIECE: usize = 32 << 20;
/// Bytes that a thread copies at a time.
const PART: usize = 1 << 20;
/// The number of staging buffers: the host copies one piece while the device copies another one.
const IN_FLIGHT: usize = 3;

impl Device {
    /// A buffer for kernels with these contents.
    pub(crate) async fn buffer_with(&self, what: &str, contents: &[impl NoUninit]) -> Result<Buffer, GpuError> {
        let buffer = self.unset_buffer(what, size_of_val(contents) as u64).await?;
        self.upload(&buffer, 0, bytemuck::cast_slice(contents)).await?;
        Ok(buffer)
    }

    /// Waits for all submitted steps and returns the first `count` elements of a buffer.
    pub(crate) async fn read<T: AnyBitPattern + NoUninit>(
        &self,
        buffer: &wgpu::Buffer,
        count: usize,
    ) -> Result<Vec<T>, GpuError> {
        let mut all = Vec::with_capacity(count);
        let bytes = (count * size_of::<T>()) as u64;
        self.stream(&[(buffer, 0, bytes)], |piece| all.extend(bytemuck::pod_collect_to_vec::<u8, T>(piece))).await?;
        Ok(all)
    }

    /// Waits for all submitted steps and copies these parts, one after the other, to `to`, which has their size.
    pub(crate) async fn read_into(&self, parts: &[Part<'_>], mut to: &mut [u8]) -> Result<(), GpuError> {
        self.stream(parts, |piece| {
            let (now, rest) = std::mem::take(&mut to).split_at_mut(piece.len());
            now.par_chunks_mut(PART).zip(piece.par_chunks(PART)).for_each(|(to, from)| to.copy_from_slice(from));
            to = rest;
        })
        .await
    }

    /// Waits for all submitted steps and calls `f` with the bytes of these parts, in order and in pieces. The next pieces
    /// are copied while `f` runs.
    async fn stream(&self, parts: &[Part<'_>], mut f: impl FnMut(&[u8])) -> Result<(), GpuError> {
        let pieces: Vec<Part<'_>> = parts
            .iter()
            .flat_map(|&(buffer, first, bytes)| {
                let size = move |at| (PIECE as u64).min(bytes - at);
                (0..bytes).step_by(PIECE).map(move |at| (buffer, first + at, size(at)))
            })
            .collect();
        let largest = pieces.iter().map(|piece| piece.2).max().unwrap_or(0);
        let mut staging = self.staging(wgpu::MapMode::Read, largest, pieces.len()).await?;
        let n = staging.len();
        for i in 0..pieces.len() + n {
            if i >= n
                && let Some(&(_, _, bytes)) = pieces.get(i - n)
            {
                let Staging { buffer, used_by } = &staging[i % n];
                self.map(buffer, bytes, wgpu::MapMode::Read, used_by.clone()).await?;
                f(&buffer.get_mapped_range(..bytes).map_err(failed)?);
                self.checked(|_| buffer.unmap()).await?;
            }
            if let Some(&(buffer, first, bytes)) = pieces.get(i) {
                let to = &mut staging[i % n];
                to.used_by = Some(self.copy((buffer, first), (&to.buffer, 0), bytes).await?);
            }
        }
        self.staging.put(wgpu::MapMode::Read, staging);
        Ok(())
    }

    /// Copies `contents`, whose length is a multiple of 4, to a buffer from the byte `first` on.
    pub(crate) async fn upload(&self, buffer: &wgpu::Buffer, first: u64, contents: &[u8]) -> Result<(), GpuError> {
        let pieces = contents.chunks(PIECE);
        let size = contents.len().min(PIECE) as u64;
        let mut staging = self.staging(wgpu::MapMode::Write, size, pieces.len()).await?;
        let n = staging.len();
        for (i, from) in pieces.enumerate() {
            let (through, bytes) = (&mut staging[i % n], from.len() as u64);
            self.map(&through.buffer, bytes, wgpu::MapMode::Write, through.used_by.clone()).await?;
            write(from, through.buffer.get_mapped_range_mut(..bytes).map_err(failed)?.slice(..));
            self.checked(|_| through.buffer.unmap()).await?;
            let copied = self.copy((&through.buffer, 0), (buffer, first + (i * PIECE) as u64), bytes);
            through.used_by = Some(copied.await?);
        }
        self.staging.put(wgpu::MapMode::Write, staging);
        Ok(())
    }

    /// Staging buffers for this many pieces of at most `bytes` bytes.
    async fn staging(&self, mode: wgpu::MapMode, bytes: u64, pieces: usize) -> Result<Vec<Staging>, GpuError> {
        let usage = match mode {
            wgpu::MapMode::Read => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            wgpu::MapMode::Write => wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        };
        let count = pieces.min(IN_FLIGHT);
        let mut taken = self.staging.take(mode, bytes, count);
        while taken.len() < count {
            let buffer = self.create("staging", bytes.next_power_of_two(), usage).await?;
            taken.push(Staging { buffer, used_by: None });
        }
        Ok(taken)
    }

    /// Copies bytes between buffers, from an offset in each.
    async fn copy(
        &self,
        (from, from_at): (&wgpu::Buffer, u64),
        (to, to_at): (&wgpu::Buffer, u64),
        bytes: u64,
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        self.submit_commands(|encoder| encoder.copy_buffer_to_buffer(from, from_at, to, to_at, Some(bytes))).await
    }

    /// Maps the first bytes of a staging buffer, after the submission that used it last.
    async fn map(
        &self,
        buffer: &wgpu::Buffer,
        bytes: u64,
        mode: wgpu::MapMode,
        after: Option<wgpu::SubmissionIndex>,
    ) -> Result<(), GpuError> {
        let answer = Answer::default();
        let slot = answer.0.clone();
        self.checked(|_| {
            buffer.map_async(mode, ..bytes, move |mapped| {
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                slot.0 = Some(mapped);
                if let Some(waker) = slot.1.take() {
                    waker.wake();
                }
            });
        })
        .await?;
        let wait = match after {
            Some(_) => wgpu::PollType::Wait { submission_index: after, timeout: None },
            None => wgpu::PollType::Poll,
        };
        self.poll(wait).await?;
        // Another thread that waits for the device may have received this answer and be about to pass it on.
        answer.await.map_err(failed)
    }
}

/// The answer to a request to map a buffer, or the task that waits for it.
#[derive(Default)]
struct Answer(Arc<Mutex<Slot>>);

type Slot = (Option<Result<(), wgpu::BufferAsyncError>>, Option<Waker>);

impl Future for Answer {
    type Output = Result<(), wgpu::BufferAsyncError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.1 = Some(context.waker().clone());
        slot.0.take().map_or(Poll::Pending, Poll::Ready)
    }
}

fn failed(error: impl std::fmt::Display) -> GpuError {
    GpuError::Failed(error.to_string())
}

/// Copies to mapped memory, on all threads.
fn write(from: &[u8], to: wgpu::WriteOnly<'_, [u8]>) {
    let (from_parts, from_rest) = from.as_chunks::<PART>();
    let (to_parts, mut to_rest) = to.into_chunks::<PART>();
    let parts: Vec<_> = to_parts.into_iter().zip(from_parts).collect();
    parts.into_par_iter().for_each(|(to, from)| wgpu::WriteOnly::<[u8]>::from(to).copy_from_slice(from));
    to_rest.copy_from_slice(from_rest);
}

#[cfg(test)]
mod tests {
    use crate::gpu::device::tests::device;
    use pollster::block_on;

    /// More than one piece, of sizes that are no multiple of a piece, at an offset.
    #[test]
    fn pieces_are_copied_in_order() {
        let Some(device) = device() else { return };
        let contents: Vec<u32> = (0..20_000_003u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&contents);
        let buffer = block_on(device.buffer("bytes", bytes.len() as u64 + 8)).unwrap();
        block_on(device.upload(&buffer, 4, bytes)).unwrap();
        let mut read = vec![0u8; bytes.len() + 8];
        let (half, rest) = (40_000_000, bytes.len() as u64 + 8 - 40_000_000);
        block_on(device.read_into(&[(&*buffer, 0, half), (&*buffer, half, rest)], &mut read)).unwrap();
        assert!(read[..4] == [0; 4] && read[4..][..bytes.len()] == *bytes && read[bytes.len() + 4..] == [0; 4]);
    }
}
