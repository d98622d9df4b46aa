use thiserror::Error;

/// Why work on the GPU failed.
#[expect(missing_docs, reason = "the messages document the variants")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuError {
    #[error("no GPU was found; is its driver installed? (for Linux, mesa-vulkan-drivers has one in software)")]
    NoAdapter,
    #[error("the only GPUs are software drivers, which are used only on request")]
    OnlySoftware,
    #[error("no GPU has the number or name {wanted}; there are {found}")]
    NoSuchAdapter { wanted: String, found: String },
    #[error("the GPU {adapter} cannot be opened: {reason}")]
    Open { adapter: String, reason: String },
    #[error("{what} needs {needed} bytes in one piece, and the GPU allows {limit}")]
    TooLarge { what: String, needed: u64, limit: u64 },
    #[error("{needed} buffers are needed at once, and the GPU allows {limit}")]
    TooManyBuffers { needed: u64, limit: u64 },
    #[error("{what} has a line longer than {plies} plies, which the GPU cannot count")]
    TooLong { what: String, plies: u16 },
    #[error("the kernel {name} does not compile: {message}")]
    Shader { name: String, message: String },
    #[error("the GPU has no memory left: {0}")]
    OutOfMemory(String),
    #[error("the GPU is lost: {0}")]
    Lost(String),
    #[error("the GPU or its driver computes wrong values: {0}")]
    Wrong(String),
    #[error("the GPU reports an error: {0}")]
    Failed(String),
}

impl GpuError {
    /// Whether nothing more can be expected of the GPU.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, GpuError::Lost(_) | GpuError::Wrong(_))
    }
}
