//! Tells channels whose bindings cannot match any more: their table was taken out of the publication, renamed or dropped, the publication
//! is gone, or a column that they select is.
//!
//! A join with such a binding is refused. Without a word from us a subscriber could not tell this from a table that nobody changes.

use super::state::Feed;
use crate::changes::ChannelKey;
use crate::changes::binding::Binding;
use crate::changes::catalog::Catalog;
use crate::changes::subscriptions::Subscription;

impl Feed {
    /// Tells the channels that have lost a binding, and those whose bindings match again.
    pub(super) fn warn_of_lost_bindings(&mut self) {
        let Some(catalog) = &self.catalog else {
            return;
        };
        let mut messages = Vec::new();
        let mut matching = Vec::new();
        for (channel, subscription) in self.subscriptions.channels() {
            match find_lost(subscription, catalog) {
                Some(binding) if self.lost.insert(channel) => messages.push((channel, describe(binding))),
                Some(_) => {}
                None if self.lost.remove(&channel) => matching.push(channel),
                None => {}
            }
        }
        for (channel, message) in messages {
            self.sink.notify(channel, false, &message);
        }
        for channel in matching {
            self.confirm(channel);
        }
    }

    /// Forgets what a channel was told.
    pub(super) fn forget_lost(&mut self, channel: ChannelKey) {
        self.lost.remove(&channel);
    }
}

/// The first binding of a channel that matches no change of any table.
fn find_lost<'a>(subscription: &'a Subscription, catalog: &Catalog) -> Option<&'a Binding> {
    let bindings = subscription.bindings.iter().map(|(_, binding)| binding);
    bindings.into_iter().find(|binding| {
        // Tables of Citus have a text of their own.
        let is_unseen = catalog
            .unseen_tables()
            .any(|table| binding.covers(&table.schema, &table.name));
        !is_unseen
            && !catalog.tables().any(|table| {
                // That a column is missing by which a binding filters is told by `hidden_filters`.
                let mut selected = binding.select.iter().flatten();
                binding.covers(&table.schema, &table.name)
                    && selected.all(|column| table.column(column).is_some())
            })
    })
}

fn describe(binding: &Binding) -> String {
    format!(
        "Changes do not arrive any more: the table is not published, or lacks a column that is named here. The connect \
         parameters: {}",
        binding.inspect()
    )
}
