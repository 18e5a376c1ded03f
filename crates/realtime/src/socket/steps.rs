//! Asynchronous work of a socket: joins, policy checks and notices. All of them run concurrently, beside reading and
//! writing.
//!
//! Steps own what they need and borrow nothing from the session, so they can be dropped at any time: when the socket
//! ends, unfinished steps are cancelled.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::channel::{
    Admission, Channel, Check, CheckOutcome, JoinError, JoinRequest, SocketContext, check_join,
};
use crate::fanout::ChannelId;

/// How long a channel that joined with `replication_ready` waits for the replication stream before it is closed.
const REPLICATION_TIMEOUT: Duration = Duration::from_secs(60);

/// The result of a step.
#[expect(
    clippy::large_enum_variant,
    reason = "a result is handled at once, and none is kept"
)]
pub(super) enum Finished {
    Join {
        topic: String,
        result: Result<Admission, JoinError>,
        wants_replication_notice: bool,
    },
    /// A join that its client has given up.
    GivenUp,
    Check {
        topic: String,
        channel: ChannelId,
        outcome: CheckOutcome,
    },
    /// The result of waiting for the replication stream.
    Replication {
        topic: String,
        channel: ChannelId,
        is_established: bool,
    },
}

/// A step that is in progress.
pub(super) type Step = LocalBoxFuture<'static, Finished>;

/// Checks a join, until it is given up. `channels` is the number of other channels of the socket.
pub(super) fn join(
    context: &Rc<SocketContext>,
    topic: String,
    (request, channels): (JoinRequest, usize),
    is_given_up: oneshot::Receiver<()>,
) -> Step {
    let context = Rc::clone(context);
    Box::pin(async move {
        let wants_replication_notice = request.wants_replication_notice;
        tokio::select! {
            // First, because another join may have the topic by now.
            biased;
            _ = is_given_up => Finished::GivenUp,
            result = check_join(&context, &topic, request, channels) => Finished::Join {
                topic: topic.clone(),
                result,
                wants_replication_notice,
            },
        }
    })
}

/// Runs a policy check for a channel, under the claims of the channel's token.
pub(super) fn check(context: &SocketContext, topic: String, channel: &Channel, check: Check) -> Step {
    let shared = &context.worker.shared;
    let (authorizer, turns) = (shared.authorizer.clone(), shared.policy_turns.clone());
    let client = context.client;
    let claims = Arc::clone(&channel.token().claims);
    let headers = Arc::clone(&context.headers);
    let member = channel.member();
    let (id, of_member) = (member.id, member.topic.clone());
    Box::pin(async move {
        let _turn = turns.wait(client).await;
        Finished::Check {
            topic,
            channel: id,
            outcome: check.run(authorizer, of_member, claims, headers).await,
        }
    })
}

/// Waits until the replication stream runs, so that inserts into `realtime.messages` arrive as broadcasts.
pub(super) fn await_replication(context: &SocketContext, topic: String, channel: ChannelId) -> Step {
    let mut is_replicating = context.worker.shared.is_replicating.clone();
    Box::pin(async move {
        let established = timeout(REPLICATION_TIMEOUT, is_replicating.wait_for(|is_live| *is_live)).await;
        Finished::Replication {
            topic,
            channel,
            is_established: matches!(established, Ok(Ok(_))),
        }
    })
}
