//! Rules for bucket names and object keys.

use crate::error::StorageError;

/// Longest bucket name in characters.
const BUCKET_NAME_MAX: usize = 100;
/// Longest key in bytes: the limit of S3. PostgreSQL's indexes take longer ones.
const KEY_MAX_BYTES: usize = 1024;
/// Suffix of bucket names that S3 reserves for table buckets.
const RESERVED_SUFFIX: &str = "--table-s3";
/// The last segment of keys by which the dashboard keeps an empty folder.
pub(crate) const FOLDER_PLACEHOLDER: &str = ".emptyFolderPlaceholder";

/// Checks the bucket segment of a path.
///
/// # Errors
/// `InvalidBucketName`.
pub(crate) fn check_bucket_name(name: &str) -> Result<(), StorageError> {
    let legal =
        !name.is_empty() && name.chars().count() <= BUCKET_NAME_MAX && name.chars().all(is_name_character);
    if legal {
        Ok(())
    } else {
        Err(StorageError::InvalidBucketName)
    }
}

/// Checks the name of a new bucket. Stricter than for existing ones, which may have been created by SQL.
///
/// # Errors
/// `InvalidBucketName`.
pub(crate) fn check_new_bucket_name(name: &str) -> Result<(), StorageError> {
    check_bucket_name(name)?;
    if name.trim() != name || name.ends_with(RESERVED_SUFFIX) {
        return Err(StorageError::InvalidBucketName);
    }
    Ok(())
}

/// Checks an object key. Keys are opaque: they are not trimmed, collapsed or normalised.
///
/// # Errors
/// `InvalidKey` for the empty key, characters outside the allowed ASCII set, dot segments and too long keys.
pub(crate) fn check_key(key: &str) -> Result<(), StorageError> {
    let legal = !key.is_empty()
        && key.len() <= KEY_MAX_BYTES
        && key.chars().all(|c| c == '/' || is_name_character(c))
        // Blobs are stored by version, so dot segments cannot escape a folder here. They are refused, because clients
        // and proxies resolve them in URLs and would then address another object.
        && key.split('/').all(|segment| segment != "." && segment != "..");
    if legal {
        Ok(())
    } else {
        Err(StorageError::InvalidKey(key.to_owned()))
    }
}

/// Whether the key is the placeholder of an empty folder: the whole last segment, because anybody may upload a file whose
/// name merely ends like it.
pub(crate) fn is_folder_placeholder(key: &str) -> bool {
    key.rsplit('/').next() == Some(FOLDER_PLACEHOLDER)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_!-.*'() &$@=;:+,?".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_067_bucket_names_have_allowed_characters_and_length() {
        for good in ["a", "A b", "my.bucket_1!", "x(1)&$@=;:+,?", &"n".repeat(100)] {
            assert!(check_new_bucket_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            " a",
            "a ",
            "a/b",
            "ü",
            "a%b",
            "a#",
            "t--table-s3",
            "a\tb",
            &"n".repeat(101),
        ] {
            assert!(check_new_bucket_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn store_061_keys_may_contain_the_allowed_punctuation() {
        for good in [
            "a b@c+d$,;=&!'()",
            "a//b",
            "/a",
            "a/",
            "a..b",
            "...",
            "x?y",
            &"k".repeat(1024),
        ] {
            assert!(check_key(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn store_062_keys_with_other_characters_are_refused() {
        for bad in [
            "", "é", "日本", "a%b", "a#b", "[", "]", "{", "}", "\\", "^", "~", "|", "<", ">", "\"", "`",
            "a\nb",
        ] {
            assert!(check_key(bad).is_err(), "{bad:?}");
        }
        assert!(check_key(&"k".repeat(1025)).is_err());
    }

    #[test]
    fn store_064_dot_segments_are_refused() {
        for bad in [".", "..", "../x", "a/../b", "a/./b", "a/.."] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
    }
}
