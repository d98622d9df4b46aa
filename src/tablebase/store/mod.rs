//! Tables on disk: `codec` packs the cells of a class, `file` is one class, `set` a directory of them, `verify` checks them
//! position by position, `proof` all of them fast.

pub(crate) mod codec;
pub(crate) mod export;
pub(crate) mod file;
pub(crate) mod proof;
pub(crate) mod set;
mod source;
pub(crate) mod verify;
