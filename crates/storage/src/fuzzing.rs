//! Entry points of the fuzz targets `s3_signature` and `tus_headers` (folder `fuzz/`), compiled with `--cfg fuzzing` alone.

pub use crate::s3::fuzzing::check_signature;
pub use crate::tus::fuzzing::check_metadata;
