//! The errors of the log, which the page shows.

use crate::send;
use answers::analysis::event;
use std::fmt::Debug;
use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Sends the reason of each error as an event named `fault`.
struct Faults;

impl Subscriber for Faults {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn event(&self, logged: &Event<'_>) {
        logged.record(&mut |field: &Field, reason: &dyn Debug| {
            if field.name() == "error" {
                send(event("fault", &format!("{reason:?}")));
            }
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// From now on the page receives errors.
pub(crate) fn report() {
    // It fails if that is so already.
    _ = tracing::subscriber::set_global_default(Faults);
}
