//! The files that the build script has found.

/// A file of the browser half.
pub(super) struct EmbeddedFile {
    /// Its path below the origin, without the first slash.
    pub(super) name: &'static str,
    /// Whether `content` is compressed.
    pub(super) is_brotli: bool,
    pub(super) content: &'static [u8],
}

// In the order of their names.
include!(concat!(env!("OUT_DIR"), "/files.rs"));
