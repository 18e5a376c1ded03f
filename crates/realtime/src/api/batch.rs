//! `POST /realtime/v1/api/broadcast`: up to 500 messages to any topics, of which 50 may be private.
//!
//! Body `{"messages":[{"topic","event","payload","private"?,"id"?}]}`; 202 without a body. Messages to private topics that
//! the caller may not write to are dropped, and the response is 202 all the same (REALTIME-029). When the policies cannot be
//! asked, nothing is sent and the response says so.

use std::collections::{HashMap, HashSet};
use std::fmt;

use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use selvedge_gateway::Caller;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::caller::{ApiCaller, accepted, read_limited};
use super::error::ApiError;
use crate::authorization::CheckError;
use crate::broadcast::{Broadcast, Content, write_envelope};
use crate::state::Shared;
use crate::topic::Topic;

const BLANK: &str = "can't be blank";
const INVALID: &str = "is invalid";
/// Most messages of a batch.
const MAX_MESSAGES: usize = 500;
const TOO_MANY: &str = "should have at most 500 item(s)";
/// Most private topics of a batch, because the policies are asked for each of them.
const MAX_PRIVATE_TOPICS: usize = 50;
const TOO_MANY_TOPICS: &str = "should have at most 50 private topics";
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
    let body = read_limited(
        payload,
        shared.config.max_batch_bytes(),
        &Caller::extract(&request),
    )
    .await?
    .ok_or_else(too_large)?;
    let messages = parse_batch(&body, shared.config.max_payload_bytes)?;
    // Before the policies are asked, which is most of the work: otherwise a client over the rate would go on to cause it.
    shared.event_rate.count(messages.len() as u64);
    let verdicts = ask_policies(&caller, &shared, &messages).await?;
    for message in messages {
        if !message.is_private || verdicts.get(&message.topic).copied().unwrap_or(false) {
            shared.broadcast(message.into_broadcast());
        }
    }
    Ok(accepted(&shared))
}

/// Asks the policies once per private topic of the batch, not once per message, and before anything is sent: when one cannot be asked,
/// the caller can repeat the whole batch.
async fn ask_policies(
    caller: &ApiCaller,
    shared: &Shared,
    messages: &[Message],
) -> Result<HashMap<String, bool>, ApiError> {
    let private = messages.iter().filter(|message| message.is_private);
    let topics: HashSet<&str> = private.map(|message| &*message.topic).collect();
    if topics.len() > MAX_PRIVATE_TOPICS {
        return Err(about_messages(TOO_MANY_TOPICS));
    }
    let mut verdicts = HashMap::new();
    for topic in topics {
        let verdict = match caller.may_broadcast(shared, topic).await {
            // Compat: a policy that raises an error denies, and the messages of its topic are dropped.
            Err(CheckError::Policy) => false,
            verdict => verdict.map_err(ApiError::Check)?,
        };
        verdicts.insert(topic.to_owned(), verdict);
    }
    Ok(verdicts)
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

fn about_messages(text: &str) -> ApiError {
    ApiError::Invalid(json!({ "messages": [text] }))
}

/// The body. Its parts are not parsed: as values they would take many times their bytes.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
}

/// A message of the body, with null for a field that is missing.
#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow, default)]
    topic: Option<&'a RawValue>,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(borrow, default)]
    private: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// The elements of an array, up to one more than a batch may have.
struct FirstElements<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for FirstElements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstElementsVisitor)
    }
}

struct FirstElementsVisitor;

impl<'de> Visitor<'de> for FirstElementsVisitor {
    type Value = FirstElements<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut first = Vec::new();
        while first.len() <= MAX_MESSAGES
            && let Some(element) = elements.next_element()?
        {
            first.push(element);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FirstElements(first))
    }
}

/// Parses and validates the body.
fn parse_batch(body: &[u8], max_payload_bytes: usize) -> Result<Vec<Message>, ApiError> {
    serde_json::from_slice::<IgnoredAny>(body).map_err(|_| ApiError::BodyNotReadable)?;
    // An array would be read as the fields in their order.
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    let body: Option<Body<'_>> = serde_json::from_slice(body).ok().filter(|_| is_object);
    let list = body.and_then(|body| body.messages);
    let list = list.ok_or_else(|| about_messages(BLANK))?;
    let FirstElements(list) = serde_json::from_str(list.get()).map_err(|_| about_messages(INVALID))?;
    if list.is_empty() {
        return Err(about_messages(BLANK));
    }
    if list.len() > MAX_MESSAGES {
        return Err(about_messages(TOO_MANY));
    }
    let mut messages = Vec::with_capacity(list.len());
    let mut errors = Vec::with_capacity(list.len());
    for entry in list {
        let entry = Some(entry.get()).filter(|entry| entry.starts_with('{'));
        let entry = entry.and_then(|entry| serde_json::from_str(entry).ok());
        let entry = entry.ok_or_else(|| about_messages(INVALID))?;
        let (message, of_message) = parse_message(&entry, max_payload_bytes);
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
fn parse_message(entry: &RawMessage<'_>, max_payload_bytes: usize) -> (Option<Message>, Map<String, Value>) {
    let mut errors = Map::new();
    let mut text = |field: &str, value: Option<&RawValue>| {
        let text = value.map(|value| serde_json::from_str::<String>(value.get()));
        let error = match text {
            Some(Ok(text)) if !text.is_empty() => return Some(text),
            None | Some(Ok(_)) => BLANK,
            Some(Err(_)) => INVALID,
        };
        errors.insert(field.to_owned(), json!([error]));
        None
    };
    let (topic, event) = (text("topic", entry.topic), text("event", entry.event));
    let payload = match entry.payload.map(RawValue::get) {
        None => Err(BLANK),
        Some(payload) if !payload.starts_with('{') => Err(INVALID),
        Some(payload) if payload.len() > max_payload_bytes => Err(TOO_LARGE),
        Some(payload) => Ok(payload.to_owned()),
    };
    if let Err(error) = &payload {
        errors.insert("payload".to_owned(), json!([error]));
    }
    let is_private = parse_private(entry.private);
    if is_private.is_none() {
        errors.insert("private".to_owned(), json!([INVALID]));
    }
    let id = entry.id.and_then(|id| serde_json::from_str(id.get()).ok());
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
fn parse_private(value: Option<&RawValue>) -> Option<bool> {
    match value.map(RawValue::get) {
        None | Some("false" | r#""false""# | r#""0""#) => Some(false),
        Some("true" | r#""true""# | r#""1""#) => Some(true),
        Some(_) => None,
    }
}
