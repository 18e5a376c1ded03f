//! Entry point of the fuzz target `tus_headers`: the metadata of an upload.

use super::headers::UploadMetadata;

/// Takes a header `Upload-Metadata`.
///
/// # Panics
/// When metadata that was accepted cannot be read again from what HEAD repeats, or has changed in it.
pub fn check_metadata(header: &str) {
    let Some(metadata) = UploadMetadata::parse(header) else {
        return;
    };
    let _ = metadata.user_metadata();
    let repeated =
        UploadMetadata::parse(&metadata.response_value()).expect("the repeated header is well-formed");
    for entry in header.split(',') {
        let name = entry.split(' ').next().unwrap_or_default();
        if name != "cacheControl" {
            assert_eq!(metadata.text(name), repeated.text(name), "{name}");
        }
    }
    assert_eq!(
        repeated.text("cacheControl"),
        Some(metadata.cache_control()),
        "the lifetime is the object's"
    );
}
