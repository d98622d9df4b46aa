//! The description of an adapter, and the choice of one.

use serde::Serialize;

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
    /// Why this program cannot use the adapter; `None` if it can.
    pub unusable: Option<String>,
}

/// The choice of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The best hardware adapter, no software driver.
    Hardware,
    /// The best adapter; a software driver if there is no hardware.
    Any,
    /// The adapter with this number in [`adapters`](super::adapters), or the best one whose name contains this text in upper or lower
    /// case.
    Named(String),
}

impl AdapterReport {
    /// Whether a CPU does the work.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }

    /// The name, with a remark if the adapter is a software driver.
    #[must_use]
    pub fn label(&self) -> String {
        if self.is_software() { format!("{} (software)", self.name) } else { self.name.clone() }
    }
}
