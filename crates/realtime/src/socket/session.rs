//! The task of one socket: it handles one event at a time and owns the channels of the socket.
//!
//! Messages of one channel are handled in the order of arrival, also when one of them has to wait for the database: later
//! ones of the same channel are deferred until the result is there. Other channels of the socket are not delayed.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use selvedge_gateway::UpgradedStream;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::closing::Ending;
use super::connection::Connection;
use super::slot::{Joining, Slot, Slots, defer};
use super::steps::{self, Finished, Step};
use crate::channel::{Admission, Handled, JoinError, JoinRequest, SocketContext, admit};
use crate::fanout::{ChannelId, Signal};
use crate::frame::{ClientFrame, Payload, Reference, ServerFrame, parse_binary};
use crate::metrics::METRICS;
use crate::topic;

/// The topic of heartbeats; it is never joined.
const HEARTBEAT_TOPIC: &str = "phoenix";
/// Longest payload of a join in bytes: a hundred subscriptions with filters of a hundred values, and a token. What is parsed of it
/// takes several times as much.
const MAX_JOIN_BYTES: usize = 512 * 1024;
/// How much of a topic is logged, in bytes.
const MAX_LOGGED_BYTES: usize = 256;

/// The event for which the socket's task woke up.
enum Event {
    Read(Option<Result<Message, Error>>),
    /// The connection is lost.
    WriteFailed,
    Finished(Box<Finished>),
    Signal(Signal),
    /// The timer fired, so some deadline may have passed.
    Timer,
}

/// A socket between its handshake and its end.
struct Session {
    context: Rc<SocketContext>,
    connection: Connection,
    slots: Slots,
    /// Joins, policy checks and notices in progress.
    steps: FuturesUnordered<Step>,
    /// One timer for all deadlines of the socket: idleness, missing channels, and the expiry of the channels' tokens.
    timer: Pin<Box<Sleep>>,
    /// When the last frame arrived, heartbeats included.
    last_received: Instant,
    /// Since when the socket has had no channel; `None` before its first channel.
    empty_since: Option<Instant>,
}

/// A client's text as it is logged.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_LOGGED_BYTES))
        .unwrap_or(text)
}

/// Serves a socket until it ends.
pub(super) async fn run(context: Rc<SocketContext>, stream: UpgradedStream) {
    METRICS.sockets.inc();
    let config = &context.worker.shared.config;
    context.worker.rooms.add_socket(&context.outbox);
    let mut session = Session {
        connection: Connection::open(stream, &context),
        slots: Slots::default(),
        steps: FuturesUnordered::new(),
        timer: Box::pin(sleep(config.idle_timeout)),
        last_received: Instant::now(),
        empty_since: None,
        context: Rc::clone(&context),
    };
    let ending = loop {
        let event = poll_fn(|cx| session.poll_event(cx)).await;
        if let Some(ending) = session.handle_event(event) {
            break ending;
        }
    };
    session.end(ending).await;
    METRICS.sockets.dec();
}

impl Session {
    /// Polls the sources of events in a fixed order. Writing comes first, so that a flood of incoming frames cannot
    /// delay replies; reading comes before steps, so that heartbeats are answered while joins wait for the database.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if let Poll::Ready(error) = self.connection.poll_write(cx, &self.context.outbox) {
            tracing::debug!(%error, "a connection was lost");
            return Poll::Ready(Event::WriteFailed);
        }
        if let Some(signal) = self.context.outbox.take_signal() {
            return Poll::Ready(Event::Signal(signal));
        }
        if let Poll::Ready(message) = self.connection.poll_read(cx) {
            return Poll::Ready(Event::Read(message));
        }
        if let Poll::Ready(Some(finished)) = self.steps.poll_next_unpin(cx) {
            return Poll::Ready(Event::Finished(Box::new(finished)));
        }
        self.timer.as_mut().poll(cx).map(|()| Event::Timer)
    }

    /// Handles one event. `Some` when the socket has to end.
    fn handle_event(&mut self, event: Event) -> Option<Ending> {
        match event {
            Event::Read(None) | Event::WriteFailed => return Some(Ending::Gone),
            Event::Read(Some(Err(error))) => return Some(Ending::of_error(&error)),
            Event::Read(Some(Ok(message))) => return self.handle_message(message),
            Event::Finished(finished) => return self.handle_finished(*finished),
            Event::Signal(Signal::Overflow) => return Some(Ending::SlowReader),
            Event::Signal(Signal::Drain { pause }) => return Some(Ending::Drain(pause)),
            Event::Signal(Signal::CloseChannel { channel, reason }) => self.close_channel(channel, reason),
            Event::Signal(Signal::CheckUsers) => self.end_channels_of_ended_users(),
            Event::Timer => return self.check_deadlines(),
        }
        None
    }

    /// Parses a message and handles its frame. Pings and pongs count as signs of life, too.
    fn handle_message(&mut self, message: Message) -> Option<Ending> {
        self.last_received = Instant::now();
        let version = self.context.version;
        let frame = match message {
            Message::Text(text) => {
                ClientFrame::parse_text(version, &self.connection.hold_message(text.into()))
            }
            Message::Binary(bytes) => parse_binary(version, &self.connection.hold_message(bytes)),
            _ => return None,
        };
        METRICS.messages_received.inc();
        match frame {
            Some(mut frame) => {
                let is_traced = self.context.worker.shared.config.telemetry.is_some();
                frame.received = is_traced.then(std::time::Instant::now);
                self.handle_frame(frame)
            }
            // Compat: a malformed frame is dropped without an answer and the socket stays open (realtime contract
            // §2.5).
            None => {
                METRICS.count_drop("malformed");
                tracing::debug!(error_code = "MalformedWebSocketMessage", "a frame was dropped");
                None
            }
        }
    }

    /// Dispatches a frame by topic and event: heartbeat, join, a message on a joined channel, or a topic that is not
    /// joined. `Some` when the socket has to end.
    fn handle_frame(&mut self, frame: ClientFrame) -> Option<Ending> {
        if frame.topic == HEARTBEAT_TOPIC && frame.event == "heartbeat" {
            self.reply(&Reference::NULL, &frame, r#"{"status":"ok","response":{}}"#);
            return None;
        }
        if self.slots.drop_given_up(&frame) {
            self.note_if_empty();
        }
        match (self.slots.get_mut(&frame.topic), frame.event.as_str()) {
            // The stock client sends messages right behind the join without waiting for its reply.
            (Some(Slot::Joining(joining)), _) => defer(&mut joining.deferred, frame),
            (Some(Slot::Joined(channel)), event) if channel.is_checking && event != "phx_join" => {
                defer(&mut channel.deferred, frame);
            }
            (_, "phx_join") if frame.topic.starts_with(topic::PREFIX) => self.begin_join(&frame),
            (Some(Slot::Joined(_)), _) => self.handle_on_channel(frame),
            // Compat: leaving a topic that is not joined succeeds, because the client may leave after the server
            // closed it.
            (None, "phx_leave") => {
                let join_ref = frame.join_ref.clone();
                self.reply(&join_ref, &frame, r#"{"status":"ok","response":{}}"#);
                self.export_span(&frame.event, frame.received);
            }
            (None, _) => {
                let reply = r#"{"status":"error","response":{"reason":"unmatched topic"}}"#;
                self.reply(&Reference::NULL, &frame, reply);
                self.export_span(&frame.event, frame.received);
            }
        }
        self.run_ready_joins()
    }

    /// Polls all steps once without waiting. A join that needs nothing from the database is complete after one poll;
    /// its reply is queued here, before the next frame is read, so that a broadcast sent right behind the join finds
    /// the channel.
    fn run_ready_joins(&mut self) -> Option<Ending> {
        let waker = futures_util::task::noop_waker_ref();
        while let Poll::Ready(Some(finished)) = self.steps.poll_next_unpin(&mut Context::from_waker(waker)) {
            if let Some(ending) = self.handle_finished(finished) {
                return Some(ending);
            }
        }
        None
    }

    /// Starts the checks of a join. A channel that the join replaces is kept until the join is answered.
    fn begin_join(&mut self, frame: &ClientFrame) {
        let is_too_long = frame.payload.len() > MAX_JOIN_BYTES;
        let payload = match &frame.payload {
            Payload::Json(text) if !is_too_long => serde_json::from_slice(text).unwrap_or(Value::Null),
            Payload::Json(_) | Payload::UserBroadcast(_) => Value::Null,
        };
        let previous = self.slots.take_joined(&frame.topic);
        let request = JoinRequest {
            is_too_long,
            ..JoinRequest::parse(&payload)
        };
        let waits = request.time_for_changes().is_some();
        let (checks, is_given_up) = oneshot::channel();
        let channels = self.slots.len();
        let step = steps::join(
            &self.context,
            frame.topic.clone(),
            (request, channels),
            is_given_up,
        );
        let joining = Joining {
            join_ref: frame.join_ref.clone(),
            reference: frame.reference.clone(),
            received: frame.received,
            previous,
            deferred: VecDeque::new(),
            waits,
            _checks: checks,
        };
        self.slots
            .insert(frame.topic.clone(), Slot::Joining(Box::new(joining)));
        self.steps.push(step);
    }

    /// Applies the result of a step. `Some` when the socket has to end.
    fn handle_finished(&mut self, finished: Finished) -> Option<Ending> {
        match finished {
            Finished::Join {
                topic,
                result,
                wants_replication_notice,
            } => match result {
                Ok(admission) => self.finish_join(topic, admission, wants_replication_notice),
                Err(error) => self.refuse_join(&topic, &error),
            },
            Finished::GivenUp => None,
            Finished::Check {
                topic,
                channel,
                outcome,
            } => {
                // The channel may have been left or replaced while the database was asked; then the outcome is
                // dropped.
                let found = self.slots.find_channel(&topic, channel)?;
                found.is_checking = false;
                if let Some(reason) = found.apply(outcome) {
                    self.end_channel(&topic, Some(reason));
                    return None;
                }
                // Taken out first, because handling them may start another check, which defers the rest again.
                let deferred = std::mem::take(&mut found.deferred);
                self.handle_deferred(deferred)
            }
            Finished::Replication {
                topic,
                channel,
                is_established,
            } => {
                let found = self.slots.find_channel(&topic, channel)?;
                if is_established {
                    found.push_system(true, "Replication connection established".to_owned());
                } else {
                    let reason = "Replication connection was not established in time".to_owned();
                    self.end_channel(&topic, Some(reason));
                }
                None
            }
        }
    }

    /// Admits the channel, closes the one it replaces, and handles the messages that arrived while the join was
    /// checked.
    fn finish_join(
        &mut self,
        topic: String,
        admission: Admission,
        wants_replication_notice: bool,
    ) -> Option<Ending> {
        let joining = self.slots.take_joining(&topic)?;
        let channel = admit(&self.context, admission, joining.join_ref, &joining.reference);
        self.export_span("phx_join", joining.received);
        if let Some(previous) = joining.previous {
            // Compat: the new join is answered first, then the old channel closes.
            previous.member().push_close();
        }
        if wants_replication_notice {
            let id = channel.member().id;
            let step = steps::await_replication(&self.context, topic.clone(), id);
            self.steps.push(step);
        }
        self.empty_since = None;
        self.rearm_timer(channel.token_deadline());
        self.slots.insert(topic, Slot::Joined(Box::new(channel)));
        self.handle_deferred(joining.deferred)
    }

    /// Answers a join with an error. The channel that the join was to replace ends, too.
    fn refuse_join(&mut self, topic: &str, error: &JoinError) -> Option<Ending> {
        let joining = self.slots.take_joining(topic)?;
        METRICS.refused_joins.with_label_values(&[error.code()]).inc();
        let code = error.code();
        if let Some(silent) = self.context.worker.shared.log.pass(code, self.context.client) {
            tracing::info!(
                error_code = code,
                topic = cut(topic),
                silent,
                "a join was refused"
            );
        }
        let reply = json!({ "status": "error", "response": { "reason": error.reason() } }).to_string();
        let frame = ServerFrame {
            join_ref: &joining.join_ref,
            reference: &joining.reference,
            topic,
            event: "phx_reply",
            payload: &reply,
        };
        self.context.outbox.push_own(frame.encode(self.context.version));
        self.export_span("phx_join", joining.received);
        if let Some(previous) = joining.previous {
            // A refused join also replaces: the client has given up the old channel when it joined again.
            previous.member().push_close();
        }
        self.note_if_empty();
        // Compat: this error closes the whole socket, so that a client in a join loop has to reconnect with its
        // backoff.
        if *error == JoinError::TooManyJoins {
            return Some(Ending::TooManyJoins);
        }
        self.handle_deferred(joining.deferred)
    }

    /// Handles deferred messages in order. One of them may start another check; then the rest is deferred again.
    fn handle_deferred(&mut self, deferred: VecDeque<ClientFrame>) -> Option<Ending> {
        deferred.into_iter().find_map(|frame| self.handle_frame(frame))
    }

    /// Handles a message on a joined channel.
    fn handle_on_channel(&mut self, frame: ClientFrame) {
        let Some(Slot::Joined(channel)) = self.slots.get_mut(&frame.topic) else {
            return;
        };
        match channel.handle_frame(&frame) {
            Handled::Done => {
                // A refreshed token may expire earlier than the one before.
                let deadline = channel.token_deadline();
                self.rearm_timer(deadline);
            }
            Handled::Needs(check) => {
                channel.is_checking = true;
                let step = steps::check(&self.context, frame.topic.clone(), channel, check);
                // The message waits at the front of the queue: with the answer it is handled again, before later messages.
                channel.deferred.push_front(frame);
                self.steps.push(step);
                return;
            }
            Handled::Close(reason) => self.end_channel(&frame.topic, Some(reason)),
            Handled::Left => self.end_channel(&frame.topic, None),
        }
        self.export_span(&frame.event, frame.received);
    }

    /// Exports the span of a message that has been handled, from its arrival on, if it has been noted. Other events than those of
    /// the protocol have one name, because clients choose theirs.
    fn export_span(&self, event: &str, received: Option<std::time::Instant>) {
        let (Some(telemetry), Some(received)) = (&self.context.worker.shared.config.telemetry, received)
        else {
            return;
        };
        let name = match event {
            "phx_join" => "realtime phx_join",
            "phx_leave" => "realtime phx_leave",
            "broadcast" => "realtime broadcast",
            "presence" => "realtime presence",
            "access_token" => "realtime access_token",
            _ => "realtime message",
        };
        telemetry.export_message(name, received);
    }

    fn end_channels_of_ended_users(&mut self) {
        let mut ended = Vec::new();
        for (topic, channel) in self.slots.channels_mut() {
            if let Some(reason) = channel.find_ended_user() {
                ended.push((topic.clone(), reason));
            }
        }
        for (topic, reason) in ended {
            self.end_channel(&topic, Some(reason));
        }
    }

    fn close_channel(&mut self, id: ChannelId, reason: &'static str) {
        if let Some(topic) = self.slots.find_topic(id) {
            self.end_channel(&topic, Some(reason.to_owned()));
        }
    }

    /// Removes a channel. With a reason, the client first gets a `system` error and `phx_close`.
    fn end_channel(&mut self, topic: &str, reason: Option<String>) {
        if let Some(channel) = self.slots.take_joined(topic)
            && let Some(reason) = reason
        {
            channel.push_end(reason);
        }
        self.note_if_empty();
    }

    /// Starts the no-channel timeout when the last channel has gone.
    fn note_if_empty(&mut self) {
        if self.slots.len() == 0 && self.empty_since.is_none() {
            let now = Instant::now();
            self.empty_since = Some(now);
            self.rearm_timer(now + self.context.worker.shared.config.no_channel_timeout);
        }
    }

    /// Moves the timer to this time if it would fire later. Deadlines that move back are not updated: the timer fires
    /// early and `check_deadlines` sets it anew.
    fn rearm_timer(&mut self, deadline: Instant) {
        if deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
        }
    }

    /// Ends channels whose token has expired, sets the timer to the next deadline, and returns an ending if the socket is
    /// idle.
    fn check_deadlines(&mut self) -> Option<Ending> {
        let now = Instant::now();
        let config = &self.context.worker.shared.config;
        let mut next = self.last_received + config.idle_timeout;
        if let Some(since) = self.empty_since {
            next = next.min(since + config.no_channel_timeout);
        }
        if next <= now {
            return Some(Ending::Idle);
        }
        let mut expired = Vec::new();
        for (topic, channel) in self.slots.channels_mut() {
            if channel.token_deadline() <= now
                && let Some(reason) = channel.check_token()
            {
                // Ending a channel changes the map that is being iterated, so it happens after the loop.
                expired.push((topic.clone(), reason));
                continue;
            }
            next = next.min(channel.token_deadline());
        }
        for (topic, reason) in expired {
            self.end_channel(&topic, Some(reason));
        }
        self.timer.as_mut().reset(next);
        None
    }

    fn reply(&self, join_ref: &Reference, to: &ClientFrame, payload: &str) {
        let frame = ServerFrame {
            join_ref,
            reference: &to.reference,
            topic: &to.topic,
            event: "phx_reply",
            payload,
        };
        self.context.outbox.push_own(frame.encode(self.context.version));
    }

    /// Ends the channels and closes the connection with the code of the ending.
    async fn end(mut self, ending: Ending) {
        if let Ending::Drain(pause) = ending {
            sleep_until(Instant::now() + pause).await;
            let payload = r#"{"extension":"system","status":"ok","message":"Server requested disconnect"}"#;
            for (_, channel) in self.slots.channels_mut() {
                channel.member().push("system", payload);
            }
        }
        if ending == Ending::SlowReader {
            tracing::warn!("a socket was closed because its client reads too slowly");
        }
        // Dropped before the closing handshake, which may take seconds, so that other members learn immediately that these
        // channels have left.
        self.slots.clear();
        self.steps.clear();
        if let Some((code, reason)) = ending.close_frame() {
            self.connection.close(&self.context.outbox, code, reason).await;
        }
    }
}
