//! The payload of `phx_join`. A part of the wrong type counts as missing, so that a join is never refused for its
//! shape (realtime contract §5.1).

use std::time::Duration;

use serde_json::{Map, Value};

use super::binding::Binding;
use crate::token::is_opaque_key;

/// How long a join waits for its subscriptions to database changes if it names no time, and at most.
const DEFAULT_CHANGES_TIME: Duration = Duration::from_millis(15_000);
const LONGEST_CHANGES_TIME: Duration = Duration::from_millis(20_000);

/// The payload of a join.
#[derive(Debug, Clone, Default)]
pub(crate) struct JoinRequest {
    /// `broadcast.ack`: whether the channel's broadcasts are acknowledged.
    pub(crate) acknowledges: bool,
    /// `broadcast.self`: whether the channel gets its own broadcasts.
    pub(crate) receives_own: bool,
    /// `broadcast.replay`; `None` without the key. Values other than objects are kept, because a public channel
    /// refuses any replay.
    pub(crate) replay: Option<Value>,
    /// `broadcast.replication_ready`: whether to be told when broadcasts from the database arrive.
    pub(crate) wants_replication_notice: bool,
    /// Key under which the channel's presence is listed; a random UUID if the client chose none.
    pub(crate) presence_key: String,
    pub(crate) is_presence_enabled: bool,
    pub(crate) bindings: Vec<Binding>,
    /// `postgres_changes_options` with `wait`: how long the answer may wait for the subscriptions.
    pub(crate) changes_time: Option<Duration>,
    /// Whether the policies on `realtime.messages` apply.
    pub(crate) is_private: bool,
    /// Whether the payload was too long to be read.
    pub(crate) is_too_long: bool,
    /// The channel's own token; `None` when it runs under the connection's token.
    pub(crate) token: Option<String>,
}

impl JoinRequest {
    /// Reads a payload of any JSON shape.
    pub(crate) fn parse(payload: &Value) -> Self {
        let nothing = Value::Null;
        let part = |value: &Value, name: &str| value.get(name).cloned().unwrap_or(Value::Null);
        let config = payload.get("config").unwrap_or(&nothing);
        let (broadcast, presence) = (part(config, "broadcast"), part(config, "presence"));
        Self {
            acknowledges: flag(&broadcast, "ack"),
            receives_own: flag(&broadcast, "self"),
            replay: broadcast.get("replay").cloned(),
            wants_replication_notice: flag(&broadcast, "replication_ready"),
            presence_key: presence_key(presence.get("key")),
            is_presence_enabled: flag(&presence, "enabled"),
            bindings: bindings(config.get("postgres_changes")),
            changes_time: changes_time(&part(config, "postgres_changes_options")),
            is_private: flag(config, "private"),
            is_too_long: false,
            token: own_token(payload),
        }
    }

    /// How long the answer may wait for the subscriptions to database changes; `None` when it does not wait.
    pub(crate) fn time_for_changes(&self) -> Option<Duration> {
        self.changes_time.filter(|_| !self.bindings.is_empty())
    }

    /// The replay's parameters if they are an object.
    pub(crate) fn replay_parameters(&self) -> Option<&Map<String, Value>> {
        self.replay.as_ref().and_then(Value::as_object)
    }
}

/// A boolean. Compat: also accepts the text `true` in any letter case.
fn flag(section: &Value, name: &str) -> bool {
    match section.get(name) {
        Some(Value::Bool(value)) => *value,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// The time in options that ask to wait. A `timeout` that is no positive number of milliseconds counts as absent.
fn changes_time(options: &Value) -> Option<Duration> {
    let is_one = options.get("wait").is_some_and(|wait| *wait == 1 || *wait == "1");
    if !is_one && !flag(options, "wait") {
        return None;
    }
    let asked = options.get("timeout").and_then(Value::as_f64);
    let asked = asked.filter(|milliseconds| *milliseconds > 0.0);
    let time = asked.map(|milliseconds| {
        let seconds = (milliseconds / 1000.0).min(LONGEST_CHANGES_TIME.as_secs_f64());
        Duration::from_secs_f64(seconds)
    });
    Some(time.unwrap_or(DEFAULT_CHANGES_TIME))
}

/// The client's presence key as text; a random UUID when it sent none.
fn presence_key(key: Option<&Value>) -> String {
    match key {
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        Some(scalar @ (Value::Number(_) | Value::Bool(_))) => scalar.to_string(),
        _ => uuid::Uuid::new_v4().to_string(),
    }
}

/// The entries of `postgres_changes` that are objects.
fn bindings(list: Option<&Value>) -> Vec<Binding> {
    let entries = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    entries
        .iter()
        .filter_map(Value::as_object)
        .map(|parameters| Binding::new(parameters.clone()))
        .collect()
}

/// Returns the channel's own token: `user_token`, else `access_token`. An opaque API key there is ignored, because it is not
/// a user's token; the connection's token is used then.
fn own_token(payload: &Value) -> Option<String> {
    let token = payload
        .get("user_token")
        .filter(|value| !value.is_null())
        .or_else(|| payload.get("access_token"))?;
    token
        .as_str()
        .filter(|text| !is_opaque_key(text))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn realtime_069_wrong_types_and_missing_keys_fall_back_to_defaults() {
        let payloads = [
            json!(null),
            json!("text"),
            json!({}),
            json!({"config": "x"}),
            json!({"config": {"broadcast": [], "presence": 7, "private": "perhaps", "postgres_changes": {}}}),
            json!({"config": {"broadcast": {"ack": 5, "self": "no"}, "postgres_changes": [null, 3]}}),
        ];
        for payload in payloads {
            let request = JoinRequest::parse(&payload);

            assert!(
                !request.acknowledges && !request.receives_own && !request.is_private,
                "{payload}"
            );
            assert!(
                !request.is_presence_enabled && request.bindings.is_empty(),
                "{payload}"
            );
            assert!(uuid::Uuid::parse_str(&request.presence_key).is_ok(), "{payload}");
        }
    }

    #[test]
    fn realtime_069_accepts_booleans_as_text_and_presence_keys_as_scalars() {
        let request = JoinRequest::parse(&json!({
            "config": {"broadcast": {"ack": "TRUE", "self": "false"}, "presence": {"key": 7, "enabled": "True"}}
        }));

        assert!(request.acknowledges && !request.receives_own && request.is_presence_enabled);
        assert_eq!(request.presence_key, "7");
    }

    #[test]
    fn realtime_201_odd_options_of_the_wait_fall_back_to_defaults() {
        let time = |options: Value| {
            let changes = [json!({"event": "*"})];
            let config = json!({"postgres_changes": changes, "postgres_changes_options": options});
            let request = JoinRequest::parse(&json!({ "config": config }));
            request.time_for_changes().map(|time| time.as_millis())
        };
        let with_wait = |timeout: Value| time(json!({"wait": true, "timeout": timeout}));

        for wait in [json!(true), json!("TRUE"), json!(1), json!("1")] {
            assert_eq!(time(json!({ "wait": wait })), Some(15_000), "{wait}");
        }
        for wait in [json!(false), json!(null), json!(0), json!("no"), json!([true])] {
            assert_eq!(time(json!({ "wait": wait })), None, "{wait}");
        }
        for other in [json!(true), json!(null), json!([]), json!({"timeout": 5})] {
            assert_eq!(time(other.clone()), None, "{other}");
        }
        assert_eq!(with_wait(json!(300)), Some(300));
        assert_eq!(with_wait(json!(1e300)), Some(20_000));
        for odd in [json!(0), json!(-5), json!("300"), json!(null)] {
            assert_eq!(with_wait(odd.clone()), Some(15_000), "{odd}");
        }
        let without = json!({"config": {"postgres_changes_options": {"wait": true}}});
        assert_eq!(JoinRequest::parse(&without).time_for_changes(), None);
    }

    #[test]
    fn realtime_056_join_ignores_an_opaque_key_in_place_of_a_token() {
        let token = |payload| JoinRequest::parse(&payload).token;

        assert_eq!(token(json!({"access_token": "sb_publishable_x"})), None);
        assert_eq!(token(json!({"access_token": "a.b.c"})), Some("a.b.c".to_owned()));
        assert_eq!(
            token(json!({"access_token": "a", "user_token": "u"})),
            Some("u".to_owned())
        );
    }
}
