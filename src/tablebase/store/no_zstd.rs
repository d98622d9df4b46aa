//! In place of the crate `zstd` in WebAssembly, for which its C code is not compiled: there are no files to read or write,
//! so every call fails.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;

pub(super) mod bulk {
    use super::*;

    pub(crate) struct Compressor<'a>(Infallible, PhantomData<&'a ()>);

    impl<'a> Compressor<'a> {
        pub(crate) fn new(_: i32) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn with_prepared_dictionary(_: &dict::EncoderDictionary<'a>) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn set_compression_level(&mut self, _: i32) -> io::Result<()> {
            match self.0 {}
        }

        pub(crate) fn compress(&mut self, _: &[u8]) -> io::Result<Vec<u8>> {
            match self.0 {}
        }

        pub(crate) fn compress_to_buffer(&mut self, _: &[u8], _: &mut Vec<u8>) -> io::Result<usize> {
            match self.0 {}
        }
    }

    pub(crate) fn compress(_: &[u8], _: i32) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub(super) mod dict {
    use super::*;

    pub(crate) struct EncoderDictionary<'a>(PhantomData<&'a ()>);

    impl EncoderDictionary<'_> {
        pub(crate) fn copy(_: &[u8], _: i32) -> Self {
            EncoderDictionary(PhantomData)
        }
    }
}

pub(super) mod zstd_safe {
    use super::*;

    pub(crate) struct DCtx<'a>(Infallible, PhantomData<&'a ()>);

    impl DCtx<'_> {
        pub(crate) fn try_create() -> Option<Self> {
            None
        }

        pub(crate) fn decompress(&mut self, _: &mut Vec<u8>, _: &[u8]) -> Result<usize, usize> {
            match self.0 {}
        }

        pub(crate) fn decompress_using_ddict(
            &mut self,
            _: &mut Vec<u8>,
            _: &[u8],
            _: &DDict<'_>,
        ) -> Result<usize, usize> {
            match self.0 {}
        }
    }

    pub(crate) struct DDict<'a>(PhantomData<&'a ()>);

    impl DDict<'_> {
        pub(crate) fn try_create(_: &[u8]) -> Option<Self> {
            None
        }
    }

    pub(crate) fn compress_bound(len: usize) -> usize {
        len
    }

    pub(crate) fn version_string() -> &'static str {
        "none"
    }
}
