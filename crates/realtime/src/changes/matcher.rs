//! Filters prepared for a column's type, so that most changes are matched without asking PostgreSQL.
//!
//! Only comparisons whose result is certain to be PostgreSQL's own are made here: integers, equality of texts, UUIDs and
//! booleans, `like` and `is`. Everything else (collations, numerics, dates, patterns) is [`Verdict::AskDatabase`].

use super::catalog::PublishedTable;
use super::filter::{Filter, Operator};
use super::like::LikePattern;

/// A filter bound to a column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Matcher {
    /// Position of the column in the table.
    pub(crate) column: usize,
    pub(crate) filter: Filter,
    native: Option<NativeTest>,
}

/// The result of testing a filter without PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    AskDatabase,
}

/// A comparison whose result is certain to equal PostgreSQL's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum NativeTest {
    Integers(Operator, Vec<i64>),
    /// Canonical texts of text, UUID and boolean operands, compared byte by byte.
    Texts(Operator, Vec<String>),
    IsNull,
    IsBoolean(bool),
    Like(LikePattern),
}

/// `int8`, `int2`, `int4`.
const INTEGER_OIDS: [u32; 3] = [20, 21, 23];
/// `text`, `varchar`. Not `char(n)`, whose equality ignores trailing blanks.
const TEXT_OIDS: [u32; 2] = [25, 1043];
const BOOLEAN_OID: u32 = 16;
const UUID_OID: u32 = 2950;

impl Matcher {
    /// Binds a filter to its column. `None` when the table has no such column.
    pub(crate) fn new(filter: &Filter, table: &PublishedTable) -> Option<Self> {
        let column = table.column(&filter.column)?;
        let type_oid = table.columns.get(column)?.type_oid;
        Some(Self {
            column,
            native: NativeTest::compile(filter, type_oid),
            filter: filter.clone(),
        })
    }

    /// Tests a value; `None` is SQL's null.
    pub(crate) fn test(&self, value: Option<&[u8]>) -> Verdict {
        let Some(test) = &self.native else {
            return Verdict::AskDatabase;
        };
        if let (NativeTest::Like(pattern), Some(text)) = (test, value) {
            let matches = str::from_utf8(text).ok().and_then(|text| pattern.matches(text));
            return match matches {
                None => Verdict::AskDatabase,
                Some(matches) if matches != self.filter.is_negated => Verdict::Holds,
                Some(_) => Verdict::Fails,
            };
        }
        // In SQL a comparison with null is null, and so is its negation: neither holds.
        let holds = match (test, value) {
            (NativeTest::IsNull, value) => Some(value.is_none()),
            // `is true` and `is false` are never null, so a negated test holds for null.
            (NativeTest::IsBoolean(wanted), value) => Some(value == Some(if *wanted { b"t" } else { b"f" })),
            (_, None) | (NativeTest::Like(_), _) => None,
            (NativeTest::Integers(operator, operands), Some(text)) => {
                let number = str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse::<i64>().ok());
                number.map(|number| compare(*operator, &number, operands))
            }
            (NativeTest::Texts(operator, operands), Some(text)) => str::from_utf8(text)
                .ok()
                .map(|text| compare(*operator, &text.to_owned(), operands)),
        };
        match holds {
            Some(holds) if holds != self.filter.is_negated => Verdict::Holds,
            _ => Verdict::Fails,
        }
    }

    /// Whether PostgreSQL has to evaluate the filter. Also one that is a pattern is evaluated there for the longest texts.
    pub(crate) fn needs_database(&self) -> bool {
        self.native.is_none()
    }

    /// The only value for which the filter holds, if it is a plain equality. Subscriptions are indexed by it.
    pub(crate) fn equality_key(&self) -> Option<EqualityKey> {
        if self.filter.is_negated {
            return None;
        }
        let text = match &self.native {
            Some(NativeTest::Integers(Operator::Eq, operands)) => operands.first()?.to_string(),
            Some(NativeTest::Texts(Operator::Eq, operands)) => operands.first()?.clone(),
            _ => return None,
        };
        Some(EqualityKey {
            column: self.column,
            text,
        })
    }
}

/// A column and the text of a value in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EqualityKey {
    pub(crate) column: usize,
    pub(crate) text: String,
}

impl NativeTest {
    /// The native form of a filter on a column of this type; `None` when PostgreSQL has to evaluate it.
    fn compile(filter: &Filter, type_oid: u32) -> Option<Self> {
        use Operator::{Eq, Gt, Gte, In, Is, Like, Lt, Lte, Neq};

        let operator = filter.operator;
        if operator == Is {
            return match filter.value.as_str() {
                "null" => Some(Self::IsNull),
                "true" => Some(Self::IsBoolean(true)),
                "false" => Some(Self::IsBoolean(false)),
                _ => None,
            };
        }
        if operator == Like && TEXT_OIDS.contains(&type_oid) {
            return LikePattern::parse(&filter.value).map(Self::Like);
        }
        let operands = match operator {
            In => split_plain_list(&filter.value)?,
            Eq | Neq | Lt | Lte | Gt | Gte => vec![filter.value.clone()],
            _ => return None,
        };
        if INTEGER_OIDS.contains(&type_oid) {
            let numbers: Option<Vec<i64>> = operands
                .iter()
                .map(|operand| operand.trim().parse().ok())
                .collect();
            return Some(Self::Integers(operator, numbers?));
        }
        // The order of texts depends on the collation, so only equality is tested here.
        if !matches!(operator, Eq | Neq | In) {
            return None;
        }
        if TEXT_OIDS.contains(&type_oid) {
            return Some(Self::Texts(operator, operands));
        }
        if type_oid == UUID_OID {
            let canonical: Option<Vec<String>> = operands
                .iter()
                .map(|operand| uuid::Uuid::try_parse(operand).ok().map(|uuid| uuid.to_string()))
                .collect();
            return Some(Self::Texts(operator, canonical?));
        }
        if type_oid == BOOLEAN_OID {
            let canonical: Option<Vec<String>> = operands
                .iter()
                .map(|operand| canonical_boolean(operand))
                .collect();
            return Some(Self::Texts(operator, canonical?));
        }
        None
    }
}

/// Returns the text that PostgreSQL writes for a boolean operand; `None` for its rarer spellings.
fn canonical_boolean(operand: &str) -> Option<String> {
    match operand {
        "t" | "true" => Some("t".to_owned()),
        "f" | "false" => Some("f".to_owned()),
        _ => None,
    }
}

fn compare<T: Ord>(operator: Operator, value: &T, operands: &[T]) -> bool {
    let Some(first) = operands.first() else {
        return false;
    };
    match operator {
        Operator::In => operands.contains(value),
        Operator::Eq => value == first,
        Operator::Neq => value != first,
        Operator::Lt => value < first,
        Operator::Lte => value <= first,
        Operator::Gt => value > first,
        Operator::Gte => value >= first,
        _ => false,
    }
}

/// The elements of an array literal without quotes, escapes, nesting, nulls and blanks. `None` for any other literal,
/// which PostgreSQL then parses.
fn split_plain_list(literal: &str) -> Option<Vec<String>> {
    let list = literal.strip_prefix('{')?.strip_suffix('}')?;
    if list.is_empty() || list.contains(['"', '\\', '{', '}']) {
        return None;
    }
    list.split(',')
        .map(|element| {
            let is_plain =
                !element.is_empty() && element.trim() == element && !element.eq_ignore_ascii_case("null");
            is_plain.then(|| element.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::catalog::{Rendering, TableColumn};
    use crate::changes::filter::parse_filters;

    fn table() -> PublishedTable {
        let column = |name: &str, type_oid: u32| TableColumn {
            name: name.to_owned(),
            number: 0,
            type_oid,
            type_name: String::new(),
            sql_type: String::new(),
            is_key: false,
            is_generated: false,
            array_delimiter: b',',
            rendering: Rendering::Sql,
        };
        PublishedTable {
            oid: 1,
            schema: "public".into(),
            name: "t".into(),
            has_row_security: false,
            is_streamed_whole: true,
            is_visible_by_role: false,
            columns: vec![
                column("i", 23),
                column("t", 25),
                column("u", 2950),
                column("b", 16),
                column("n", 1700),
            ],
        }
    }

    fn test(filter: &str, value: Option<&str>) -> Verdict {
        let filter = parse_filters(filter).expect("valid").remove(0);
        Matcher::new(&filter, &table())
            .expect("a column")
            .test(value.map(str::as_bytes))
    }

    #[test]
    fn realtime_033_integers_are_compared_as_numbers() {
        for (filter, value, verdict) in [
            ("i=lt.10", "9", Verdict::Holds),
            ("i=lt.10", "10", Verdict::Fails),
            ("i=in.(1,2)", "2", Verdict::Holds),
            ("i=not.in.(1,2)", "3", Verdict::Holds),
            ("i=eq.x", "1", Verdict::AskDatabase),
        ] {
            assert_eq!(test(filter, Some(value)), verdict, "{filter} {value}");
        }
    }

    #[test]
    fn realtime_033_texts_uuids_and_booleans_are_compared_for_equality_only() {
        for (filter, value, verdict) in [
            ("t=eq.a", "a", Verdict::Holds),
            ("t=neq.a", "A", Verdict::Holds),
            ("t=lt.b", "a", Verdict::AskDatabase),
            ("t=like.a%", "ab", Verdict::Holds),
            ("t=not.like.a%", "ab", Verdict::Fails),
            ("t=ilike.a%", "ab", Verdict::AskDatabase),
            ("t=in.(a,\"b\")", "b", Verdict::AskDatabase),
            (
                "u=eq.11111111-1111-4111-8111-11111111111A",
                "11111111-1111-4111-8111-11111111111a",
                Verdict::Holds,
            ),
            ("b=eq.true", "t", Verdict::Holds),
            ("n=eq.1.0", "1", Verdict::AskDatabase),
        ] {
            assert_eq!(test(filter, Some(value)), verdict, "{filter} {value}");
        }
    }

    #[test]
    fn realtime_036_null_is_matched_by_is_null_only() {
        for (filter, verdict) in [
            ("i=eq.1", Verdict::Fails),
            ("i=not.eq.1", Verdict::Fails),
            ("i=is.null", Verdict::Holds),
            ("i=not.is.null", Verdict::Fails),
            ("b=is.true", Verdict::Fails),
            ("b=not.is.true", Verdict::Holds),
        ] {
            assert_eq!(test(filter, None), verdict, "{filter}");
        }
    }
}
