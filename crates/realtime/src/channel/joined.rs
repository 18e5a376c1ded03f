//! A joined channel: dispatch of its messages, its token's expiry and refresh, and cleanup when it ends.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selvedge_limits::{ClientId, Share, Shares};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::check::{Check, CheckOutcome};
use super::join_error::{check_text, unreadable};
use super::permissions::{FailedCheck, Permissions};
use crate::authorization::{CheckError, ReadVerdict};
use crate::changes::ChannelKey;
use crate::cluster::JoinedTopic;
use crate::fanout::{Member, Outbox, SystemMessage};
use crate::frame::{ClientFrame, Version};
use crate::state::Worker;
use crate::token::{Token, TokenRefusal, is_opaque_key};

/// Longest `access_token` message in bytes; longer ones are ignored. A token in a header could not be as long.
const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// State that all channels of a socket share.
pub(crate) struct SocketContext {
    pub(crate) worker: Rc<Worker>,
    pub(crate) version: Version,
    /// The connection's token, which is used by channels without their own.
    pub(crate) token: Token,
    /// Headers of the handshake that policies see, as a JSON object: those that begin with `x-`.
    pub(crate) headers: Arc<str>,
    pub(crate) outbox: Rc<Outbox>,
    /// The client as limits count it.
    pub(crate) client: ClientId,
    /// Subscriptions to database changes of this socket.
    pub(crate) binding_shares: Shares,
}

/// The outcome of handling a message.
#[derive(Debug)]
pub(crate) enum Handled {
    Done,
    /// The database has to be asked; with its answer the message is to be handled again.
    Needs(Check),
    /// The channel has to end with this text as a `system` error.
    Close(String),
    /// The client has left the channel.
    Left,
}

/// A channel. Dropping it removes it from fan-out, presence and change delivery.
pub(crate) struct Channel {
    pub(super) context: Rc<SocketContext>,
    pub(super) member: Rc<Member>,
    /// Whether the channel joined with `broadcast.ack`.
    pub(super) acknowledges: bool,
    /// Whether the channel joined with `broadcast.self`.
    pub(super) receives_own: bool,
    /// Key under which the channel's presence is listed.
    pub(super) presence_key: Arc<str>,
    pub(super) permissions: Permissions,
    /// The last check of a right to write, if it gave no verdict.
    pub(super) failed_broadcast_check: Option<FailedCheck>,
    pub(super) failed_presence_check: Option<FailedCheck>,
    /// Start of the current window of presence pushes, and their number in it.
    pub(super) presence_pushes: (Instant, u32),
    pub(super) token: Token,
    /// When the token has to be verified again.
    pub(super) token_deadline: Instant,
    /// Whether the channel has subscribed to database changes.
    pub(super) has_bindings: bool,
    /// The subscriptions to database changes as they are counted, by socket and by client.
    pub(super) _counted_bindings: Vec<Share>,
    /// Keeps the subscription to other nodes' broadcasts until the channel is dropped.
    pub(super) _joined_topic: Option<JoinedTopic>,
    /// Messages that wait for a check, oldest first; the first one is the message that needed it.
    pub(crate) deferred: VecDeque<ClientFrame>,
    /// Whether the database is being asked; messages are deferred meanwhile.
    pub(crate) is_checking: bool,
}

impl Channel {
    /// Returns the channel's entry in the fan-out.
    pub(crate) fn member(&self) -> &Member {
        &self.member
    }

    /// When [`Channel::check_token`] is due.
    pub(crate) fn token_deadline(&self) -> Instant {
        self.token_deadline
    }

    /// Handles a message of the client.
    pub(crate) fn handle_frame(&mut self, frame: &ClientFrame) -> Handled {
        match frame.event.as_str() {
            "broadcast" => self.handle_broadcast(frame),
            "presence" => self.handle_presence(frame),
            "access_token" => self.handle_access_token(frame),
            "phx_leave" => self.handle_leave(frame),
            // Compat: unknown events count as messages and get no reply.
            _ => {
                self.context.worker.shared.event_rate.count(1);
                Handled::Done
            }
        }
    }

    /// Applies the answer to a check. `Some` when the channel has to end, with the text for the client.
    pub(crate) fn apply(&mut self, outcome: CheckOutcome) -> Option<String> {
        match outcome {
            CheckOutcome::WriteBroadcast(Ok(verdict)) => {
                self.permissions.write_broadcast = Some(verdict);
                self.failed_broadcast_check = None;
            }
            CheckOutcome::WriteBroadcast(Err(error)) => {
                self.failed_broadcast_check = Some(FailedCheck::after(self.failed_broadcast_check, error));
                self.give_up_message(error, Self::refuse_broadcast);
            }
            CheckOutcome::WritePresence {
                write: Ok(write),
                read: Ok(read),
            } => {
                self.permissions.write_presence = Some(write);
                self.permissions.read_presence = self.permissions.read_presence.or(read);
                self.failed_presence_check = None;
            }
            CheckOutcome::WritePresence {
                write: Err(error), ..
            }
            | CheckOutcome::WritePresence { read: Err(error), .. } => {
                self.failed_presence_check = Some(FailedCheck::after(self.failed_presence_check, error));
                self.give_up_message(error, Self::refuse_presence);
            }
            CheckOutcome::Refresh { token, verdict } => return self.apply_refresh(token, verdict),
        }
        None
    }

    /// Drops the message whose check failed, which is the first one that waits, and tells the client. Such a check is no verdict:
    /// the policies are asked again for a later message. Compat: a policy that raises an error denies, without a word.
    fn give_up_message(&mut self, error: CheckError, refuse: fn(&Self, &ClientFrame, CheckError)) {
        if let Some(frame) = self.deferred.pop_front() {
            refuse(self, &frame, error);
        }
        if error != CheckError::Policy {
            self.push_system(false, check_text(error).to_owned());
        }
    }

    /// Verifies the token again: it may have expired, or its key may have been removed. `Some` when the channel has to
    /// end, with the text for the client.
    pub(crate) fn check_token(&mut self) -> Option<String> {
        let shared = &self.context.worker.shared;
        match shared.verifier.verify(&self.token.text) {
            Ok(_) => {
                self.token_deadline = deadline_of(&self.token, shared.config.token_check_interval);
                None
            }
            Err(refusal) => Some(refusal.channel_text()),
        }
    }

    /// The text for the client when the user of the channel's token was deleted or banned.
    pub(crate) fn find_ended_user(&self) -> Option<String> {
        let ended = self.context.worker.shared.verifier.ended_users();
        ended
            .includes(&self.token.claims)
            .then(|| TokenRefusal::UserEnded.channel_text())
    }

    /// Queues the `system` error and `phx_close` with which a channel ends. The caller then drops the channel.
    pub(crate) fn push_end(&self, reason: String) {
        self.push_system(false, reason);
        self.member.push_close();
    }

    /// Queues a `system` event of the extension `system`.
    pub(crate) fn push_system(&self, is_ok: bool, message: String) {
        let system = SystemMessage {
            extension: "system",
            is_ok,
            message,
        };
        self.member.push("system", &system.payload(&self.member.topic));
    }

    /// Ends the channel at the client's wish. A leave with another `join_ref` belongs to an earlier join of this
    /// topic, which the current one has replaced; it is ignored without a reply.
    fn handle_leave(&self, frame: &ClientFrame) -> Handled {
        let is_stale = frame.join_ref.as_json() != "null" && frame.join_ref != self.member.join_ref;
        if is_stale {
            return Handled::Done;
        }
        self.member
            .reply(&frame.reference, r#"{"status":"ok","response":{}}"#);
        self.member.push_close();
        Handled::Left
    }

    /// Takes a refreshed token. On a private channel the SELECT policies are asked again first, because the new claims
    /// may allow less.
    fn handle_access_token(&mut self, frame: &ClientFrame) -> Handled {
        #[derive(Deserialize)]
        struct AccessToken {
            access_token: Value,
        }
        if frame.payload.len() > MAX_TOKEN_BYTES {
            return Handled::Done;
        }
        // Compat: a payload without the key, or with something else than text, is ignored.
        let Some(AccessToken {
            access_token: Value::String(text),
        }) = frame.payload.parse()
        else {
            return Handled::Done;
        };
        // Clients also send API keys here, and repeat a token that is already in use; neither changes anything.
        if is_opaque_key(&text) || *text == *self.token.text {
            return Handled::Done;
        }
        match self.context.worker.shared.verifier.verify(&text) {
            // Compat: a bad refresh ends the channel even though the old token may still be valid.
            Err(refusal) => Handled::Close(refusal.channel_text()),
            Ok(token) if self.member.topic.is_private() => Handled::Needs(Check::Refresh {
                token,
                with_presence: self.permissions.read_presence.is_some(),
            }),
            Ok(token) => {
                self.replace_token(token);
                Handled::Done
            }
        }
    }

    /// Applies the verdict under a new token. The channel ends when it may read nothing or has lost a right; otherwise
    /// write rights are forgotten and asked again at the next message.
    fn apply_refresh(&mut self, token: Token, verdict: Result<ReadVerdict, CheckError>) -> Option<String> {
        // The message that brought the token is the first one; it must not be handled again.
        self.deferred.pop_front();
        let topic = self.member.topic.name();
        match verdict {
            Err(CheckError::Policy) => Some(unreadable(topic)),
            Err(error) => Some(check_text(error).to_owned()),
            Ok(verdict) if !verdict.allows_anything() => Some(unreadable(topic)),
            Ok(verdict) if self.permissions.loses(verdict) => Some(format!(
                "You no longer have permission to read from this Channel topic: {topic}"
            )),
            Ok(verdict) => {
                self.permissions = Permissions::after_read(verdict);
                (self.failed_broadcast_check, self.failed_presence_check) = (None, None);
                self.member.receives_broadcasts.set(verdict.broadcast);
                self.replace_token(token);
                None
            }
        }
    }

    /// Switches the channel and its database changes to a new token.
    fn replace_token(&mut self, token: Token) {
        let shared = &self.context.worker.shared;
        self.token_deadline = deadline_of(&token, shared.config.token_check_interval);
        if self.has_bindings {
            let role = token.claims.role().unwrap_or_default().to_owned();
            let channel = ChannelKey(self.member.id.as_u64());
            shared
                .feed
                .set_claims(channel, role, token.claims.json().to_owned());
        }
        self.token = token;
    }

    /// The token under whose claims the channel runs.
    pub(crate) fn token(&self) -> &Token {
        &self.token
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let worker = &self.context.worker;
        // Leaves the fan-out first: the channel must not get the diff that announces its own leave.
        worker.remove_member(&self.member);
        worker.end_presence(&self.member.topic, self.member.id);
        if self.has_bindings {
            worker
                .shared
                .feed
                .unsubscribe(ChannelKey(self.member.id.as_u64()));
        }
    }
}

/// When to verify a token again: when it expires, and at the latest after the interval, because its key may be removed
/// before that.
pub(super) fn deadline_of(token: &Token, interval: Duration) -> Instant {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let remaining = token.expires_at.map(|seconds| {
        let expiry = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        expiry.saturating_sub(now)
    });
    Instant::now() + remaining.unwrap_or(interval).min(interval)
}
