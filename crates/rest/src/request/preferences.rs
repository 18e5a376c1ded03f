//! The `Prefer` header (RFC 7240).
//!
//! If a preference is repeated, also across several headers, its first occurrence is used. Unknown ones are collected,
//! because `handling=strict` turns them into an error.

use std::borrow::Cow;

/// `resolution=`: what an insert does with rows that exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    MergeDuplicates,
    IgnoreDuplicates,
}

/// `return=`: what a write returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    Full,
    Minimal,
    HeadersOnly,
}

/// `count=`: how the total is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact,
    Planned,
    Estimated,
}

/// `missing=`: what keys that an object lacks mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Default,
    Null,
}

/// `handling=`: whether unknown preferences are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    Strict,
    Lenient,
}

/// `tx=`: how the transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transaction {
    Commit,
    Rollback,
}

/// The client's preferences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preferences {
    pub resolution: Option<Resolution>,
    pub representation: Option<Representation>,
    pub count: Option<Count>,
    pub missing: Option<Missing>,
    pub handling: Option<Handling>,
    /// Read only where `db-tx-end` lets clients choose.
    pub transaction: Option<Transaction>,
    pub timezone: Option<String>,
    pub max_affected: Option<i64>,
    /// Unknown preferences.
    pub invalid: Vec<String>,
}

impl Preferences {
    /// Parses all lines of the header. `transaction_override` says whether clients may choose `tx=`.
    pub fn parse<'a>(lines: impl Iterator<Item = Cow<'a, str>>, transaction_override: bool) -> Self {
        let mut preferences = Self::default();
        let mut seen_max_affected = false;
        for line in lines {
            // Compat: parameters behind a preference (`;`) are part of its text, and make it unknown.
            for preference in line.split(',').map(str::trim) {
                preferences.read_preference(preference, transaction_override, &mut seen_max_affected);
            }
        }
        preferences
    }

    /// Reads one preference.
    fn read_preference(
        &mut self,
        preference: &str,
        transaction_override: bool,
        seen_max_affected: &mut bool,
    ) {
        let preferences = self;
        match preference {
            "resolution=merge-duplicates" => {
                set_once(&mut preferences.resolution, Resolution::MergeDuplicates)
            }
            "resolution=ignore-duplicates" => {
                set_once(&mut preferences.resolution, Resolution::IgnoreDuplicates)
            }
            "return=representation" => set_once(&mut preferences.representation, Representation::Full),
            "return=minimal" => set_once(&mut preferences.representation, Representation::Minimal),
            "return=headers-only" => set_once(&mut preferences.representation, Representation::HeadersOnly),
            "count=exact" => set_once(&mut preferences.count, Count::Exact),
            "count=planned" => set_once(&mut preferences.count, Count::Planned),
            "count=estimated" => set_once(&mut preferences.count, Count::Estimated),
            "missing=default" => set_once(&mut preferences.missing, Missing::Default),
            "missing=null" => set_once(&mut preferences.missing, Missing::Null),
            "handling=strict" => set_once(&mut preferences.handling, Handling::Strict),
            "handling=lenient" => set_once(&mut preferences.handling, Handling::Lenient),
            "tx=commit" if transaction_override => {
                set_once(&mut preferences.transaction, Transaction::Commit)
            }
            "tx=rollback" if transaction_override => {
                set_once(&mut preferences.transaction, Transaction::Rollback)
            }
            // Known, so no error in strict handling, but without effect.
            "tx=commit" | "tx=rollback" => {}
            other => {
                if let Some(zone) = other.strip_prefix("timezone=") {
                    set_once(&mut preferences.timezone, zone.to_owned());
                } else if let Some(limit) = other.strip_prefix("max-affected=") {
                    // Compat: only the first one is used, even if it is ignored because it is not an integer.
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

    /// Whether unknown preferences and too many affected rows are errors.
    pub fn is_strict(&self) -> bool {
        self.handling == Some(Handling::Strict)
    }

    /// The most rows that may be affected. Compat: without `handling=strict` it has no effect.
    pub fn strict_max_affected(&self) -> Option<i64> {
        self.max_affected.filter(|_| self.is_strict())
    }
}

/// Keeps the first value.
fn set_once<T>(slot: &mut Option<T>, value: T) {
    if slot.is_none() {
        *slot = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_086_the_first_of_repeated_preferences_counts_across_lines() {
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
    fn rest_090_tx_counts_only_where_the_configuration_allows_it() {
        let ignored = Preferences::parse([Cow::Borrowed("tx=rollback")].into_iter(), false);
        let honoured = Preferences::parse([Cow::Borrowed("tx=rollback")].into_iter(), true);

        assert_eq!((ignored.transaction, ignored.invalid.len()), (None, 0));
        assert_eq!(honoured.transaction, Some(Transaction::Rollback));
    }
}
