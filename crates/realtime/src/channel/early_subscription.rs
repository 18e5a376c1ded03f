//! Joins with `postgres_changes_options.wait`: the subscription to database changes begins before the channel does, and the join
//! is answered when no change can be missed any more. Source: REALTIME-200, REALTIME-201.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::join_error::JoinError;
use super::join_request::JoinRequest;
use super::joined::SocketContext;
use crate::changes::{ChannelKey, is_temporary};
use crate::fanout::{ChannelId, SystemMessage};
use crate::state::Worker;
use crate::token::{Token, TokenRefusal};

/// The subscription of a channel that is not there yet. Unless it is handed over it ends when it is dropped, as it is when the
/// socket closes or the join is refused.
pub(super) struct EarlySubscription {
    worker: Rc<Worker>,
    id: ChannelId,
    notices: UnboundedReceiver<SystemMessage>,
    /// The notices so far that the channel is to get.
    kept: Vec<SystemMessage>,
    is_handed_over: bool,
}

impl EarlySubscription {
    /// Subscribes, and waits until the changes arrive.
    ///
    /// # Errors
    /// `ChangesRefused` with what the feed says about the bindings; `ChangesTimeout`; `Token` when the user was deleted or banned
    /// meanwhile.
    pub(super) async fn begin(
        context: &SocketContext,
        token: &Token,
        request: &JoinRequest,
        limit: Duration,
    ) -> Result<Self, JoinError> {
        let worker = Rc::clone(&context.worker);
        let id = worker.rooms.next_channel_id();
        let mut subscription = Self {
            notices: worker.rooms.listen(id),
            worker,
            id,
            kept: Vec::new(),
            is_handed_over: false,
        };
        subscribe(context, id, token, request);
        let waited = timeout(limit, subscription.wait()).await;
        waited.unwrap_or(Err(JoinError::ChangesTimeout(limit)))?;
        // Deleted users are looked for among channels, and this one was none yet.
        let ended_users = context.worker.shared.verifier.ended_users();
        if ended_users.includes(&token.claims) {
            return Err(JoinError::Token(TokenRefusal::UserEnded));
        }
        Ok(subscription)
    }

    async fn wait(&mut self) -> Result<(), JoinError> {
        while let Some(notice) = self.notices.recv().await {
            let is_live = notice.is_ok;
            if !is_live && !is_temporary(&notice.message) {
                return Err(JoinError::ChangesRefused(notice.message));
            }
            if is_live {
                self.kept.push(notice);
                return Ok(());
            }
        }
        Err(JoinError::ShuttingDown)
    }

    /// The id that the channel must get, and what the feed has said so far. The caller enters the channel among the members before
    /// anything else runs on this thread, so that no later notice is lost.
    pub(super) fn hand_over(mut self) -> (ChannelId, Vec<SystemMessage>) {
        self.is_handed_over = true;
        while let Ok(notice) = self.notices.try_recv() {
            self.kept.push(notice);
        }
        (self.id, std::mem::take(&mut self.kept))
    }
}

impl Drop for EarlySubscription {
    fn drop(&mut self) {
        self.worker.rooms.stop_listening(self.id);
        if !self.is_handed_over {
            let feed = &self.worker.shared.feed;
            feed.unsubscribe(ChannelKey(self.id.as_u64()));
        }
    }
}

/// Hands the bindings of a join to the change feed, with the role and claims under which rows are checked.
pub(super) fn subscribe(context: &SocketContext, id: ChannelId, token: &Token, request: &JoinRequest) {
    let bindings = request.bindings.iter();
    let bindings = bindings.map(|binding| (binding.id, binding.parameters.clone().into()));
    context.worker.shared.feed.subscribe(
        ChannelKey(id.as_u64()),
        context.client,
        token.claims.role().unwrap_or_default().to_owned(),
        token.claims.json().to_owned(),
        bindings.collect(),
    );
}
