//! Joins: the order of their checks, and the messages that an admitted channel gets (realtime contract §5).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use selvedge_limits::Share;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::early_subscription::{EarlySubscription, subscribe};
use super::join_error::{JoinError, MAX_BINDINGS};
use super::join_request::JoinRequest;
use super::joined::{Channel, SocketContext, deadline_of};
use super::permissions::Permissions;
use crate::authorization::{CheckError, ReadVerdict, Subject};
use crate::broadcast::{Replay, ReplayRequest};
use crate::cluster::JoinedTopic;
use crate::fanout::{ChannelId, Member, PresenceReception, SystemMessage};
use crate::frame::Reference;
use crate::state::Shared;
use crate::token::{Token, TokenRefusal};
use crate::topic::Topic;

/// Longest key for presence in bytes. It is part of every message about the channel's presence.
const MAX_PRESENCE_KEY_BYTES: usize = 1024;

/// A join that has passed all checks; [`admit`] turns it into a channel.
pub(crate) struct Admission {
    topic: Topic,
    request: JoinRequest,
    token: Token,
    permissions: Permissions,
    /// Which stored broadcasts the join asks for, and may have.
    wanted: Option<ReplayRequest>,
    replays: Vec<Replay>,
    /// The subscriptions to database changes as they are counted.
    counted_bindings: Vec<Share>,
    /// The subscription to database changes, where the join waits for it.
    early_subscription: Option<EarlySubscription>,
    /// Keeps broadcasts of other nodes coming; `None` for a node that runs alone.
    joined_topic: Option<JoinedTopic>,
}

/// Checks a join: first what needs no database, then, for private channels, the policies; then waits for its subscriptions
/// if it asks for that. `channels` is the number of other channels of the socket.
///
/// # Errors
/// The first check that fails. Database errors count as refusals: a private channel is never opened without a verdict.
pub(crate) async fn check_join(
    context: &SocketContext,
    wire_topic: &str,
    request: JoinRequest,
    channels: usize,
) -> Result<Admission, JoinError> {
    let mut admission = check_permission(context, wire_topic, request, channels).await?;
    if let Some(cluster) = &context.worker.shared.cluster {
        admission.joined_topic = Some(cluster.join(&admission.topic).await);
    }
    if let Some(limit) = admission.request.time_for_changes() {
        let subscription = EarlySubscription::begin(context, &admission.token, &admission.request, limit);
        admission.early_subscription = Some(subscription.await?);
        if admission.request.is_private {
            // A right may have been taken away while the join waited.
            admission = check_policies(context, admission).await?;
        }
    }
    // Read last: what is sent while a join waits is neither stored before it nor delivered to it otherwise.
    if let Some(wanted) = admission.wanted {
        let replays = context
            .worker
            .shared
            .replayer
            .fetch(admission.topic.name(), wanted)
            .await;
        admission.replays = replays.ok_or(JoinError::ReplayFailed)?;
    }
    Ok(admission)
}

async fn check_permission(
    context: &SocketContext,
    wire_topic: &str,
    request: JoinRequest,
    channels: usize,
) -> Result<Admission, JoinError> {
    let shared = &context.worker.shared;
    let topic = Topic::from_wire(wire_topic, request.is_private);
    let token = check_locally(shared, &topic, &context.token, &request, channels)?;
    let counted_bindings = count_bindings(context, request.bindings.len())?;
    let admission = Admission {
        topic,
        request,
        token,
        permissions: Permissions::PUBLIC,
        wanted: None,
        replays: Vec::new(),
        counted_bindings,
        early_subscription: None,
        joined_topic: None,
    };
    if admission.request.is_private {
        return check_policies(context, admission).await;
    }
    match admission.request.replay {
        Some(_) => Err(JoinError::ReplayOnPublicChannel),
        None => Ok(admission),
    }
}

/// Asks the policies about a private channel, and which broadcasts are to be replayed.
async fn check_policies(context: &SocketContext, admission: Admission) -> Result<Admission, JoinError> {
    let shared = &context.worker.shared;
    let Admission {
        topic,
        request,
        token,
        ..
    } = &admission;
    let subject = Subject {
        claims: &token.claims,
        topic: topic.name(),
        headers: &context.headers,
    };
    let _turn = shared.policy_turns.wait(context.client).await;
    let verdict = match shared
        .authorizer
        .check_read(subject, request.is_presence_enabled)
        .await
    {
        Ok(verdict) if verdict.allows_anything() => verdict,
        // A policy that raises an error denies: otherwise a broken policy would open the channel.
        Ok(_) | Err(CheckError::Policy) => return Err(JoinError::Unauthorized(topic.name().to_owned())),
        Err(error) => return Err(JoinError::Check(error)),
    };
    Ok(Admission {
        wanted: read_replay_request(topic, request, verdict)?,
        permissions: Permissions::after_read(verdict),
        ..admission
    })
}

/// The checks that need no database; returns the token under which the channel will run: its own or the connection's.
fn check_locally(
    shared: &Shared,
    topic: &Topic,
    connection_token: &Token,
    request: &JoinRequest,
    channels: usize,
) -> Result<Token, JoinError> {
    // The order of these checks decides which error a client sees when several apply (realtime contract §5.3).
    if topic.name().is_empty() {
        return Err(JoinError::TopicNameRequired);
    }
    if shared.is_shutting_down() {
        return Err(JoinError::ShuttingDown);
    }
    if shared.config.private_only && !request.is_private {
        return Err(JoinError::PrivateOnly);
    }
    // Counted before the check, so a client that repeats refused joins stays over the limit.
    shared.join_rate.count(1);
    if shared.join_rate.is_exceeded() {
        return Err(JoinError::TooManyJoins);
    }
    // Refuses this join only; the socket and its other channels stay.
    if channels >= shared.config.max_channels_per_socket {
        return Err(JoinError::TooManyChannels);
    }
    if request.is_too_long || request.presence_key.len() > MAX_PRESENCE_KEY_BYTES {
        return Err(JoinError::PayloadTooLong);
    }
    match &request.token {
        Some(text) if **text != *connection_token.text => shared.verifier.verify(text),
        // Verified when the socket was opened; time has passed since, and its user may have been deleted.
        _ => match connection_token.seconds_since_expiry() {
            Some(seconds) => Err(TokenRefusal::Expired { seconds }),
            None if shared.verifier.ended_users().includes(&connection_token.claims) => {
                Err(TokenRefusal::UserEnded)
            }
            None => Ok(connection_token.clone()),
        },
    }
    .map_err(JoinError::Token)
}

/// Counts the subscriptions of a join to database changes, by its socket and by its client.
fn count_bindings(context: &SocketContext, bindings: usize) -> Result<Vec<Share>, JoinError> {
    if bindings == 0 {
        return Ok(Vec::new());
    }
    if bindings > MAX_BINDINGS {
        return Err(JoinError::TooManyBindings);
    }
    let shares = [&context.binding_shares, &context.worker.shared.binding_shares];
    let counted: Result<Vec<Option<Share>>, _> = shares
        .iter()
        .map(|shares| shares.take(context.client, bindings))
        .collect();
    let counted = counted.map_err(|_| JoinError::TooManyBindingsOfClient)?;
    Ok(counted.into_iter().flatten().collect())
}

/// Which broadcasts a join requests to be replayed. Requires the privilege to read broadcasts; that for presence alone is not
/// enough.
fn read_replay_request(
    topic: &Topic,
    request: &JoinRequest,
    verdict: ReadVerdict,
) -> Result<Option<ReplayRequest>, JoinError> {
    let Some(parameters) = request.replay_parameters() else {
        return Ok(None);
    };
    // The history is read past the policies, so the verdict for live broadcasts has to cover it.
    if !verdict.broadcast {
        return Err(JoinError::Unauthorized(topic.name().to_owned()));
    }
    ReplayRequest::parse(parameters)
        .map(Some)
        .ok_or(JoinError::ReplayParameters)
}

/// Makes the channel and sends what a join brings, in the order of the contract: the reply, replayed broadcasts, the
/// presence state. Notices of database changes follow when the feed has taken up the subscription, or at once if it has.
pub(crate) fn admit(
    context: &Rc<SocketContext>,
    admission: Admission,
    join_ref: Reference,
    reference: &Reference,
) -> Channel {
    let Admission {
        topic,
        request,
        token,
        permissions,
        wanted: _,
        replays,
        counted_bindings,
        early_subscription,
        joined_topic,
    } = admission;
    let shared = &context.worker.shared;
    let (id, notices) = early_subscription.map(EarlySubscription::hand_over).unzip();
    let id = id.unwrap_or_else(|| context.worker.rooms.next_channel_id());
    let member = make_member(context, id, &topic, join_ref, permissions, &replays);
    // Entered before the reply is queued: as soon as the client has read the reply it may broadcast, and expects to
    // receive what others broadcast.
    context.worker.add_member(&member);
    reply_ok(&member, reference, &request);
    for replay in &replays {
        push_replay(&member, replay);
    }
    start_presence(shared, &member, &request, permissions);
    begin_changes(context, &member, &token, &request, notices);
    Channel {
        context: Rc::clone(context),
        member,
        acknowledges: request.acknowledges,
        receives_own: request.receives_own,
        presence_key: request.presence_key.into(),
        permissions,
        presence_pushes: (Instant::now(), 0),
        token_deadline: deadline_of(&token, shared.config.token_check_interval),
        token,
        has_bindings: !request.bindings.is_empty(),
        _counted_bindings: counted_bindings,
        _joined_topic: joined_topic,
        failed_broadcast_check: None,
        failed_presence_check: None,
        deferred: VecDeque::new(),
        is_checking: false,
    }
}

/// The channel as the fan-out sees it, not yet entered.
fn make_member(
    context: &SocketContext,
    id: ChannelId,
    topic: &Topic,
    join_ref: Reference,
    permissions: Permissions,
    replays: &[Replay],
) -> Rc<Member> {
    Rc::new(Member {
        id,
        version: context.version,
        join_ref,
        outbox: Rc::clone(&context.outbox),
        receives_broadcasts: Cell::new(permissions.read_broadcast),
        presence: Cell::new(PresenceReception::Off),
        presence_sequence: Cell::new(0),
        replayed: RefCell::new(replays.iter().map(|replay| replay.row).collect()),
        topic: topic.clone(),
    })
}

/// The reply to a join. It lists the bindings with their ids, also when there are none.
fn reply_ok(member: &Member, reference: &Reference, request: &JoinRequest) {
    let bindings: Vec<Value> = request
        .bindings
        .iter()
        .map(|binding| binding.reply_entry())
        .collect();
    let reply = json!({ "status": "ok", "response": { "postgres_changes": bindings } });
    member.reply(reference, &reply.to_string());
}

/// Queues a replayed message. Compat: JSON payloads go as text with the channel's `join_ref`, even in version 2;
/// opaque bytes exist only as a binary frame.
fn push_replay(member: &Member, replay: &Replay) {
    let text = replay
        .content
        .encode_text(&member.topic, member.version, &member.join_ref);
    let frame = text.or_else(|| {
        replay
            .content
            .encode(&member.topic, member.version, &member.join_ref)
    });
    if let Some(frame) = frame {
        member.outbox.push_own(frame);
    }
}

/// Decides whether the channel gets presence diffs, and sends the state if it asked for presence. Compat: members of
/// public topics get diffs even when they joined without presence, as from the upstream service.
fn start_presence(shared: &Shared, member: &Member, request: &JoinRequest, permissions: Permissions) {
    let is_readable = permissions.read_presence == Some(true);
    if is_readable && (request.is_presence_enabled || !request.is_private) {
        member.presence.set(PresenceReception::Fanout);
    }
    if is_readable && request.is_presence_enabled {
        // The sequence number marks which diffs the state includes, so that a diff still waiting in the mailbox is
        // skipped.
        let (sequence, state) = shared.presence.read_state(&member.topic);
        member.presence_sequence.set(sequence);
        member.push("presence_state", &state);
    }
}

/// Subscribes to the channel's database changes, or passes on what the feed has said about them before the join was answered.
fn begin_changes(
    context: &SocketContext,
    member: &Member,
    token: &Token,
    request: &JoinRequest,
    notices: Option<Vec<SystemMessage>>,
) {
    let Some(notices) = notices else {
        if !request.bindings.is_empty() {
            subscribe(context, member.id, token, request);
        }
        return;
    };
    for notice in notices {
        member.push("system", &notice.payload(&member.topic));
    }
}
