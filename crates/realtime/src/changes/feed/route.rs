//! Which lane delivers the changes of a channel, and what the lanes report.

use std::collections::HashSet;
use std::rc::Rc;

use selvedge_limits::ClientId;

use super::lane::LaneNews;
use super::state::Feed;
use crate::changes::ChannelKey;
use crate::changes::row_change::RowChange;
use crate::changes::subscriptions::{Lane, Subscription};

const TOO_SLOW: &str = "Unable to subscribe to changes with given parameters. The filters of this channel took too long several times; subscribe \
                        again with simpler ones";

impl Feed {
    /// Enters a subscription, where its filters are evaluated.
    pub(super) fn route(&mut self, channel: ChannelKey, subscription: Subscription) {
        let subscription = Subscription {
            is_suspect: self.lanes.slow_filters.is_suspect(subscription.client),
            ..subscription
        };
        if let Some(catalog) = &self.catalog {
            for lane in &self.lanes.all {
                lane.insert(channel, &subscription);
            }
            self.subscriptions.insert(channel, subscription, catalog);
        }
    }

    /// Removes what a channel is subscribed to.
    pub(super) fn unroute(&mut self, channel: ChannelKey) {
        self.lanes.slow_filters.forget(channel);
        if self.subscriptions.remove(channel).is_some() {
            for lane in &self.lanes.all {
                lane.remove(channel);
            }
        }
    }

    /// Hands changes to the lanes that have subscribers of their tables.
    pub(super) async fn deliver_to_lanes(&self, changes: &Rc<[RowChange]>) {
        let open_transaction = self.is_transaction_open.then_some(self.transaction.xid);
        for lane in &self.lanes.all {
            let is_followed =
                |change: &RowChange| self.subscriptions.is_followed_by(lane.lane, change.table.oid);
            if changes.iter().any(is_followed) {
                lane.deliver(changes, open_transaction).await;
            }
        }
    }

    /// Handles what a lane has found out.
    pub(super) async fn handle_lane_news(&mut self, news: LaneNews) {
        match news {
            LaneNews::RolesChanged => self.warn_of_hidden_filters().await,
            LaneNews::Slow(Lane::Suspect, channels) => self.count_slow_channels(&channels),
            LaneNews::Slow(_, clients) => self.set_apart(&clients),
        }
    }

    /// Moves the channels of clients whose filters took too long into the lane where they delay each other only.
    fn set_apart(&mut self, clients: &HashSet<ClientId>) {
        for client in clients {
            tracing::warn!(
                code = "SlowFilters",
                ?client,
                "filters of postgres_changes took too long; they are evaluated apart"
            );
            self.lanes.slow_filters.suspect(*client);
        }
        let moved: Vec<(ChannelKey, Subscription)> = self
            .subscriptions
            .channels()
            .filter(|(_, subscription)| clients.contains(&subscription.client))
            .filter(|(channel, _)| self.subscriptions.lane_of(*channel) == Lane::Asked)
            .map(|(channel, subscription)| (channel, subscription.clone()))
            .collect();
        for (channel, subscription) in moved {
            self.route(channel, subscription);
        }
    }

    /// Ends the subscriptions of channels whose filters were too slow several times.
    fn count_slow_channels(&mut self, channels: &HashSet<ClientId>) {
        for owner in channels {
            let ClientId::Connection(channel) = owner else {
                continue;
            };
            let channel = ChannelKey(*channel);
            if self.subscriptions.get(channel).is_some() && self.lanes.slow_filters.strike(channel) {
                self.forget(channel);
                self.sink.notify(channel, false, TOO_SLOW);
            }
        }
    }
}
