//! Replaces what differs from one database to the next in responses, such as oids.

use std::collections::HashMap;

use serde_json::Value;

use super::case::Answer;

/// Oids below this are those of PostgreSQL's own objects, which are the same on every server of a version.
const FIRST_OWN_OID: u64 = 16_384;

/// Replaces each oid by a symbol, numbered in the order of appearance; equal oids get the same symbol.
#[derive(Default)]
pub(crate) struct Normalizer {
    numbers: HashMap<u64, usize>,
}

impl Normalizer {
    pub(crate) fn normalize(&mut self, answer: Answer) -> Answer {
        Answer {
            answer: self.rewrite("", sort(answer.answer)),
            ..answer
        }
    }

    fn rewrite(&mut self, name: &str, value: Value) -> Value {
        match value {
            // Values that depend on the server or on PostgreSQL's version.
            _ if matches!(name, "active_connections" | "connection_limit" | "line") => Value::Null,
            Value::Object(members) => {
                let members = members.into_iter();
                let rewritten = members.map(|(name, value)| {
                    let value = self.rewrite(&name, value);
                    (name, value)
                });
                Value::Object(rewritten.collect())
            }
            Value::Array(items) => items.into_iter().map(|item| self.rewrite(name, item)).collect(),
            Value::Number(number) if is_oid(name) => match number.as_u64() {
                Some(oid) if oid >= FIRST_OWN_OID => Value::String(self.symbol_for(oid)),
                _ => Value::Number(number),
            },
            // Text may contain oids: the id of a column such as `16402.3`, or an error message.
            Value::String(text) if name != "code" && !text.starts_with("ERROR") => {
                Value::String(self.rewrite_text(&text))
            }
            other => other,
        }
    }

    fn rewrite_text(&mut self, text: &str) -> String {
        let mut rewritten = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
            let digits = rest[start..]
                .split(|character: char| !character.is_ascii_digit())
                .next()
                .unwrap_or_default();
            rewritten.push_str(&rest[..start]);
            // Numbers outside of the range of oids of users' objects stay.
            match digits.parse() {
                Ok(oid) if oid >= FIRST_OWN_OID && oid != 999_999_999 => {
                    rewritten.push_str(&self.symbol_for(oid))
                }
                _ => rewritten.push_str(digits),
            }
            rest = &rest[start + digits.len()..];
        }
        rewritten + rest
    }

    /// The text `#1`, `#2`, … that stands for an oid, in the order of first use.
    fn symbol_for(&mut self, oid: u64) -> String {
        let next = self.numbers.len() + 1;
        format!("#{}", self.numbers.entry(oid).or_insert(next))
    }
}

/// Leaves out the rights of the console's logins: the original was recorded on a database of ours, where it lists them, and our lists do not.
pub(crate) fn without_console_rights(value: Value) -> Value {
    let is_of_console = |item: &Value| {
        item.get("grantee")
            .and_then(Value::as_str)
            .is_some_and(|grantee| grantee.starts_with("selvedge_"))
    };
    match value {
        Value::Array(items) => {
            let kept = items.into_iter().filter(|item| !is_of_console(item));
            kept.map(without_console_rights).collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, without_console_rights(value)))
                    .collect(),
            )
        }
        other => other,
    }
}

fn is_oid(name: &str) -> bool {
    name == "id" || name.ends_with("_id") || matches!(name, "class" | "collation")
}

/// Sorts arrays whose order PostgreSQL does not define (objects and trigger events) by their members other than oids.
fn sort(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(sort).collect();
            if items.iter().all(Value::is_object) && !items.iter().any(|item| item.get("mode").is_some()) {
                items.sort_by_key(|item| {
                    item.to_string()
                        .replace(|character: char| character.is_ascii_digit(), "")
                });
            }
            if items.iter().any(|item| item == "INSERT" || item == "UPDATE") {
                items.sort_by_key(Value::to_string);
            }
            Value::Array(items)
        }
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name, sort(value)))
                .collect(),
        ),
        other => other,
    }
}
