//! The `Prefer` header.
//!
//! Of each kind the first occurrence counts, across repeated headers. What is not known is collected, because
//! `handling=strict` turns it into an error.

use std::borrow::Cow;

/// `resolution=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    MergeDuplicates,
    IgnoreDuplicates,
}

/// `return=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    Full,
    Minimal,
    HeadersOnly,
}

/// `count=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact,
    Planned,
    Estimated,
}

/// `missing=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Default,
    Null,
}

/// `handling=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    Strict,
    Lenient,
}

/// `tx=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transaction {
    Commit,
    Rollback,
}

/// Everything the client prefers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preferences {
    pub resolution: Option<Resolution>,
    pub representation: Option<Representation>,
    pub count: Option<Count>,
    pub missing: Option<Missing>,
    pub handling: Option<Handling>,
    /// Only where the configuration lets clients choose.
    pub transaction: Option<Transaction>,
    pub timezone: Option<String>,
    pub max_affected: Option<i64>,
    /// What nobody understands.
    pub invalid: Vec<String>,
}

impl Preferences {
    /// Reads all `Prefer` header lines.
    pub fn parse<'a>(lines: impl Iterator<Item = Cow<'a, str>>, transaction_override: bool) -> Self {
        let mut preferences = Self::default();
        let mut seen_max_affected = false;
        for line in lines {
            for preference in line.split(',').map(str::trim) {
                preferences.take(preference, transaction_override, &mut seen_max_affected);
            }
        }
        preferences
    }

    fn take(&mut self, preference: &str, transaction_override: bool, seen_max_affected: &mut bool) {
        let preferences = self;
        match preference {
            "resolution=merge-duplicates" => first(&mut preferences.resolution, Resolution::MergeDuplicates),
            "resolution=ignore-duplicates" => {
                first(&mut preferences.resolution, Resolution::IgnoreDuplicates)
            }
            "return=representation" => first(&mut preferences.representation, Representation::Full),
            "return=minimal" => first(&mut preferences.representation, Representation::Minimal),
            "return=headers-only" => first(&mut preferences.representation, Representation::HeadersOnly),
            "count=exact" => first(&mut preferences.count, Count::Exact),
            "count=planned" => first(&mut preferences.count, Count::Planned),
            "count=estimated" => first(&mut preferences.count, Count::Estimated),
            "missing=default" => first(&mut preferences.missing, Missing::Default),
            "missing=null" => first(&mut preferences.missing, Missing::Null),
            "handling=strict" => first(&mut preferences.handling, Handling::Strict),
            "handling=lenient" => first(&mut preferences.handling, Handling::Lenient),
            "tx=commit" if transaction_override => first(&mut preferences.transaction, Transaction::Commit),
            "tx=rollback" if transaction_override => {
                first(&mut preferences.transaction, Transaction::Rollback)
            }
            "tx=commit" | "tx=rollback" => {}
            other => {
                if let Some(zone) = other.strip_prefix("timezone=") {
                    first(&mut preferences.timezone, zone.to_owned());
                } else if let Some(limit) = other.strip_prefix("max-affected=") {
                    // Compat: only the first one is looked at, and ignored when it is no integer.
                    if !*seen_max_affected {
                        preferences.max_affected = limit.trim().parse().ok();
                        *seen_max_affected = true;
                    }
                } else {
                    preferences.invalid.push(other.to_owned());
                }
            }
        }
    }

    /// Whether unknown preferences and exceeded limits are errors.
    pub fn is_strict(&self) -> bool {
        self.handling == Some(Handling::Strict)
    }

    /// The limit of affected rows, where it is in force.
    pub fn strict_max_affected(&self) -> Option<i64> {
        self.max_affected.filter(|_| self.is_strict())
    }
}

fn first<T>(slot: &mut Option<T>, value: T) {
    if slot.is_none() {
        *slot = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_086_the_first_of_a_kind_counts_across_lines() {
        let preferences = Preferences::parse(
            ["count=exact, return=minimal", "count=planned, odd"]
                .into_iter()
                .map(Cow::Borrowed),
            false,
        );

        assert_eq!(preferences.count, Some(Count::Exact));
        assert_eq!(preferences.representation, Some(Representation::Minimal));
        assert_eq!(preferences.invalid, ["odd"]);
    }

    #[test]
    fn rest_090_tx_needs_the_configurations_leave() {
        let ignored = Preferences::parse([Cow::Borrowed("tx=rollback")].into_iter(), false);
        let honoured = Preferences::parse([Cow::Borrowed("tx=rollback")].into_iter(), true);

        assert_eq!((ignored.transaction, ignored.invalid.len()), (None, 0));
        assert_eq!(honoured.transaction, Some(Transaction::Rollback));
    }
}
