//! `presence` messages of a channel: track, untrack and their limits (realtime contract §9).

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::check::Check;
use super::join_error::failure_reply;
use super::joined::{Channel, Handled};
use super::permissions::FailedCheck;
use crate::authorization::CheckError;
use crate::cluster::Cluster;
use crate::fanout::PresenceReception;
use crate::frame::{ClientFrame, Payload, json_string};
use crate::limits::HeldMemory;
use crate::metrics::METRICS;
use crate::presence::Tracked;

const OK: &str = r#"{"status":"ok","response":{}}"#;
const ERROR: &str = r#"{"status":"error","response":{}}"#;
const NO_MEMORY: &str =
    r#"{"status":"error","response":{"reason":"There is no memory for this presence at the moment"}}"#;
/// Bytes of a message between nodes about an entry besides its topic, its key and its object.
const WIRE_BYTES: usize = 1024;
const NOT_AN_OBJECT: &str =
    r#"{"status":"error","response":{"reason":"Presence track payload must be a map"}}"#;

/// A parsed `presence` message of a client.
enum Push {
    Track(Tracked),
    /// `track` with a payload that is not an object.
    TrackNothing,
    Untrack,
    /// A push without an event, or whose payload is not an object.
    Empty,
    /// An event other than `track` and `untrack`.
    Unknown,
}

impl Channel {
    /// Handles a presence push and replies to it. Over a limit, the channel is closed instead, as upstream does.
    pub(super) fn handle_presence(&mut self, frame: &ClientFrame) -> Handled {
        // Asked before the push is counted: the push comes back here with the answer and must not count twice.
        if self.permissions.write_presence.is_none() {
            if let Some(error) = self.failed_presence_check.as_ref().and_then(FailedCheck::error) {
                self.refuse_presence(frame, error);
                return Handled::Done;
            }
            let asks_read = self.permissions.read_presence.is_none();
            return Handled::Needs(Check::WritePresence { asks_read });
        }
        if let Some(reason) = self.count_presence_push() {
            return Handled::Close(reason.to_owned());
        }
        if let Payload::Json(payload) = &frame.payload
            && self.context.worker.shared.config.is_too_large(payload.len())
        {
            return Handled::Close("Track message size exceeded".to_owned());
        }
        let reply = match parse_push(frame) {
            Push::Empty => OK,
            Push::Unknown => ERROR,
            Push::TrackNothing => NOT_AN_OBJECT,
            // Compat: unlike a denied broadcast, a denied presence push gets an error reply.
            Push::Track(_) | Push::Untrack if self.permissions.write_presence != Some(true) => ERROR,
            Push::Track(tracked) => {
                if self.is_too_large_to_track(&tracked) {
                    return Handled::Close("Track message size exceeded".to_owned());
                }
                match self.track(tracked) {
                    true => OK,
                    false => NO_MEMORY,
                }
            }
            Push::Untrack => {
                self.context
                    .worker
                    .shared
                    .untrack(&self.member.topic, self.member.id);
                OK
            }
        };
        // The reply is queued before the diff, so the client sees its push confirmed first.
        self.member.reply(&frame.reference, reply);
        self.context
            .worker
            .shared
            .presence
            .announce_changes(&self.member.topic);
        Handled::Done
    }

    /// Replies to a presence push that is dropped because the policies could not be asked.
    pub(super) fn refuse_presence(&self, frame: &ClientFrame, error: CheckError) {
        if error == CheckError::Policy {
            METRICS.count_drop("unauthorized");
            self.member.reply(&frame.reference, ERROR);
            return;
        }
        METRICS.count_drop("unchecked");
        self.member.reply(&frame.reference, &failure_reply(error));
    }

    /// Whether an entry is longer than a payload may be, or than what can be sent to the other nodes: one that cannot would keep them
    /// from learning anything of this node's presence.
    fn is_too_large_to_track(&self, tracked: &Tracked) -> bool {
        let shared = &self.context.worker.shared;
        let bytes = self.presence_key.len() + tracked.len();
        let topic = self.member.topic.wire_name();
        // Quotes and control characters in key and topic are escaped.
        let on_wire =
            json_string(&self.presence_key).len() + json_string(topic).len() + tracked.len() + WIRE_BYTES;
        let most = shared.cluster.as_ref().and_then(Cluster::max_message_bytes);
        shared.config.is_too_large(bytes) || most.is_some_and(|most| on_wire > most)
    }

    /// Lists the channel as present with this object. False when there is no memory for it.
    fn track(&self, tracked: Tracked) -> bool {
        let shared = &self.context.worker.shared;
        let bytes = self.presence_key.len() + tracked.len();
        let reserved = HeldMemory::reserve_presence(&shared.config.memory, self.context.client, bytes);
        let Some(memory) = reserved else {
            METRICS.count_drop("out_of_memory");
            return false;
        };
        // Compat: a channel that joined without presence receives diffs from its first `track` on.
        if self.member.presence.get() == PresenceReception::Off
            && self.permissions.read_presence == Some(true)
        {
            self.member.presence.set(PresenceReception::ChannelPush);
        }
        shared.track(&self.member, &self.presence_key, tracked.held_by(memory));
        true
    }

    /// Counts a push against the limits of the channel and of the project. `Some` when a limit is exceeded, with the
    /// text with which the channel is closed.
    fn count_presence_push(&mut self) -> Option<&'static str> {
        let shared = &self.context.worker.shared;
        shared.presence_rate.count(1);
        if shared.presence_rate.is_exceeded() {
            return Some("Too many presence messages per second");
        }
        let (limit, window) = (shared.config.max_presence_pushes, shared.config.presence_window);
        let (began, count) = &mut self.presence_pushes;
        if began.elapsed() >= window {
            (*began, *count) = (Instant::now(), 0);
        }
        *count += 1;
        (limit > 0 && *count > limit).then_some("Client presence rate limit exceeded")
    }
}

/// The payload of a presence push. The parts are not parsed: as values they would take many times their bytes.
#[derive(Deserialize)]
struct PushPayload<'a> {
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
    /// `None` when there is no such key, unlike for null.
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    payload: Option<&'a RawValue>,
}

fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the payload of a presence push. Event names are compared without regard to case; `track` without a payload
/// tracks an empty object.
fn parse_push(frame: &ClientFrame) -> Push {
    let Payload::Json(json) = &frame.payload else {
        return Push::Empty;
    };
    // An array would be read as the members in their order.
    let is_object = json.trim_ascii_start().first() == Some(&b'{');
    let Some(push) = frame.payload.parse::<PushPayload<'_>>().filter(|_| is_object) else {
        return Push::Empty;
    };
    let Some(event) = push.event else {
        return Push::Empty;
    };
    let Ok(event) = serde_json::from_str::<String>(event.get()) else {
        return Push::Unknown;
    };
    match (
        event.to_ascii_lowercase().as_str(),
        push.payload.map(RawValue::get),
    ) {
        ("track", payload) => match Tracked::parse(payload.unwrap_or("{}")) {
            Some(tracked) => Push::Track(tracked),
            None => Push::TrackNothing,
        },
        ("untrack", _) => Push::Untrack,
        _ => Push::Unknown,
    }
}
