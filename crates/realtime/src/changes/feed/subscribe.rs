//! Handles commands of channels: checks their bindings, and keeps their subscriptions.

use std::rc::Rc;
use std::time::Duration;

use tokio::task::spawn_local;
use tokio::time::Instant;

use super::command::Command;
use super::state::{Checked, Feed, Pending, Request};
use crate::changes::ChannelKey;
use crate::changes::binding::Binding;
use crate::changes::binding_checks::BindingQuestion;
use crate::changes::catalog::{Catalog, UnseenTable};
use crate::changes::checks::is_connection_loss;
use crate::changes::subscriptions::{Identity, Subscription};

/// How long to wait before bindings are checked again that could not be checked for lack of a database.
const RECHECK_PAUSE: Duration = Duration::from_secs(2);
/// How old the published tables are at least when they are read again for a binding on a table that is not among them.
const CATALOG_PAUSE: Duration = Duration::from_secs(1);
/// Most tables that the bindings of one channel may cover, each counted for each binding. A single binding may cover all.
const MOST_COVERED_TABLES: usize = 2000;
const DATABASE_AWAY: &str = "Realtime was unable to connect to the project database";

/// Whether a notice says that the subscription goes on by itself when the database is back.
pub(crate) fn is_temporary(notice: &str) -> bool {
    notice == DATABASE_AWAY
}

/// Why changes of tables are not seen whose rows this server stores in shards of Citus.
const UNSEEN_HERE: &str = "Realtime sees the changes of tables that Citus manages only while citus.enable_change_data_capture is on; \
                           set it, or use broadcasts instead.";
/// Why changes of tables are not seen whose rows other nodes of Citus store.
const UNSEEN_ELSEWHERE: &str =
    "Realtime does not see the changes of tables that Citus distributes; use broadcasts instead.";

/// What is to be done before a channel's bindings are accepted.
enum Step {
    /// PostgreSQL has to be asked; nothing where the list is empty.
    Ask(Vec<BindingQuestion>),
    /// The bindings are wrong, or not allowed: the text of the `system` event.
    Refuse(String),
    /// The published tables are to be read again at this time.
    WaitUntil(Instant),
    /// The database cannot be reached.
    WaitForDatabase,
}

impl Feed {
    /// Handles a command of a channel.
    pub(super) async fn handle_command(&mut self, command: Command) {
        match command {
            Command::Subscribe {
                channel,
                client,
                identity,
                bindings,
            } => {
                self.forget(channel);
                let parsed: Result<Vec<(u64, Binding)>, String> = bindings
                    .iter()
                    .map(|(id, json)| Ok((*id, Binding::parse(json)?)))
                    .collect();
                match parsed {
                    // One bad binding refuses all bindings of the channel.
                    Err(message) => self.sink.notify(channel, false, &message),
                    Ok(bindings) => {
                        let subscription = Subscription {
                            is_suspect: false,
                            client,
                            identity: Rc::new(identity),
                            bindings: bindings.into(),
                        };
                        self.begin_check(channel, Request::new(subscription)).await;
                    }
                }
            }
            Command::SetClaims { channel, identity } => self.set_claims(channel, identity).await,
            Command::Unsubscribe(channel) => {
                self.forget(channel);
                self.refused.remove(&channel);
            }
            Command::SetActive(is_active) => self.is_active = is_active,
        }
    }

    /// Ends what a channel is subscribed to, or is about to be. Old bindings end even when the new ones are refused.
    pub(super) fn forget(&mut self, channel: ChannelKey) {
        self.unroute(channel);
        self.unchecked.remove(&channel);
        self.pending.remove(&channel);
        self.hidden.remove(&channel);
        self.forget_lost(channel);
    }

    /// Begins to check a subscription. Its success or refusal is reported to the channel, now or by [`Feed::finish_check`].
    async fn begin_check(&mut self, channel: ChannelKey, request: Request) {
        match self.find_step(&request).await {
            Step::Refuse(message) => self.sink.notify(channel, false, &message),
            Step::Ask(questions) if questions.is_empty() => self.accept(channel, request.subscription),
            Step::Ask(questions) => self.ask(channel, request, questions),
            Step::WaitUntil(time) => self.check_later(channel, request, time),
            Step::WaitForDatabase => self.wait_for_database(channel, request),
        }
    }

    /// Asks PostgreSQL in a task beside the feed, which waits for nothing that a client chose.
    fn ask(&mut self, channel: ChannelKey, request: Request, questions: Vec<BindingQuestion>) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let (checker, outcomes) = (Rc::clone(&self.checker), self.checked.0.clone());
        let (client, identity) = (
            request.subscription.client,
            Rc::clone(&request.subscription.identity),
        );
        self.pending.insert(channel, Pending { ticket, request });
        spawn_local(async move {
            let outcome = checker.check(client, &identity.role, &questions).await;
            let checked = Checked {
                channel,
                ticket,
                outcome,
            };
            // The feed has ended when nobody receives it.
            outcomes.send(checked).ok();
        });
    }

    /// Applies the outcome of a check, unless the channel has left or asked for something else meanwhile.
    pub(super) fn finish_check(&mut self, checked: Checked) {
        let Checked {
            channel,
            ticket,
            outcome,
        } = checked;
        if self
            .pending
            .get(&channel)
            .is_none_or(|pending| pending.ticket != ticket)
        {
            return;
        }
        let Some(Pending { request, .. }) = self.pending.remove(&channel) else {
            return;
        };
        let Err(refusal) = outcome else {
            self.accept(channel, request.subscription);
            return;
        };
        let bindings = &request.subscription.bindings;
        let Some((_, binding)) = bindings.get(refusal.binding) else {
            return;
        };
        match describe_refusal(binding, &refusal.error) {
            Some(message) => self.sink.notify(channel, false, &message),
            None => self.wait_for_database(channel, request),
        }
    }

    fn accept(&mut self, channel: ChannelKey, subscription: Subscription) {
        self.route(channel, subscription);
        self.confirm(channel);
    }

    /// Keeps a subscription until the database is back, which its channel is told once.
    fn wait_for_database(&mut self, channel: ChannelKey, mut request: Request) {
        if !std::mem::replace(&mut request.is_told, true) {
            self.sink.notify(channel, false, DATABASE_AWAY);
        }
        self.check_later(channel, request, Instant::now() + RECHECK_PAUSE);
    }

    fn check_later(&mut self, channel: ChannelKey, request: Request, time: Instant) {
        self.recheck_at = match self.unchecked.is_empty() {
            true => time,
            false => self.recheck_at.min(time),
        };
        self.unchecked.insert(channel, request);
    }

    /// Checks the bindings again that wait for it, until the database is found away again.
    pub(super) async fn recheck_bindings(&mut self) {
        let waiting = std::mem::take(&mut self.unchecked);
        for (channel, request) in waiting {
            // The database was away for the channel before, so the others are not tried: each would wait for the same failure.
            if self.unchecked.values().any(|other| other.is_told) {
                self.check_later(channel, request, Instant::now() + RECHECK_PAUSE);
            } else {
                self.begin_check(channel, request).await;
            }
        }
    }

    /// Applies the claims of a refreshed token. Under another role the bindings are checked again: it may have no right
    /// to the columns that they filter by.
    async fn set_claims(&mut self, channel: ChannelKey, identity: Identity) {
        let identity = Rc::new(identity);
        if let Some(request) = self.unchecked.get_mut(&channel) {
            request.subscription.identity = identity;
            return;
        }
        let checked = self
            .pending
            .get(&channel)
            .map(|pending| &pending.request.subscription);
        let Some(known) = checked.or_else(|| self.subscriptions.get(channel)).cloned() else {
            return;
        };
        let is_same_role = known.identity.role == identity.role;
        let subscription = Subscription { identity, ..known };
        if !is_same_role {
            // From here on nothing is delivered under the old role.
            self.forget(channel);
            self.begin_check(channel, Request::new(subscription)).await;
        } else if let Some(pending) = self.pending.get_mut(&channel) {
            pending.request.subscription = subscription;
        } else {
            self.accept(channel, subscription);
        }
    }

    /// Compares bindings with the published tables, and finds out what PostgreSQL has to be asked about them.
    async fn find_step(&mut self, request: &Request) -> Step {
        let bindings = &request.subscription.bindings;
        let names_unknown_table = |feed: &Self| {
            let mut bindings = bindings.iter();
            bindings.any(|(_, binding)| feed.covered_tables(binding).next().is_none())
        };
        // The table may have been published a moment ago, and the announcement not have arrived yet. The tables are read for this once
        // a second at most: joins with names that do not exist would keep the feed busy.
        if self.catalog.is_none() || names_unknown_table(self) {
            match self.catalog_read_at.filter(|_| self.catalog.is_some()) {
                Some(read_at) if read_at > request.asked_at => {}
                Some(read_at) if read_at.elapsed() < CATALOG_PAUSE => {
                    return Step::WaitUntil(read_at + CATALOG_PAUSE);
                }
                _ if !self.reload_catalog().await => return Step::WaitForDatabase,
                _ => {}
            }
        }
        self.list_questions(bindings)
    }

    fn list_questions(&self, bindings: &[(u64, Binding)]) -> Step {
        let mut questions = Vec::new();
        let mut covered = 0;
        for (position, (_, binding)) in bindings.iter().enumerate() {
            let before = covered;
            for table in self.covered_tables(binding) {
                covered += 1;
                // Without filters and columns there is nothing that the role could be denied here; rows are checked one by
                // one later.
                if !binding.filters.is_empty() || binding.select.is_some() {
                    questions.push(BindingQuestion {
                        binding: position,
                        table,
                        filters: binding.filters.clone(),
                        select: binding.select.clone().unwrap_or_default(),
                    });
                }
            }
            if covered == before {
                return Step::Refuse(self.describe_missing_tables(binding));
            }
            if bindings.len() > 1 && covered > MOST_COVERED_TABLES {
                return Step::Refuse(format!(
                    "Unable to subscribe to changes with given parameters. The parameters cover more than {MOST_COVERED_TABLES} tables: {}",
                    binding.inspect()
                ));
            }
        }
        Step::Ask(questions)
    }

    /// The refusal of a binding that covers no table whose changes can be seen.
    fn describe_missing_tables(&self, binding: &Binding) -> String {
        let unseen = self.catalog.iter().flat_map(|catalog| catalog.unseen_tables());
        let reason = match explain_unseen(binding, unseen) {
            Some(reason) => format!("{reason} The"),
            None => "Please check Realtime is enabled for the given".to_owned(),
        };
        format!(
            "Unable to subscribe to changes with given parameters. {reason} connect parameters: {}",
            binding.inspect()
        )
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
        let (Some(before), Some(catalog)) = (before, self.catalog.as_deref()) else {
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
    fn covered_tables<'a>(&'a self, binding: &'a Binding) -> impl Iterator<Item = u32> + 'a {
        let tables = self.catalog.iter().flat_map(|catalog| catalog.tables());
        tables
            .filter(|table| binding.covers(&table.schema, &table.name))
            .map(|table| table.oid)
    }
}

impl Request {
    fn new(subscription: Subscription) -> Self {
        Self {
            subscription,
            asked_at: Instant::now(),
            is_told: false,
        }
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

/// The text about a binding that PostgreSQL refused; `None` for an error that says nothing about it.
fn describe_refusal(binding: &Binding, error: &tokio_postgres::Error) -> Option<String> {
    let refusal = error.as_db_error().filter(|_| !is_connection_loss(error))?;
    let code = refusal.code().code();
    Some(format!(
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
