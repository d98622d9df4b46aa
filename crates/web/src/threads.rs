//! The threads of the module: none can be started, so there is only the one that the host calls on.

/// A pool of this thread alone.
pub(crate) fn this_thread() -> rayon::ThreadPoolBuilder {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread()
}
