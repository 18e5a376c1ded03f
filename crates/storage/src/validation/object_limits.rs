//! What a bucket's limits say about one object, on every way by which an object enters a bucket.

use super::limits::check_mime_type;
use super::names::is_folder_placeholder;
use crate::error::StorageError;

/// The limits for one key of a bucket.
///
/// The placeholder of an empty folder is exempt from the list of types and has no bytes; it cannot carry content past the
/// limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectLimits<'b> {
    allowed_mime_types: Option<&'b [String]>,
    /// Largest object in bytes.
    pub(crate) max_bytes: u64,
}

impl<'b> ObjectLimits<'b> {
    /// The limits for `key`. `service_limit` and `bucket_limit` are sizes in bytes; a negative limit of the bucket, which
    /// only SQL can set, counts as none.
    pub(crate) fn new(
        key: &str,
        service_limit: u64,
        bucket_limit: Option<i64>,
        allowed_mime_types: Option<&'b [String]>,
    ) -> Self {
        if is_folder_placeholder(key) {
            return Self {
                allowed_mime_types: None,
                max_bytes: 0,
            };
        }
        let own = bucket_limit.and_then(|limit| u64::try_from(limit).ok());
        Self {
            allowed_mime_types,
            max_bytes: own.map_or(service_limit, |own| own.min(service_limit)),
        }
    }

    /// Checks the declared type.
    ///
    /// # Errors
    /// `InvalidMimeType`.
    pub(crate) fn check_type(&self, declared: &str) -> Result<(), StorageError> {
        check_mime_type(declared, self.allowed_mime_types)
    }

    /// Checks a size in bytes, where it is known.
    ///
    /// # Errors
    /// `EntityTooLarge`.
    pub(crate) fn check_size(&self, bytes: Option<u64>) -> Result<(), StorageError> {
        if bytes.is_some_and(|bytes| bytes > self.max_bytes) {
            return Err(StorageError::EntityTooLarge);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_066_only_the_placeholder_itself_is_exempt_and_it_is_empty() {
        let allowed = ["image/png".to_owned()];
        let limits = |key: &str| ObjectLimits::new(key, 1000, Some(10), Some(&allowed));

        for placeholder in [".emptyFolderPlaceholder", "a/b/.emptyFolderPlaceholder"] {
            assert!(
                limits(placeholder).check_type("text/html").is_ok(),
                "{placeholder}"
            );
            assert!(limits(placeholder).check_size(Some(1)).is_err(), "{placeholder}");
            assert!(limits(placeholder).check_size(Some(0)).is_ok(), "{placeholder}");
        }
        for other in [
            "x.emptyFolderPlaceholder",
            "a/x.emptyFolderPlaceholder",
            ".emptyFolderPlaceholder/x",
        ] {
            assert!(limits(other).check_type("text/html").is_err(), "{other}");
            assert!(limits(other).check_size(Some(11)).is_err(), "{other}");
            assert!(limits(other).check_size(Some(10)).is_ok(), "{other}");
        }
    }

    #[test]
    fn store_066_the_smaller_limit_counts_and_a_negative_one_is_none() {
        let max = |bucket| ObjectLimits::new("a", 1000, bucket, None).max_bytes;

        assert_eq!(
            [
                max(None),
                max(Some(10)),
                max(Some(5000)),
                max(Some(-1)),
                max(Some(0))
            ],
            [1000, 10, 1000, 1000, 0]
        );
    }
}
