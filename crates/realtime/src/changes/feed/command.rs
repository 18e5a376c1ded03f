//! Commands that channels send to the feed's thread.

use selvedge_limits::ClientId;

use crate::changes::ChannelKey;
use crate::changes::subscriptions::Identity;

/// A message of a handle to the feed's thread.
#[derive(Debug)]
pub(super) enum Command {
    /// Subscribes a channel, or replaces its bindings; each comes with the id that the client was given.
    Subscribe {
        channel: ChannelKey,
        client: ClientId,
        identity: Identity,
        bindings: Vec<(u64, serde_json::Value)>,
    },
    /// Applies a refreshed token to the channel's subscriptions.
    SetClaims { channel: ChannelKey, identity: Identity },
    /// Ends the channel's subscriptions.
    Unsubscribe(ChannelKey),
    /// Whether any channel is open, with or without subscriptions.
    SetActive(bool),
}
