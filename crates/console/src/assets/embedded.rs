//! The files of the browser half that the build script has embedded.

/// A file of the browser half, as embedded in the binary.
pub(super) struct EmbeddedFile {
    /// The file's path below the origin, without the first slash.
    pub(super) name: &'static str,
    /// Whether `content` is compressed.
    pub(super) is_brotli: bool,
    pub(super) content: &'static [u8],
}

// The build script writes the list in the order of names, because the lookup is a binary search.
include!(concat!(env!("OUT_DIR"), "/files.rs"));
