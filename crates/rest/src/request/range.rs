//! Ranges of rows: from `limit` and `offset`, and from the `Range` header.

/// Rows `lower..=upper`, from 0; an upper bound below the lower one is an empty range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRange {
    /// First row, from 0.
    pub lower: i64,
    /// Last row; `None` for no limit.
    pub upper: Option<i64>,
}

/// Bounds are clamped to this, so that the sum of two cannot overflow.
const MAX_BOUND: i64 = 1 << 60;

impl Default for RowRange {
    fn default() -> Self {
        Self::ALL
    }
}

impl RowRange {
    /// The range of all rows.
    pub const ALL: Self = Self {
        lower: 0,
        upper: None,
    };
    /// The range of `limit=0`: valid, and empty.
    pub const NONE: Self = Self {
        lower: 0,
        upper: Some(-1),
    };

    /// Returns the range of `limit` and `offset`. Compat: values that are not integers are ignored.
    pub fn from_parameters(limit: Option<&str>, offset: Option<&str>) -> Self {
        let limit = limit.and_then(parse_integer);
        let lower = offset.and_then(parse_integer).unwrap_or(0).max(0);
        Self {
            lower,
            upper: limit.map(|limit| lower + limit - 1),
        }
    }

    /// Whether a text is a positive integer that is too large for `bigint`.
    pub fn is_beyond_bigint(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err()
    }

    /// The range of a `Range` header. Compat: anything but `digits-[digits]` is ignored, units included.
    pub fn from_header(text: &str) -> Self {
        // Compat: PostgREST takes bare numbers, so a unit (`items=0-9`) makes the header meaningless rather than wrong.
        let Some((lower, upper)) = text.split_once('-') else {
            return Self::ALL;
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(lower) || !(upper.is_empty() || digits(upper)) {
            return Self::ALL;
        }
        Self {
            lower: parse_integer(lower).unwrap_or(0),
            upper: parse_integer(upper),
        }
    }

    /// Whether no row can be in the range.
    pub fn is_empty(self) -> bool {
        self.upper.is_some_and(|upper| upper < self.lower)
    }

    /// Whether this is [`Self::NONE`], which is valid although it is empty.
    pub fn is_limit_zero(self) -> bool {
        self.upper == Some(-1)
    }

    /// The rows that are in both ranges.
    pub fn intersect(self, other: Self) -> Self {
        let upper = match (self.upper, other.upper) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            lower: self.lower.max(other.lower),
            upper,
        }
    }

    /// At most `max_rows` rows from the lower bound on.
    pub fn capped(self, max_rows: Option<u64>) -> Self {
        let Some(max_rows) = max_rows else { return self };
        if self.is_limit_zero() {
            return Self::NONE;
        }
        // `max-rows` limits the page, so it counts from the page's first row.
        let last = self.lower + i64::try_from(max_rows).unwrap_or(MAX_BOUND).min(MAX_BOUND) - 1;
        Self {
            lower: self.lower,
            upper: Some(self.upper.map_or(last, |upper| upper.min(last))),
        }
    }

    /// Number of rows, negative for a negative `limit`; `None` for no limit.
    pub fn limit(self) -> Option<i64> {
        self.upper.map(|upper| upper - self.lower + 1)
    }
}

/// An integer, clamped to [`MAX_BOUND`].
fn parse_integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let far = if text.starts_with('-') {
        -MAX_BOUND
    } else {
        MAX_BOUND
    };
    Some(
        text.parse::<i64>()
            .map_or(far, |n| n.clamp(-MAX_BOUND, MAX_BOUND)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_020_limit_and_offset_are_a_range() {
        for (limit, offset, expected) in [
            (
                Some("10"),
                Some("20"),
                RowRange {
                    lower: 20,
                    upper: Some(29),
                },
            ),
            (Some("a"), None, RowRange::ALL),
            (Some("0"), None, RowRange::NONE),
            (None, Some("-3"), RowRange::ALL),
            (
                Some("99999999999999999999"),
                None,
                RowRange {
                    lower: 0,
                    upper: Some(MAX_BOUND - 1),
                },
            ),
        ] {
            assert_eq!(RowRange::from_parameters(limit, offset), expected);
        }
    }

    #[test]
    fn rest_106_only_ranges_of_two_plain_numbers_count() {
        assert_eq!(
            RowRange::from_header("0-24"),
            RowRange {
                lower: 0,
                upper: Some(24)
            }
        );
        assert_eq!(
            RowRange::from_header("2-"),
            RowRange {
                lower: 2,
                upper: None
            }
        );
        assert_eq!(RowRange::from_header("items=0-1"), RowRange::ALL);
        assert!(RowRange::from_header("9-5").is_empty());
    }

    #[test]
    fn rest_021_max_rows_counts_from_the_offset_on() {
        let range = RowRange {
            lower: 5,
            upper: None,
        }
        .capped(Some(3));

        assert_eq!(
            range,
            RowRange {
                lower: 5,
                upper: Some(7)
            }
        );
        assert_eq!(range.limit(), Some(3));
    }
}
