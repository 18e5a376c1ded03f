//! Ranges of rows from `limit`, `offset` and the `Range` header.

/// Rows `lower..=upper`; an upper bound below the lower one is an empty range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRange {
    /// First row, from 0.
    pub lower: i64,
    /// Last row; `None` is open.
    pub upper: Option<i64>,
}

/// Bounds are kept far from the ends of `i64`, so that sums of two cannot overflow.
const FAR: i64 = 1 << 60;

impl RowRange {
    /// Every row.
    pub const ALL: Self = Self {
        lower: 0,
        upper: None,
    };
    /// What `limit=0` asks for: legal, and empty.
    pub const NONE: Self = Self {
        lower: 0,
        upper: Some(-1),
    };

    /// The rows of `limit` and `offset`, as texts; what is no integer is ignored.
    pub fn of_parameters(limit: Option<&str>, offset: Option<&str>) -> Self {
        let limit = limit.and_then(integer);
        let lower = offset.and_then(integer).unwrap_or(0).max(0);
        Self {
            lower,
            upper: limit.map(|limit| lower + limit - 1),
        }
    }

    /// Whether a text is a positive integer that PostgreSQL has no type for.
    pub fn is_beyond_bigint(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err()
    }

    /// The rows of a `Range` header; a form that is not `digits-[digits]` is no range.
    pub fn of_header(text: &str) -> Self {
        let Some((lower, upper)) = text.split_once('-') else {
            return Self::ALL;
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(lower) || !(upper.is_empty() || digits(upper)) {
            return Self::ALL;
        }
        Self {
            lower: integer(lower).unwrap_or(0),
            upper: integer(upper),
        }
    }

    /// Whether no row can be in the range.
    pub fn is_empty(self) -> bool {
        self.upper.is_some_and(|upper| upper < self.lower)
    }

    /// Whether this is what `limit=0` asks for.
    pub fn is_limit_zero(self) -> bool {
        self.upper == Some(-1)
    }

    /// Rows in both ranges.
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
        let last = self.lower + i64::try_from(max_rows).unwrap_or(FAR).min(FAR) - 1;
        Self {
            lower: self.lower,
            upper: Some(self.upper.map_or(last, |upper| upper.min(last))),
        }
    }

    /// Number of rows, negative if the client asked for that; `None` is unlimited.
    pub fn limit(self) -> Option<i64> {
        self.upper.map(|upper| upper - self.lower + 1)
    }
}

/// An integer, clamped to what the arithmetic here can bear.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let far = if text.starts_with('-') { -FAR } else { FAR };
    Some(text.parse::<i64>().map_or(far, |n| n.clamp(-FAR, FAR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_020_limit_and_offset_make_a_range() {
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
                    upper: Some(FAR - 1),
                },
            ),
        ] {
            assert_eq!(RowRange::of_parameters(limit, offset), expected);
        }
    }

    #[test]
    fn rest_106_range_headers_have_one_form_only() {
        assert_eq!(
            RowRange::of_header("0-24"),
            RowRange {
                lower: 0,
                upper: Some(24)
            }
        );
        assert_eq!(
            RowRange::of_header("2-"),
            RowRange {
                lower: 2,
                upper: None
            }
        );
        assert_eq!(RowRange::of_header("items=0-1"), RowRange::ALL);
        assert!(RowRange::of_header("9-5").is_empty());
    }

    #[test]
    fn rest_021_max_rows_caps_from_the_offset_on() {
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
