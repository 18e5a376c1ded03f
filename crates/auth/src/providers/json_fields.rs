//! Reads JSON from providers: a field that is missing or has another type is read as empty, without a panic.
//!
//! A provider's response is untrusted input. `map["name"]` panics when a map has no such key, so this folder reads
//! fields only through [`Fields`].

use serde_json::{Map, Value};

/// The members of a JSON object. A value of another type is read as an object without members.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(Option<&'a Map<String, Value>>);

impl<'a> From<&'a Value> for Fields<'a> {
    fn from(value: &'a Value) -> Self {
        Self(value.as_object())
    }
}

impl<'a> From<&'a Map<String, Value>> for Fields<'a> {
    fn from(map: &'a Map<String, Value>) -> Self {
        Self(Some(map))
    }
}

impl<'a> Fields<'a> {
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0.and_then(|map| map.get(name))
    }

    /// A string member; empty when it is missing or not a string.
    pub(super) fn text(self, name: &str) -> &'a str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// An id, which some providers send as a number. Empty when it is missing; 0 counts as missing.
    pub(super) fn id(self, name: &str) -> String {
        match self.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) if number.as_i64() != Some(0) => number.to_string(),
            _ => String::new(),
        }
    }

    /// An integer member; `None` when it is missing, has a fraction, or is not a number.
    pub(super) fn number(self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// Whether a boolean member is true.
    ///
    /// Compat: some providers send booleans as strings (`"true"`, `"1"`) or as the number 1.
    pub(super) fn is_true(self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => matches!(text.as_str(), "true" | "1"),
            Some(Value::Number(number)) => number.as_i64() == Some(1),
            _ => false,
        }
    }

    /// Whether the member exists, also when it is null.
    pub(super) fn has(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A member of any type; null when it is missing.
    pub(super) fn value(self, name: &str) -> Value {
        self.get(name).cloned().unwrap_or_default()
    }

    /// The members of a nested object.
    pub(super) fn object(self, name: &str) -> Self {
        Self(self.get(name).and_then(Value::as_object))
    }

    /// The elements of a nested list.
    pub(super) fn list(self, name: &str) -> impl Iterator<Item = Self> {
        list_elements(self.get(name))
    }

    /// The first element of a nested list; without members when there is none.
    pub(super) fn first(self, name: &str) -> Self {
        self.list(name).next().unwrap_or(Self(None))
    }

    /// First and last name, separated by a space. `first` and `last` name the members; either may be missing.
    pub(super) fn full_name(self, first: &str, last: &str) -> String {
        format!("{} {}", self.text(first), self.text(last))
            .trim()
            .to_owned()
    }

    /// All members with their names.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.0.into_iter().flatten()
    }
}

/// The elements of a list, each read as an object; none when the value is not a list.
pub(super) fn list_elements(list: Option<&Value>) -> impl Iterator<Item = Fields<'_>> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(Fields::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_and_mistyped_members_are_read_as_empty() {
        let value = json!({"id": 7, "zero": 0, "name": null, "list": {}, "nested": "text"});
        let fields = Fields::from(&value);

        assert_eq!(
            (fields.id("id"), fields.id("zero")),
            ("7".to_owned(), String::new())
        );
        assert_eq!((fields.text("name"), fields.text("id")), ("", ""));
        assert_eq!(fields.object("nested").text("x"), "");
        assert_eq!(fields.first("list").object("deeper").text("x"), "");
        assert_eq!(fields.value("absent"), Value::Null);
        assert_eq!(Fields::from(&json!([1])).text("x"), "");
    }

    #[test]
    fn is_true_accepts_booleans_strings_and_numbers() {
        for (value, expected) in [
            (json!(true), true),
            (json!("true"), true),
            (json!("1"), true),
            (json!(1), true),
            (json!(false), false),
            (json!("yes"), false),
            (json!(2), false),
            (json!(null), false),
        ] {
            let object = json!({"flag": value});
            assert_eq!(Fields::from(&object).is_true("flag"), expected, "{object}");
        }
    }
}
