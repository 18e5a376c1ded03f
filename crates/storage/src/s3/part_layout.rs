//! The parts that an object was uploaded in, which `partNumber` on GET and HEAD names.
//!
//! They are kept in the object's metadata as `partSizes`, pairs of a size in bytes and how many parts in a row have it:
//! clients cut all parts but the last alike, so an object of thousands of parts has two pairs.

use serde_json::{Value, json};

use super::error::S3Error;
use super::multipart::MAX_PART_NUMBER;
use crate::response::byte_range::ByteRange;

const MEMBER: &str = "partSizes";

/// Adds the sizes of the parts to an object's metadata.
pub(super) fn store_part_sizes(metadata: &mut Value, sizes: impl IntoIterator<Item = u64>) {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for size in sizes {
        match runs.last_mut() {
            Some((last, count)) if *last == size => *count += 1,
            _ => runs.push((size, 1)),
        }
    }
    metadata[MEMBER] = json!(runs);
}

/// A part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ObjectPart {
    /// Its bytes; `None` when it has none.
    pub(super) range: Option<ByteRange>,
    /// How many parts the object has; `None` when it was not uploaded in parts.
    pub(super) of: Option<u64>,
}

/// Finds a part of an object of `size_bytes`. An object that was not uploaded in parts is its own first part.
///
/// # Errors `InvalidArgument` for a malformed part number, `InvalidPartNumber` when the object has fewer parts.
pub(super) fn find_part(
    number: &str,
    metadata: Option<&Value>,
    size_bytes: u64,
) -> Result<ObjectPart, S3Error> {
    let number = number.parse().ok();
    let number = number
        .filter(|number| (1..=MAX_PART_NUMBER.unsigned_abs()).contains(number))
        .ok_or(S3Error::InvalidArgument("partNumber"))?;
    let range = |first: u64, length: u64| {
        (length > 0).then(|| ByteRange {
            first,
            last: first + length - 1,
        })
    };
    let Some(runs) = metadata.and_then(|metadata| read_runs(metadata, size_bytes)) else {
        return if number == 1 {
            Ok(ObjectPart {
                range: range(0, size_bytes),
                of: None,
            })
        } else {
            Err(S3Error::InvalidPartNumber)
        };
    };
    let of = Some(runs.iter().map(|(_, count)| count).sum());
    let (mut first, mut before) = (0, u64::from(number) - 1);
    for (size, count) in runs {
        if before < count {
            return Ok(ObjectPart {
                range: range(first + before * size, size),
                of,
            });
        }
        before -= count;
        first += size * count;
    }
    Err(S3Error::InvalidPartNumber)
}

/// The sizes that [`store_part_sizes`] kept; `None` when there are none or when they are not those of the stored bytes,
/// which SQL may have replaced.
fn read_runs(metadata: &Value, size_bytes: u64) -> Option<Vec<(u64, u64)>> {
    let runs: Vec<(u64, u64)> = serde_json::from_value(metadata.get(MEMBER)?.clone()).ok()?;
    let total = runs.iter().try_fold(0_u64, |total, (size, count)| {
        total.checked_add(size.checked_mul(*count)?)
    })?;
    let count = runs
        .iter()
        .try_fold(0_u64, |total, (_, count)| total.checked_add(*count))?;
    (total == size_bytes && count > 0).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_095_part_numbers_are_found_by_the_stored_sizes() {
        let mut metadata = json!({});
        store_part_sizes(&mut metadata, [5, 5, 3]);
        assert_eq!(metadata, json!({"partSizes": [[5, 2], [3, 1]]}));
        let find = |number| find_part(number, Some(&metadata), 13);
        let part = |first, last| ObjectPart {
            range: Some(ByteRange { first, last }),
            of: Some(3),
        };

        assert_eq!(find("1").expect("a part"), part(0, 4));
        assert_eq!(find("2").expect("a part"), part(5, 9));
        assert_eq!(find("3").expect("a part"), part(10, 12));
        assert!(matches!(find("4"), Err(S3Error::InvalidPartNumber)));
        for bad in ["0", "-1", "x", "10001", "1.5"] {
            assert!(matches!(find(bad), Err(S3Error::InvalidArgument(_))), "{bad}");
        }
    }

    #[test]
    fn store_095_sizes_of_other_bytes_are_ignored() {
        let whole = ObjectPart {
            range: Some(ByteRange { first: 0, last: 12 }),
            of: None,
        };
        for sizes in [
            json!([[5, 2]]),
            json!([[u64::MAX, 2]]),
            json!([[0, u64::MAX], [13, 1]]),
            json!("x"),
            json!([]),
            json!([[13]]),
        ] {
            let metadata = json!({"partSizes": sizes});
            assert_eq!(
                find_part("1", Some(&metadata), 13).expect("the object"),
                whole,
                "{sizes}"
            );
            assert!(find_part("2", Some(&metadata), 13).is_err(), "{sizes}");
        }
        let empty = find_part("1", None, 0).expect("the object");
        assert_eq!(
            empty,
            ObjectPart {
                range: None,
                of: None
            }
        );
    }
}
