//! The address of an object, and the percent-decoding of the path segments it is read from.

use percent_encoding::percent_decode_str;

use crate::error::StorageError;
use crate::validation::names::{check_bucket_name, check_key};

/// Bucket and key of an object, as a request names them; the object need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectPath {
    /// Bucket id, decoded.
    pub(crate) bucket: String,
    /// Key inside the bucket, decoded.
    pub(crate) key: String,
}

impl ObjectPath {
    /// `bucket/key`, as responses and URL tokens spell it.
    pub(crate) fn full_key(&self) -> String {
        format!("{}/{}", self.bucket, self.key)
    }

    /// `bucket/key` as it stands in a signed URL.
    ///
    /// Compat: clients apply JavaScript's `encodeURI` to the whole URL, so only what it leaves unencoded and what would
    /// end the path is encoded here. Among the characters that keys may contain, that is the question mark.
    pub(crate) fn signed_url_path(&self) -> String {
        self.full_key().replace('?', "%3F")
    }

    /// Undoes the second encoding of [`Self::signed_url_path`] by clients: `%3F` that `encodeURI` made `%253F` is `%3F`
    /// after decoding. Names cannot contain a percent sign, so nothing else is changed.
    pub(crate) fn undo_second_encoding(mut self) -> Self {
        self.bucket = self.bucket.replace("%3F", "?");
        self.key = self.key.replace("%3F", "?");
        self
    }

    /// Checks bucket and key against the naming rules.
    ///
    /// # Errors
    /// `InvalidBucketName`, `InvalidKey`.
    pub(crate) fn check_names(&self) -> Result<(), StorageError> {
        check_bucket_name(&self.bucket)?;
        check_key(&self.key)
    }
}

/// Percent-decodes a path segment once. `+` stays a plus, because only form encoding reads it as a space.
///
/// # Errors
/// `MalformedUrl` for an incomplete escape or text that is not UTF-8.
pub(crate) fn decode_path(raw: &str) -> Result<String, StorageError> {
    let malformed = || StorageError::MalformedUrl(raw.to_owned());
    let bytes = raw.as_bytes();
    // The decoder passes an incomplete escape through as text; the original's router refuses it.
    let escapes_are_complete = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'%')
        .all(|(at, _)| {
            bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
                && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
        });
    if !escapes_are_complete {
        return Err(malformed());
    }
    percent_decode_str(raw)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| malformed())
}
