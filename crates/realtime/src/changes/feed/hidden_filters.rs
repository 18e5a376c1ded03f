//! Tells channels whose filters name columns that their role may no longer select, and those with filters on tables whose rows have no
//! key by which row-level security could be asked about them.
//!
//! A join with a filter of the first kind is refused. Later a right may be revoked, or a table be published that a binding to all
//! tables covers. Nothing is delivered by such a filter (`batch`), because whether a change arrives would tell the hidden value. The
//! channels are told when the rights have changed and not with the changes, for the same reason.

use std::collections::HashSet;

use super::state::Feed;
use crate::changes::ChannelKey;
use crate::changes::binding::Binding;
use crate::changes::catalog::{Catalog, PublishedTable};
use crate::changes::rights::Rights;
use crate::changes::subscriptions::Subscription;

impl Feed {
    /// Tells the channels whose filters became forbidden, and those whose filters are allowed again.
    pub(super) async fn warn_of_hidden_filters(&mut self) {
        let Some(catalog) = self.catalog.as_deref() else {
            return;
        };
        let filtering: Vec<(ChannelKey, &Subscription)> = self
            .subscriptions
            .channels()
            .filter(|(_, subscription)| {
                subscription
                    .bindings
                    .iter()
                    .any(|(_, one)| !one.filters.is_empty())
            })
            .collect();
        let roles: HashSet<&str> = filtering.iter().map(|(_, one)| &*one.identity.role).collect();
        self.rights.load(roles, catalog, &mut self.checks).await;
        let mut messages = Vec::new();
        let mut allowed = Vec::new();
        for (channel, subscription) in filtering {
            match find_hidden(subscription, catalog, &self.rights) {
                Some(message) if self.hidden.insert(channel) => messages.push((channel, message)),
                Some(_) => {}
                None if self.hidden.remove(&channel) => allowed.push(channel),
                None => {}
            }
        }
        for (channel, message) in messages {
            self.sink.notify(channel, false, &message);
        }
        for channel in allowed {
            self.confirm(channel);
        }
    }
}

/// What is told of the first binding of a channel with a filter that must not decide.
fn find_hidden(subscription: &Subscription, catalog: &Catalog, rights: &Rights) -> Option<String> {
    // Rights that could not be read: nothing is delivered, which is told with the changes.
    let rights = rights.get(&subscription.identity.role)?;
    let bindings = subscription.bindings.iter().map(|(_, binding)| binding);
    for binding in bindings.filter(|binding| !binding.filters.is_empty()) {
        for table in catalog.tables() {
            if !binding.covers(&table.schema, &table.name) {
                continue;
            }
            let selectable = rights.selectable(table);
            let is_hidden = |column: &&str| {
                // A column that does not exist any more is refused at a join, too.
                let position = table.column(column);
                !position.is_some_and(|position| selectable.get(position).copied().unwrap_or(false))
            };
            let columns = binding.filters.iter().map(|filter| filter.column.as_str());
            if let Some(column) = columns.into_iter().find(is_hidden) {
                return Some(describe(binding, column));
            }
            if table.has_row_security
                && !rights.bypasses_row_security
                && !table.has_selectable_key(&selectable)
            {
                return Some(describe_keyless(table));
            }
        }
    }
    None
}

/// The text with which a join with this binding would be refused.
fn describe(binding: &Binding, column: &str) -> String {
    format!(
        "Unable to subscribe to changes with given parameters. An exception happened so please check your connect \
         parameters: {}. Exception: ERROR P0001 (raise_exception) invalid column for filter {column}",
        binding.inspect()
    )
}

fn describe_keyless(table: &PublishedTable) -> String {
    format!(
        "Changes of {}.{} are not delivered to bindings with a filter: it has row-level security, and no primary key that the role \
         may select",
        table.schema, table.name
    )
}
