//! In place of the crate `zstd` in WebAssembly, for which its C code is not compiled: the crate `ruzstd` decompresses. There are
//! no files to write, so nothing is compressed.

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
    use ruzstd::decoding::errors::FrameDecoderError;
    use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};
    use std::sync::{Mutex, PoisonError};

    pub(crate) struct DCtx<'a>(FrameDecoder, PhantomData<&'a ()>);

    impl DCtx<'_> {
        pub(crate) fn try_create() -> Option<Self> {
            Some(DCtx(FrameDecoder::new(), PhantomData))
        }

        /// Decompresses a frame to at most the capacity of `to`, which is empty.
        pub(crate) fn decompress(&mut self, to: &mut Vec<u8>, frame: &[u8]) -> Result<usize, FrameDecoderError> {
            self.0.decode_all_to_vec(frame, to)?;
            Ok(to.len())
        }

        pub(crate) fn decompress_using_ddict(
            &mut self,
            to: &mut Vec<u8>,
            frame: &[u8],
            dictionary: &DDict<'_>,
        ) -> Result<usize, FrameDecoderError> {
            dictionary.decompress(to, frame)
        }
    }

    /// Bytes that frames refer to, without entropy tables. They have a decoder of their own, which keeps them.
    pub(crate) struct DDict<'a>(Mutex<FrameDecoder>, PhantomData<&'a ()>);

    impl DDict<'_> {
        /// Frames do not name such a dictionary, but the decoder needs a number.
        const ID: u32 = 1;

        pub(crate) fn try_create(content: &[u8]) -> Option<Self> {
            let mut decoder = FrameDecoder::new();
            let (fse, huf, dict_content) = (Default::default(), Default::default(), content.to_vec());
            decoder.add_dict(Dictionary { id: DDict::ID, fse, huf, dict_content, offset_hist: [1, 4, 8] }).ok()?;
            Some(DDict(Mutex::new(decoder), PhantomData))
        }

        fn decompress(&self, to: &mut Vec<u8>, mut frame: &[u8]) -> Result<usize, FrameDecoderError> {
            let mut decoder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            decoder.init(&mut frame)?;
            decoder.force_dict(DDict::ID)?;
            // One byte too many shows that the frame is longer.
            decoder.decode_blocks(&mut frame, BlockDecodingStrategy::UptoBytes(to.capacity() + 1))?;
            decoder.collect_to_writer(&mut *to).map_err(FrameDecoderError::FailedToDrainDecodebuffer)
        }
    }

    pub(crate) fn compress_bound(len: usize) -> usize {
        len
    }

    pub(crate) fn version_string() -> &'static str {
        "ruzstd"
    }
}
