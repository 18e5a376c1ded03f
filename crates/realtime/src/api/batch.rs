//! `POST /realtime/v1/api/broadcast`: any number of messages to any topics.
//!
//! Body `{"messages":[{"topic","event","payload","private"?,"id"?}]}`; 202 without a body. Messages to private topics that
//! the caller may not write to are dropped, and the response is 202 all the same (REALTIME-029). When the policies cannot be
//! asked, nothing is sent and the response says so.

use std::collections::HashMap;

use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::caller::{ApiCaller, accepted, read_limited};
use super::error::ApiError;
use crate::authorization::CheckError;
use crate::broadcast::{Broadcast, Content, write_envelope};
use crate::state::Shared;
use crate::topic::Topic;

const BLANK: &str = "can't be blank";
const INVALID: &str = "is invalid";
const TOO_LARGE: &str = "Payload size exceeds tenant limit";

/// One valid message of a batch.
struct Message {
    topic: String,
    event: String,
    payload: String,
    is_private: bool,
    id: Option<String>,
}

/// Handles a batch. The whole batch is refused with 422 when one message is invalid; the body then lists the errors of
/// each message by position, `{}` for a valid one.
pub(super) async fn broadcast_batch(
    request: HttpRequest,
    payload: web::Payload,
    shared: web::Data<Shared>,
) -> Result<HttpResponse, ApiError> {
    let caller = ApiCaller::identify(&request, &shared)?;
    let too_large = || ApiError::Invalid(json!({ "messages": [TOO_LARGE] }));
    // The token is checked before the body is read, so strangers cannot make the server buffer megabytes.
    let body = read_limited(payload, shared.config.max_batch_bytes())
        .await?
        .ok_or_else(too_large)?;
    let messages = parse_batch(&body, shared.config.max_payload_bytes)?;
    // The policies are asked once per private topic of the batch, not once per message, and before anything is sent: when one
    // cannot be asked, the caller can repeat the whole batch.
    let mut verdicts: HashMap<String, bool> = HashMap::new();
    for message in messages.iter().filter(|message| message.is_private) {
        if !verdicts.contains_key(&message.topic) {
            let verdict = match caller.may_broadcast(&shared, &message.topic).await {
                // Compat: a policy that raises an error denies, and the messages of its topic are dropped.
                Err(CheckError::Policy) => false,
                verdict => verdict.map_err(ApiError::Check)?,
            };
            verdicts.insert(message.topic.clone(), verdict);
        }
    }
    for message in messages {
        if !message.is_private || verdicts[&message.topic] {
            shared.event_rate.count(1);
            shared.broadcast(message.into_broadcast());
        }
    }
    Ok(accepted(&shared))
}

impl Message {
    fn into_broadcast(self) -> Broadcast {
        let meta = self
            .id
            .map_or_else(String::new, |id| json!({ "id": id }).to_string());
        let envelope = write_envelope(&self.event, self.payload.as_bytes(), &meta);
        let content = Content::Envelope(Bytes::from(envelope));
        Broadcast::new(Topic::new(&self.topic, self.is_private), content)
    }
}

/// Parses and validates the body.
fn parse_batch(body: &[u8], max_payload_bytes: usize) -> Result<Vec<Message>, ApiError> {
    let about_messages = |text| ApiError::Invalid(json!({ "messages": [text] }));
    let body: Value = serde_json::from_slice(body).map_err(|_| ApiError::BodyNotReadable)?;
    let list = match body.get("messages") {
        None | Some(Value::Null) => return Err(about_messages(BLANK)),
        Some(Value::Array(list)) if list.is_empty() => return Err(about_messages(BLANK)),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(about_messages(INVALID)),
    };
    let mut messages = Vec::with_capacity(list.len());
    let mut errors = Vec::with_capacity(list.len());
    for entry in list {
        let Value::Object(entry) = entry else {
            return Err(about_messages(INVALID));
        };
        let (message, of_message) = parse_message(entry, max_payload_bytes);
        messages.extend(message);
        errors.push(Value::Object(of_message));
    }
    if errors.iter().all(|of_message| *of_message == json!({})) {
        Ok(messages)
    } else {
        Err(ApiError::Invalid(json!({ "messages": errors })))
    }
}

/// The message if it is valid, and its errors by field.
fn parse_message(
    entry: &Map<String, Value>,
    max_payload_bytes: usize,
) -> (Option<Message>, Map<String, Value>) {
    let mut errors = Map::new();
    let mut text = |field: &str| match entry.get(field) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        None | Some(Value::Null | Value::String(_)) => {
            errors.insert(field.to_owned(), json!([BLANK]));
            None
        }
        Some(_) => {
            errors.insert(field.to_owned(), json!([INVALID]));
            None
        }
    };
    let (topic, event) = (text("topic"), text("event"));
    let payload = match entry.get("payload") {
        None | Some(Value::Null) => Err(BLANK),
        Some(payload @ Value::Object(_)) => Ok(payload.to_string()),
        Some(_) => Err(INVALID),
    };
    let payload = payload.and_then(|text| {
        if text.len() > max_payload_bytes {
            Err(TOO_LARGE)
        } else {
            Ok(text)
        }
    });
    if let Err(error) = &payload {
        errors.insert("payload".to_owned(), json!([error]));
    }
    let is_private = parse_private(entry.get("private"));
    if is_private.is_none() {
        errors.insert("private".to_owned(), json!([INVALID]));
    }
    let id = entry.get("id").and_then(Value::as_str).map(str::to_owned);
    let message = || {
        Some(Message {
            topic: topic?,
            event: event?,
            payload: payload.ok()?,
            is_private: is_private?,
            id,
        })
    };
    (message(), errors)
}

/// The `private` flag: a boolean, or one of the texts `true`, `false`, `1` and `0`. Absent means public; `None` for
/// anything else.
fn parse_private(value: Option<&Value>) -> Option<bool> {
    match value {
        None | Some(Value::Null) => Some(false),
        Some(Value::Bool(is_private)) => Some(*is_private),
        Some(Value::String(text)) => match text.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        Some(_) => None,
    }
}
