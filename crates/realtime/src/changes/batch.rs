//! Decides for a batch of changes which channels get what.
//!
//! The tests go from cheap to expensive: kind of event, filters that can be tested here, filters that PostgreSQL tests
//! (one statement per batch), rights on columns, and last row-level security (one statement per table and identity).
//! Then each change is encoded once per selection of columns and given to the sink in commit order.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use selvedge_limits::ClientId;

use super::ChangeSink;
use super::binding::ChangeKind;
use super::catalog::{Catalog, PublishedTable, RolePrivileges};
use super::checks::ChecksDatabase;
use super::evaluation::{Condition, Conditions, Evaluation, Evaluator};
use super::matcher::Verdict;
use super::outcomes::{Content, Outcome, emit};
use super::questions::{IdentityKey, Questions, last_of_their_rows};
use super::rights::{Failures, Missed, Rights, RolesError};
use super::row_change::{Cell, RowChange};
use super::subscriptions::{FilterValue, Group, GroupKey, Identity, Lane, Subscriptions};
use super::visibility::{VisibilityQuestion, VisibleRow, VisibleRows};

/// How often a batch is decided again because roles changed meanwhile.
const MOST_DECISIONS: u32 = 5;

const FILTERS_FAILED: &str = "Changes were not delivered: a filter of this channel could not be evaluated";
const RIGHTS_FAILED: &str = "Changes were not delivered: the rights of the role could not be read";
const ROWS_FAILED: &str = "Changes were not delivered: row-level security could not be checked";

/// A group that may get a change, with the filters that PostgreSQL still has to evaluate.
struct Candidate {
    change: usize,
    group: u64,
    conditions: Vec<Condition>,
    /// Whether a filter can be neither fulfilled nor not: it could not be evaluated, or the stream does not contain the value.
    is_unknown: bool,
}

/// What a batch of changes is delivered by.
pub(crate) struct Delivery<'a> {
    pub(crate) changes: &'a [RowChange],
    /// The transaction whose commit has not been read yet, if there is one: further changes of its rows may follow.
    pub(crate) open_transaction: Option<u32>,
    pub(crate) subscriptions: &'a Subscriptions,
    pub(crate) catalog: &'a Catalog,
    pub(crate) sink: &'a dyn ChangeSink,
    /// What asks PostgreSQL about filters, and the lane for which it does; `None` where it is never asked.
    pub(crate) evaluator: Option<(&'a Evaluator, Lane)>,
}

/// What was found while a batch was delivered.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// False when roles were found to have changed.
    pub(crate) are_roles_same: bool,
    /// Whose filters took too long: clients, or channels in [`Lane::Suspect`].
    pub(crate) slow: HashSet<ClientId>,
}

impl Delivery<'_> {
    /// Delivers a batch of changes in their order. Returns when all are given to the sink, so that the stream position is
    /// confirmed only for delivered changes. A channel that misses a change is told.
    pub(crate) async fn deliver(
        &self,
        rights: &mut Rights,
        failures: &mut Failures,
        checks: &mut ChecksDatabase,
    ) -> Delivered {
        let mut candidates = match_groups(self.changes, self.subscriptions);
        if candidates.is_empty() {
            return Delivered {
                are_roles_same: true,
                ..Delivered::default()
            };
        }
        let slow = self.keep_fulfilled(&mut candidates).await;
        let roles: HashSet<&str> = candidates
            .iter()
            .filter_map(|one| group_of(one, self.changes, self.subscriptions))
            .map(|group| &*group.key.identity.role)
            .collect();
        let mut missed = Missed::new();
        let mut decisions = 0;
        let outcomes = loop {
            rights.load(roles.clone(), self.catalog, checks).await;
            missed.clear();
            decisions += 1;
            match self.decide(&candidates, rights, checks, &mut missed).await {
                Ok(outcomes) => break outcomes,
                Err(RolesError::Changed) if decisions < MOST_DECISIONS => {}
                // Roles change faster than they can be read, or the database is away.
                Err(_) => {
                    for candidate in &candidates {
                        self.miss_role(candidate, &mut missed);
                    }
                    break Vec::new();
                }
            }
        };
        failures.tell(missed, self.sink);
        emit(&outcomes, self.changes, self.subscriptions, checks, self.sink).await;
        Delivered {
            are_roles_same: decisions == 1,
            slow,
        }
    }

    /// Drops candidates with a filter that PostgreSQL finds not fulfilled, and marks those whose filters it could not evaluate. Returns
    /// whose filters took too long.
    async fn keep_fulfilled(&self, candidates: &mut Vec<Candidate>) -> HashSet<ClientId> {
        let conditions = self.list_conditions(candidates);
        if conditions.is_empty() {
            return HashSet::new();
        }
        let Evaluation { results, slow } = match self.evaluator {
            Some((evaluator, _)) => evaluator.evaluate(&conditions).await,
            None => Evaluation::default(),
        };
        candidates.retain_mut(|one| {
            one.conditions
                .iter()
                .all(|condition| match results.get(condition) {
                    Some(is_fulfilled) => *is_fulfilled,
                    None => {
                        one.is_unknown = true;
                        true
                    }
                })
        });
        slow
    }

    /// The conditions of the candidates, by whom they belong to.
    fn list_conditions(&self, candidates: &[Candidate]) -> Conditions {
        let is_by_channel = matches!(self.evaluator, Some((_, Lane::Suspect)));
        let mut conditions = Conditions::new();
        for candidate in candidates.iter().filter(|one| !one.conditions.is_empty()) {
            let Some(group) = group_of(candidate, self.changes, self.subscriptions) else {
                continue;
            };
            for channel in group.single.iter().chain(&group.several) {
                let owner = match self.subscriptions.get(*channel) {
                    Some(subscription) if !is_by_channel => subscription.client,
                    _ => ClientId::Connection(channel.0),
                };
                let of_owner = conditions.entry(owner).or_default();
                of_owner.extend(candidate.conditions.iter().cloned());
            }
        }
        conditions
    }
}

/// The groups whose event and filters match, as far as this can be decided without PostgreSQL.
fn match_groups(changes: &[RowChange], subscriptions: &Subscriptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (position, change) in changes.iter().enumerate() {
        let Some(groups) = subscriptions.of_table(change.table.oid) else {
            continue;
        };
        let value_of = |column: usize| match change.filter_cell(column) {
            Cell::Text(text) => FilterValue::Text(text.as_ref()),
            // Compat: of a deleted row the stream has the replica identity only; a filter on another column is not fulfilled.
            Cell::Absent if change.kind == ChangeKind::Delete => FilterValue::Null,
            Cell::Null => FilterValue::Null,
            Cell::Absent | Cell::Unknown => FilterValue::Unknown,
        };
        for (id, group) in groups.candidates(value_of) {
            if !group.key.events.includes(change.kind) {
                continue;
            }
            if let Some((conditions, is_unknown)) = open_conditions(&group.key, change) {
                candidates.push(Candidate {
                    change: position,
                    group: id,
                    conditions,
                    is_unknown,
                });
            }
        }
    }
    candidates
}

/// The filters that PostgreSQL has to evaluate, and whether there is one that nobody can. `None` when a filter has already
/// failed.
fn open_conditions(group: &GroupKey, change: &RowChange) -> Option<(Vec<Condition>, bool)> {
    let mut conditions = Vec::new();
    let mut is_unknown = false;
    for matcher in group.matchers.iter() {
        let value = match change.filter_cell(matcher.column) {
            Cell::Absent if change.kind == ChangeKind::Delete => return None,
            // A large value (TOAST) that the update has left alone, or a generated one of a row that is gone.
            Cell::Absent | Cell::Unknown => {
                is_unknown = true;
                continue;
            }
            Cell::Null => None,
            Cell::Text(text) => Some(text),
        };
        match matcher.test(value.map(AsRef::as_ref)) {
            Verdict::Holds => {}
            Verdict::Fails => return None,
            Verdict::AskDatabase => conditions.push(Condition {
                type_oid: change.table.columns.get(matcher.column)?.type_oid,
                filter: matcher.filter.clone(),
                actual: value.cloned(),
            }),
        }
    }
    Some((conditions, is_unknown))
}

fn group_of<'s>(
    candidate: &Candidate,
    changes: &[RowChange],
    subscriptions: &'s Subscriptions,
) -> Option<&'s Group> {
    let change = changes.get(candidate.change)?;
    subscriptions.of_table(change.table.oid)?.group(candidate.group)
}

impl Delivery<'_> {
    /// Applies column rights and row-level security; returns what each group gets, in the order of the changes.
    ///
    /// # Errors
    /// Roles have changed, so that the rights have to be loaded again.
    async fn decide(
        &self,
        candidates: &[Candidate],
        rights: &mut Rights,
        checks: &mut ChecksDatabase,
        missed: &mut Missed,
    ) -> Result<Vec<Outcome>, RolesError> {
        let mut outcomes = Vec::with_capacity(candidates.len());
        let mut questions = Questions::default();
        // Parallel to `outcomes`: the position of the row-level security question that decides about it, if any.
        let mut pending: Vec<Option<usize>> = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            if let Some((outcome, question)) = self.judge(candidate, rights, &mut questions, missed) {
                pending.push(question);
                outcomes.push(outcome);
            }
        }
        let visible = self.find_visible(&questions, rights, checks, missed).await?;
        let mut pending = pending.into_iter();
        outcomes.retain_mut(|outcome| match pending.next().flatten() {
            None => self.keep(outcome, missed),
            // A row without an answer counts as invisible: on any doubt nothing is sent.
            Some(question) => {
                let rows = visible.get(question).and_then(Option::as_ref);
                self.apply(rows.and_then(|rows| rows.get(&outcome.change)), outcome)
                    && self.keep(outcome, missed)
            }
        });
        Ok(outcomes)
    }

    /// What a candidate gets by the rights on columns, and the position of the question whose answer decides about its row, if any.
    fn judge(
        &self,
        candidate: &Candidate,
        rights: &Rights,
        questions: &mut Questions,
        missed: &mut Missed,
    ) -> Option<(Outcome, Option<usize>)> {
        let change = self.changes.get(candidate.change)?;
        let group = group_of(candidate, self.changes, self.subscriptions)?;
        let Some(of_role) = rights.get(&group.key.identity.role) else {
            self.miss_role(candidate, missed);
            return None;
        };
        let selectable = of_role.selectable(&change.table);
        // Security: whether a change arrives must not tell anything about a column that the role may not select.
        if !group.key.may_filter(&selectable) {
            return None;
        }
        let content = content_for(change, &group.key, &selectable);
        let question = match &content {
            Content::Row(_) if needs_row_check(change, of_role) => {
                Some(questions.add(candidate.change, change, &group.key.identity, of_role)?)
            }
            _ => None,
        };
        let outcome = Outcome {
            change: candidate.change,
            group: candidate.group,
            content,
            is_unknown: candidate.is_unknown,
        };
        Some((outcome, question))
    }

    /// Asks the questions.
    ///
    /// # Errors
    /// Roles have changed.
    async fn find_visible(
        &self,
        questions: &Questions,
        rights: &mut Rights,
        checks: &mut ChecksDatabase,
        missed: &mut Missed,
    ) -> Result<Vec<Option<VisibleRows>>, RolesError> {
        if questions.list.is_empty() {
            if rights.are_old() {
                rights.confirm(&checks.wait_until_visible(BTreeSet::new()).await)?;
            }
            return Ok(Vec::new());
        }
        let transactions: BTreeSet<u32> = self.changes.iter().map(|change| change.transaction.xid).collect();
        let seen = checks.wait_until_visible(transactions).await;
        rights.confirm(&seen)?;
        let are_last = last_of_their_rows(self.changes, self.open_transaction);
        let visible = checks
            .visible_rows(&questions.list, self.changes, &are_last)
            .await;
        for (question, answer) in questions.list.iter().zip(&visible) {
            if answer.is_none() || !seen.are_visible {
                self.miss_question(question, missed);
            }
        }
        Ok(visible)
    }

    /// Reduces an outcome to what the identity sees of the row; false when that is nothing.
    fn apply(&self, row: Option<&VisibleRow>, outcome: &mut Outcome) -> bool {
        let is_current = match row {
            None => return false,
            Some(VisibleRow::Unchanged) => return true,
            Some(VisibleRow::ChangedSince(is_current)) => is_current,
        };
        let (Some(group), Content::Row(visible)) = (self.group(outcome), &outcome.content) else {
            return false;
        };
        // Security: that a filter was fulfilled tells the value that it was fulfilled by.
        if !group.key.may_filter(is_current) {
            return false;
        }
        outcome.content = Content::ChangedRow(visible.clone(), is_current.clone());
        true
    }

    /// Whether an outcome is sent. The channels of one whose filter is not known to be fulfilled are told instead: only now, because
    /// others must not learn by that what they cannot see.
    fn keep(&self, outcome: &Outcome, missed: &mut Missed) -> bool {
        if outcome.is_unknown
            && let Some(group) = self.group(outcome)
        {
            miss_group(group, FILTERS_FAILED, missed);
        }
        !outcome.is_unknown
    }

    fn group(&self, outcome: &Outcome) -> Option<&Group> {
        let change = self.changes.get(outcome.change)?;
        self.subscriptions
            .of_table(change.table.oid)?
            .group(outcome.group)
    }

    /// Notes that all channels of the candidate's role on its table miss a change: also those whose filters are not fulfilled,
    /// because a channel must not learn whether a row that it may not see fulfils them.
    fn miss_role(&self, candidate: &Candidate, missed: &mut Missed) {
        let (Some(change), Some(group)) = (
            self.changes.get(candidate.change),
            group_of(candidate, self.changes, self.subscriptions),
        ) else {
            return;
        };
        let is_same = |identity: &Identity| identity.role == group.key.identity.role;
        self.miss_groups(&change.table, is_same, RIGHTS_FAILED, missed);
    }

    /// Notes the same of the channels for which a question was asked.
    fn miss_question(&self, question: &VisibilityQuestion, missed: &mut Missed) {
        let asked = IdentityKey::new(&question.table, &question.identity);
        let is_same = |identity: &Rc<Identity>| IdentityKey::new(&question.table, identity) == asked;
        if let Some(groups) = self.subscriptions.of_table(question.table.oid) {
            for group in groups.all().filter(|group| is_same(&group.key.identity)) {
                miss_group(group, ROWS_FAILED, missed);
            }
        }
    }

    fn miss_groups(
        &self,
        table: &PublishedTable,
        is_affected: impl Fn(&Identity) -> bool,
        reason: &'static str,
        missed: &mut Missed,
    ) {
        if let Some(groups) = self.subscriptions.of_table(table.oid) {
            for group in groups.all().filter(|group| is_affected(&group.key.identity)) {
                miss_group(group, reason, missed);
            }
        }
    }
}

/// Notes that all channels of a group miss a change.
pub(crate) fn miss_group(group: &Group, reason: &'static str, missed: &mut Missed) {
    for channel in group.single.iter().chain(&group.several) {
        missed.insert(*channel, reason);
    }
}

/// Whether row-level security decides about the row. A deleted row no longer exists, so policies cannot be evaluated
/// for it; `RenderedChange` sends only its key.
fn needs_row_check(change: &RowChange, rights: &RolePrivileges) -> bool {
    change.kind != ChangeKind::Delete && change.table.has_row_security && !rights.bypasses_row_security
}

/// Returns what the group may see of the row by its column privileges. Compat: without a primary key, or without SELECT on
/// it, subscribers get an error instead of the row, as upstream.
fn content_for(change: &RowChange, group: &GroupKey, selectable: &[bool]) -> Content {
    if change.kind != ChangeKind::Delete {
        let mut key = change.table.key_columns().peekable();
        if key.peek().is_none() {
            return Content::Refusal("Error 400: Bad Request, no primary key");
        }
        if !key.all(|column| selectable.get(column).copied().unwrap_or(false)) {
            return Content::Refusal("Error 401: Unauthorized");
        }
    }
    Content::Row(group.visible_columns(&change.table, selectable))
}
