//! One entry of `config.postgres_changes` in a join, and the id that the server gives it.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use serde_json::{Map, Value};

/// Ids are below 2^27, as upstream: the client parses them as JavaScript numbers, which hold integers exactly only up
/// to 2^53.
const ID_BITS: u32 = 27;

/// A subscription of a client to changes, and the id in its events.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binding {
    /// Never 0, because the stock client tests the id for truthiness. Equal bindings have equal ids.
    pub(crate) id: u64,
    /// The entry as the client sent it. The reply echoes it unchanged: the stock client compares the two and
    /// unsubscribes when they differ.
    pub(crate) parameters: Map<String, Value>,
}

impl Binding {
    /// Creates the binding of an entry. The id is a hash with a fixed seed, so it is the same after restarts and in every
    /// process.
    pub(crate) fn new(parameters: Map<String, Value>) -> Self {
        // The order of keys in the client's text must not matter, so they are sorted first.
        let sorted: BTreeMap<&String, &Value> = parameters.iter().collect();
        let text = serde_json::to_string(&sorted).expect("JSON values can be written as JSON");
        // The remainder is below 2^27 - 1, so that adding 1 below keeps the id within the limit and above 0.
        let hash = FixedState::default().hash_one(text) % ((1 << ID_BITS) - 1);
        Self {
            id: hash + 1,
            parameters,
        }
    }

    /// The entry in the reply to the join: the client's own, with `id` added.
    pub(crate) fn reply_entry(&self) -> Value {
        let mut entry = self.parameters.clone();
        entry.insert("id".to_owned(), Value::from(self.id));
        Value::Object(entry)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn binding(value: Value) -> Binding {
        match value {
            Value::Object(map) => Binding::new(map),
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn realtime_004_equal_bindings_have_equal_ids_and_the_reply_keeps_unknown_keys() {
        let one = binding(json!({"event": "*", "schema": "public", "x": null}));
        let other = binding(json!({"schema": "public", "x": null, "event": "*"}));

        assert_eq!(one.id, other.id);
        assert!(one.id > 0 && one.id <= 1 << ID_BITS);
        assert_eq!(
            one.reply_entry(),
            json!({"event": "*", "schema": "public", "x": null, "id": one.id})
        );
    }
}
