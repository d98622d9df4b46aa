//! The time that steps take, measured by the GPU itself.

/// The most steps of a submission that can be measured.
const STEPS: u32 = 2048;

/// Timestamps before and after each step of a submission.
pub(super) struct StepTimer {
    queries: wgpu::QuerySet,
    /// The timestamps in ticks of the GPU, two for each step.
    pub ticks: wgpu::Buffer,
    seconds_per_tick: f64,
}

impl StepTimer {
    /// `period` is the duration of a tick in nanoseconds.
    pub(super) fn new(device: &wgpu::Device, period: f32) -> StepTimer {
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * STEPS,
        });
        let ticks = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("timestamps"),
            size: u64::from(2 * STEPS) * wgpu::QUERY_SIZE as u64,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        StepTimer { queries, ticks, seconds_per_tick: f64::from(period) * 1e-9 }
    }

    /// The timestamps around the step of this number.
    pub(super) fn around(&self, step: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        assert!(step < STEPS, "a submission has at most {STEPS} steps");
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * step),
            end_of_pass_write_index: Some(2 * step + 1),
        }
    }

    /// Makes the timestamps of so many steps readable.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, steps: usize) {
        encoder.resolve_query_set(&self.queries, 0..2 * steps as u32, &self.ticks, 0);
    }

    /// The seconds of each step.
    pub(super) fn seconds(&self, ticks: &[u64]) -> Vec<f64> {
        ticks.chunks_exact(2).map(|step| step[1].saturating_sub(step[0]) as f64 * self.seconds_per_tick).collect()
    }
}
