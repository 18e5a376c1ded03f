//! Handles commands of channels: checks their bindings, and keeps their subscriptions.

use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use super::command::Command;
use super::state::{Feed, UncheckedBindings};
use crate::changes::ChannelKey;
use crate::changes::binding::Binding;
use crate::changes::catalog::{Catalog, UnseenTable};
use crate::changes::checks::is_connection_loss;
use crate::changes::subscriptions::{Identity, Subscription};

/// How long to wait before bindings are checked again that could not be checked for lack of a database.
const RECHECK_PAUSE: Duration = Duration::from_secs(2);

/// Why changes of tables are not seen whose rows this server stores in shards of Citus.
const UNSEEN_HERE: &str = "Realtime sees the changes of tables that Citus manages only while citus.enable_change_data_capture is on; \
                           set it, or use broadcasts instead.";
/// Why changes of tables are not seen whose rows other nodes of Citus store.
const UNSEEN_ELSEWHERE: &str =
    "Realtime does not see the changes of tables that Citus distributes; use broadcasts instead.";

/// Why bindings are not accepted.
enum BindingError {
    /// The bindings are wrong, or not allowed: the text of the `system` event.
    Refused(String),
    /// The database could not be reached.
    Unreachable,
}

impl Feed {
    /// Handles a command of a channel.
    pub(super) async fn handle_command(&mut self, command: Command) {
        match command {
            Command::Subscribe {
                channel,
                identity,
                bindings,
            } => {
                if !self.subscribe(channel, &identity, &bindings).await {
                    let message = "Realtime was unable to connect to the project database";
                    self.sink.notify(channel, false, message);
                    self.unchecked
                        .insert(channel, UncheckedBindings { identity, bindings });
                    self.recheck_at = Instant::now() + RECHECK_PAUSE;
                }
            }
            Command::SetClaims { channel, identity } => self.set_claims(channel, identity).await,
            Command::Unsubscribe(channel) => {
                // The old bindings end even when the new ones are refused.
                self.subscriptions.remove(channel);
                self.unchecked.remove(&channel);
                self.refused.remove(&channel);
                self.hidden.remove(&channel);
            }
            Command::SetActive(is_active) => self.is_active = is_active,
        }
    }

    /// Replaces the bindings of a channel, and reports success or the refusal to it. False when the database could not
    /// be asked.
    async fn subscribe(
        &mut self,
        channel: ChannelKey,
        identity: &Identity,
        bindings: &[(u64, serde_json::Value)],
    ) -> bool {
        self.subscriptions.remove(channel);
        self.hidden.remove(&channel);
        match self.validate_bindings(identity, bindings).await {
            Ok(bindings) => {
                let subscription = Subscription {
                    identity: Rc::new(identity.clone()),
                    bindings: bindings.into(),
                };
                if let Some(catalog) = &self.catalog {
                    self.subscriptions.insert(channel, subscription, catalog);
                }
                self.confirm(channel);
                true
            }
            Err(BindingError::Refused(message)) => {
                self.sink.notify(channel, false, &message);
                true
            }
            Err(BindingError::Unreachable) => false,
        }
    }

    /// Checks the bindings again that could not be checked, until the database is found away again.
    pub(super) async fn recheck_bindings(&mut self) {
        let channels: Vec<ChannelKey> = self.unchecked.keys().copied().collect();
        for channel in channels {
            let Some(unchecked) = self.unchecked.remove(&channel) else {
                continue;
            };
            if !self
                .subscribe(channel, &unchecked.identity, &unchecked.bindings)
                .await
            {
                self.unchecked.insert(channel, unchecked);
                self.recheck_at = Instant::now() + RECHECK_PAUSE;
                return;
            }
        }
    }

    /// Applies the claims of a refreshed token. Under another role the bindings are checked again: it may have no right
    /// to the columns that they filter by.
    async fn set_claims(&mut self, channel: ChannelKey, identity: Identity) {
        if let Some(unchecked) = self.unchecked.get_mut(&channel) {
            unchecked.identity = identity;
            return;
        }
        let Some(known) = self.subscriptions.get(channel).cloned() else {
            return;
        };
        if known.identity.role != identity.role {
            // From here on nothing is delivered under the old role.
            self.subscriptions.remove(channel);
            self.hidden.remove(&channel);
            if let Err(error) = self.check_rights(&identity.role, &known.bindings).await {
                let message = match error {
                    BindingError::Refused(message) => message,
                    BindingError::Unreachable => {
                        "Realtime was unable to connect to the project database".to_owned()
                    }
                };
                self.sink.notify(channel, false, &message);
                return;
            }
        }
        if let Some(catalog) = &self.catalog {
            let subscription = Subscription {
                identity: Rc::new(identity),
                bindings: known.bindings,
            };
            self.subscriptions.insert(channel, subscription, catalog);
            self.confirm(channel);
        }
    }

    /// Checks bindings against the published tables and the rights of the role.
    ///
    /// # Errors
    /// One bad binding refuses all bindings of the channel.
    async fn validate_bindings(
        &mut self,
        identity: &Identity,
        bindings: &[(u64, serde_json::Value)],
    ) -> Result<Vec<(u64, Binding)>, BindingError> {
        let parsed: Vec<(u64, Binding)> = bindings
            .iter()
            .map(|(id, json)| Ok((*id, Binding::parse(json)?)))
            .collect::<Result<_, String>>()
            .map_err(BindingError::Refused)?;
        let names_unknown_table = parsed
            .iter()
            .any(|(_, binding)| self.covered_tables(binding).is_empty());
        // The table may have been published a moment ago, and the announcement not have arrived yet.
        if (self.catalog.is_none() || names_unknown_table) && !self.reload_catalog().await {
            return Err(BindingError::Unreachable);
        }
        self.check_rights(&identity.role, &parsed).await?;
        Ok(parsed)
    }

    /// Checks that the bindings cover published tables, and that the role may select what they name.
    async fn check_rights(&mut self, role: &str, bindings: &[(u64, Binding)]) -> Result<(), BindingError> {
        for (_, binding) in bindings {
            let tables = self.covered_tables(binding);
            if tables.is_empty() {
                return Err(self.create_missing_tables_error(binding));
            }
            // Without filters and columns there is nothing that the role could be denied here; rows are checked one by
            // one later.
            if binding.filters.is_empty() && binding.select.is_none() {
                continue;
            }
            for table in tables {
                let checked = self
                    .checks
                    .check_binding(role, table, &binding.filters, binding.select.as_deref())
                    .await;
                if let Err(error) = checked {
                    return Err(describe_refusal(binding, &error));
                }
            }
        }
        Ok(())
    }

    /// The error of a binding that covers no table whose changes can be seen.
    fn create_missing_tables_error(&self, binding: &Binding) -> BindingError {
        let unseen = self.catalog.iter().flat_map(Catalog::unseen_tables);
        let reason = match explain_unseen(binding, unseen) {
            Some(reason) => format!("{reason} The"),
            None => "Please check Realtime is enabled for the given".to_owned(),
        };
        BindingError::Refused(format!(
            "Unable to subscribe to changes with given parameters. {reason} connect parameters: {}",
            binding.inspect()
        ))
    }

    /// Warns a channel for each binding that covers one of these tables, whose changes do not arrive.
    pub(super) fn warn_of_unseen(
        &self,
        channel: ChannelKey,
        bindings: &[(u64, Binding)],
        unseen: &[&UnseenTable],
    ) {
        for (_, binding) in bindings {
            if let Some(reason) = explain_unseen(binding, unseen.iter().copied()) {
                let message = format!(
                    "Changes of some tables do not arrive. {reason} The connect parameters: {}",
                    binding.inspect()
                );
                self.sink.notify(channel, false, &message);
            }
        }
    }

    /// Tells the subscribers of tables whose changes were seen according to the catalog before and no longer are, because they
    /// have been converted to tables of Citus.
    pub(super) fn warn_of_lost_tables(&self, before: Option<&Catalog>) {
        let (Some(before), Some(catalog)) = (before, &self.catalog) else {
            return;
        };
        let known = before.unseen_tables();
        let lost = catalog
            .unseen_tables()
            .filter(|table| !known.clone().any(|one| one == *table));
        let lost: Vec<&UnseenTable> = lost.collect();
        if !lost.is_empty() {
            for (channel, subscription) in self.subscriptions.channels() {
                self.warn_of_unseen(channel, &subscription.bindings, &lost);
            }
        }
    }

    /// Oids of the published tables that a binding covers.
    fn covered_tables(&self, binding: &Binding) -> Vec<u32> {
        let tables = self.catalog.iter().flat_map(Catalog::tables);
        tables
            .filter(|table| binding.covers(&table.schema, &table.name))
            .map(|table| table.oid)
            .collect()
    }
}

/// Explains why changes that a binding asks for do not arrive. `tables` are those whose changes are not seen; `None` when the binding
/// covers none of them.
fn explain_unseen<'a>(
    binding: &Binding,
    tables: impl Iterator<Item = &'a UnseenTable>,
) -> Option<&'static str> {
    let covered = tables.filter(|table| binding.covers(&table.schema, &table.name));
    let are_all_here = covered.map(|table| table.is_here).reduce(|all, one| all && one)?;
    Some(match are_all_here {
        true => UNSEEN_HERE,
        false => UNSEEN_ELSEWHERE,
    })
}

/// The error of a binding that PostgreSQL refused.
fn describe_refusal(binding: &Binding, error: &tokio_postgres::Error) -> BindingError {
    let Some(refusal) = error.as_db_error().filter(|_| !is_connection_loss(error)) else {
        return BindingError::Unreachable;
    };
    let code = refusal.code().code();
    BindingError::Refused(format!(
        "Unable to subscribe to changes with given parameters. An exception happened so please check your connect \
         parameters: {}. Exception: ERROR {code} ({}) {}",
        binding.inspect(),
        condition_name(code),
        refusal.message()
    ))
}

/// PostgreSQL's name of a SQLSTATE that a wrong filter can raise (PostgreSQL documentation, appendix A).
fn condition_name(code: &str) -> &'static str {
    match code {
        "P0001" => "raise_exception",
        "22P02" => "invalid_text_representation",
        "22003" => "numeric_value_out_of_range",
        "22007" => "invalid_datetime_format",
        "22008" => "datetime_field_overflow",
        "2201B" => "invalid_regular_expression",
        "23514" => "check_violation",
        "42501" => "insufficient_privilege",
        "42704" => "undefined_object",
        "42883" => "undefined_function",
        "57014" => "query_canceled",
        _ => "internal_error",
    }
}
