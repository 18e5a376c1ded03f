//! The `Range` header: one range of an object's bytes.

use actix_web::http::header::HeaderValue;

/// A satisfiable range of bytes; both ends are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl ByteRange {
    /// Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` for an object of this size; `None` when it is malformed or cannot be
    /// satisfied. Compat: as in the original, several ranges in one header are refused.
    pub(crate) fn parse(value: &HeaderValue, size_bytes: u64) -> Option<Self> {
        let (first, last) = value.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| -> Option<u64> {
            if text.bytes().all(|b| b.is_ascii_digit()) {
                text.parse().ok()
            } else {
                None
            }
        };
        let end = size_bytes.checked_sub(1)?;
        let (first, last) = match (first, last) {
            ("", suffix) => {
                let suffix = number(suffix).filter(|n| *n > 0)?;
                (size_bytes.saturating_sub(suffix), end)
            }
            (first, "") => (number(first)?, end),
            (first, last) => (number(first)?, number(last)?.min(end)),
        };
        (first <= last && first < size_bytes).then_some(Self { first, last })
    }

    /// How many bytes the range spans.
    pub(crate) fn length(self) -> u64 {
        self.last - self.first + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_038_ranges_are_clamped_or_refused() {
        let parse = |text: &str, size| ByteRange::parse(&HeaderValue::from_str(text).expect("header"), size);
        let range = |first, last| Some(ByteRange { first, last });
        let cases = [
            ("bytes=0-9", 20, range(0, 9)),
            ("bytes=5-", 20, range(5, 19)),
            ("bytes=-5", 20, range(15, 19)),
            ("bytes=-50", 20, range(0, 19)),
            ("bytes=10-99", 20, range(10, 19)),
            ("bytes=20-", 20, None),
            ("bytes=9-2", 20, None),
            ("bytes=-0", 20, None),
            ("bytes=", 20, None),
            ("bytes=a-b", 20, None),
            ("bytes=0-1,3-4", 20, None),
            ("bytes=1-2-3", 20, None),
            ("bytes=+1-2", 20, None),
            ("bytes= 0-3", 20, None),
            ("items=0-5", 20, None),
            ("BYTES=0-3", 20, None),
            ("bytes=0-", 0, None),
            ("bytes=-5", 0, None),
            ("bytes=99999999999999999999-", 20, None),
        ];
        for (text, size, expected) in cases {
            assert_eq!(parse(text, size), expected, "{text} of {size}");
        }
    }
}
