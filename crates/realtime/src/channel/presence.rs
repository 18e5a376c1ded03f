//! `presence` messages of a channel: track, untrack and their limits (realtime contract §9).

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::check::Check;
use super::join_error::failure_reply;
use super::joined::{Channel, Handled};
use super::permissions::FailedCheck;
use crate::authorization::CheckError;
use crate::fanout::PresenceReception;
use crate::frame::{ClientFrame, Payload};
use crate::metrics::METRICS;

const OK: &str = r#"{"status":"ok","response":{}}"#;
const ERROR: &str = r#"{"status":"error","response":{}}"#;
const NOT_AN_OBJECT: &str =
    r#"{"status":"error","response":{"reason":"Presence track payload must be a map"}}"#;

/// A parsed `presence` message of a client.
enum Push {
    Track(Map<String, Value>),
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
            Push::Track(payload) => {
                self.track(payload);
                OK
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

    /// Lists the channel as present with this payload.
    fn track(&self, payload: Map<String, Value>) {
        // Compat: a channel that joined without presence receives diffs from its first `track` on.
        if self.member.presence.get() == PresenceReception::Off
            && self.permissions.read_presence == Some(true)
        {
            self.member.presence.set(PresenceReception::ChannelPush);
        }
        let shared = &self.context.worker.shared;
        shared.track(&self.member, &self.presence_key, payload);
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

/// Reads the payload of a presence push. Event names are compared without regard to case; `track` without a payload
/// tracks an empty object.
fn parse_push(frame: &ClientFrame) -> Push {
    let Some(Value::Object(mut payload)) = frame.payload.parse::<Value>() else {
        return Push::Empty;
    };
    let event = match payload.get("event") {
        None | Some(Value::Null) => return Push::Empty,
        Some(Value::String(event)) => event.to_ascii_lowercase(),
        Some(_) => return Push::Unknown,
    };
    match (event.as_str(), payload.remove("payload")) {
        ("track", None) => Push::Track(Map::new()),
        ("track", Some(Value::Object(tracked))) => Push::Track(tracked),
        ("track", Some(_)) => Push::TrackNothing,
        ("untrack", _) => Push::Untrack,
        _ => Push::Unknown,
    }
}
