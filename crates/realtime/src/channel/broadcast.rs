//! `broadcast` messages of a channel: permission, size, delivery, acknowledgement (realtime contract §8.1).

use super::check::Check;
use super::join_error::failure_reply;
use super::joined::{Channel, Handled};
use super::permissions::FailedCheck;
use crate::authorization::CheckError;
use crate::broadcast::{Broadcast, Content};
use crate::frame::{ClientFrame, Payload};
use crate::metrics::METRICS;

impl Channel {
    /// Sends a broadcast to the members of the topic. The INSERT policies are asked at the first broadcast only; the
    /// verdict is kept with the channel until its token changes. A check without a verdict drops the broadcast with an error.
    pub(super) fn handle_broadcast(&mut self, frame: &ClientFrame) -> Handled {
        let shared = &self.context.worker.shared;
        match self.permissions.write_broadcast {
            None => {
                let failed = self.failed_broadcast_check.as_ref().and_then(FailedCheck::error);
                let Some(error) = failed else {
                    return Handled::Needs(Check::WriteBroadcast);
                };
                self.refuse_broadcast(frame, error);
                return Handled::Done;
            }
            // Compat: a denied broadcast is dropped without a reply, even where acknowledgements were asked for.
            Some(false) => {
                METRICS.count_drop("unauthorized");
                return Handled::Done;
            }
            Some(true) => {}
        }
        if let Some(refusal) = refuse_persistence(frame, self.member.topic.is_private()) {
            METRICS.count_drop("not_stored");
            // Also without `ack`: the client would take it for stored.
            self.member.reply(&frame.reference, &refusal);
            return Handled::Done;
        }
        let (content, length) = match &frame.payload {
            Payload::Json(payload) => (Content::Envelope(payload.clone()), payload.len()),
            Payload::UserBroadcast(push) => {
                let content = Content::User {
                    event: push.event.clone(),
                    encoding: push.encoding,
                    payload: push.payload.clone(),
                    meta: String::new(),
                };
                (content, push.payload.len())
            }
        };
        if shared.config.is_too_large(length) {
            METRICS.count_drop("too_large");
            self.acknowledge(frame, r#"{"status":"error","response":"payload_size_exceeded"}"#);
            return Handled::Done;
        }
        // Counted once as received here, and once per receiver when it is delivered.
        shared.event_rate.count(1);
        // Excludes this channel only: another channel of the same socket or user still gets the message.
        let except = (!self.receives_own).then_some(self.member.id);
        let broadcast = Broadcast::new(self.member.topic.clone(), content);
        self.context.worker.broadcast(broadcast, except);
        self.acknowledge(frame, r#"{"status":"ok","response":{}}"#);
        Handled::Done
    }

    /// Drops a broadcast because the policies could not be asked. A policy that raises an error denies, without a reply.
    pub(super) fn refuse_broadcast(&self, frame: &ClientFrame, error: CheckError) {
        if error == CheckError::Policy {
            METRICS.count_drop("unauthorized");
            return;
        }
        METRICS.count_drop("unchecked");
        self.acknowledge(frame, &failure_reply(error));
    }

    /// Replies to a broadcast if the channel joined with `broadcast.ack`.
    fn acknowledge(&self, frame: &ClientFrame, reply: &str) {
        if self.acknowledges {
            self.member.reply(&frame.reference, reply);
        }
    }
}

/// The reply to a broadcast that is to be stored, which this server cannot do yet. Nobody gets it: who replays the topic later would
/// miss what those who are there have seen.
fn refuse_persistence(frame: &ClientFrame, is_private: bool) -> Option<String> {
    let asks = matches!(&frame.payload, Payload::UserBroadcast(push) if push.wants_persistence);
    if !asks {
        return None;
    }
    let error = match is_private {
        true => "Storing broadcasts is not supported",
        false => "Broadcasts can be stored on private channels only",
    };
    let reply = serde_json::json!({ "status": "error", "response": { "error": error } });
    Some(reply.to_string())
}
