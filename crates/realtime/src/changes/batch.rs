//! Decides for a batch of changes which channels get what.
//!
//! The tests go from cheap to expensive: kind of event, filters that can be tested here, filters that PostgreSQL tests
//! (one statement per batch), rights on columns, and last row-level security (one statement per table and identity).
//! Filters that take too long, and those of clients whose filters did so lately, are tested behind rights and row-level security.
//! Then each change is encoded once per selection of columns and given to the sink in commit order.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use selvedge_limits::ClientId;

use super::ChangeSink;
use super::binding::ChangeKind;
use super::candidates::{Candidate, group_of, match_groups, take_answers};
use super::catalog::{Catalog, PublishedTable, RolePrivileges};
use super::checks::ChecksDatabase;
use super::evaluation::{Conditions, Evaluator};
use super::outcomes::{Content, Outcome, emit};
use super::questions::{IdentityKey, Questions, last_of_their_rows};
use super::rights::{Failures, Missed, Rights, RolesError};
use super::row_change::RowChange;
use super::subscriptions::{Group, GroupKey, Identity, Lane, Subscriptions};
use super::visibility::{VisibilityQuestion, VisibleRow, VisibleRows};

/// How often a batch is decided again because roles changed meanwhile.
const MOST_DECISIONS: u32 = 5;

const FILTERS_FAILED: &str = "Changes were not delivered: a filter of this channel could not be evaluated";
const RIGHTS_FAILED: &str = "Changes were not delivered: the rights of the role could not be read";
const ROWS_FAILED: &str = "Changes were not delivered: row-level security could not be checked";

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
    /// Whose filters took too long: clients, or in [`Lane::Suspect`] channels, for changes that they see.
    pub(crate) slow: HashSet<ClientId>,
}

/// What the decisions about a batch use and find.
struct Turn<'t> {
    rights: &'t mut Rights,
    checks: &'t mut ChecksDatabase,
    missed: &'t mut Missed,
    /// False when roles were found to have changed.
    are_roles_same: bool,
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
        let mut delivered = Delivered {
            are_roles_same: true,
            ..Delivered::default()
        };
        if candidates.is_empty() {
            return delivered;
        }
        let mut missed = Missed::new();
        let mut turn = Turn {
            rights,
            checks,
            missed: &mut missed,
            are_roles_same: true,
        };
        delivered.slow = self.ask_filters(&mut candidates, &mut turn).await;
        for candidate in &mut candidates {
            candidate.is_unknown |= !candidate.conditions.is_empty();
        }
        let all: Vec<&Candidate> = candidates.iter().collect();
        let mut outcomes = self.decide_by_present_roles(&all, &mut turn).await;
        delivered.are_roles_same = turn.are_roles_same;
        outcomes.retain(|outcome| self.keep(outcome, &mut missed));
        failures.tell(missed, self.sink);
        emit(&outcomes, self.changes, self.subscriptions, checks, self.sink).await;
        delivered
    }

    /// Lets PostgreSQL evaluate filters: drops candidates with one that is not fulfilled. Filters that it could not evaluate in time
    /// stay with their candidates. Returns whose filters took too long.
    async fn ask_filters(&self, candidates: &mut Vec<Candidate>, turn: &mut Turn<'_>) -> HashSet<ClientId> {
        let Some((evaluator, lane)) = self.evaluator else {
            return HashSet::new();
        };
        let mut slow = HashSet::new();
        if lane == Lane::Asked {
            let evaluation = evaluator.evaluate(&self.list_conditions(candidates)).await;
            take_answers(candidates, &evaluation.results);
            slow = evaluation.slow;
        }
        if candidates.iter().all(|one| one.conditions.is_empty()) {
            return slow;
        }
        // Security: how long a filter takes tells something about the value that it is evaluated for. What a channel hears of it, that
        // its filter has failed or is ended, must come from changes alone that it sees.
        self.drop_hidden(candidates, turn).await;
        let evaluation = evaluator.evaluate_apart(&self.list_conditions(candidates)).await;
        take_answers(candidates, &evaluation.results);
        match lane {
            // Nobody is told who moves to the other lane, so the filters of hidden rows count there, and delay the others only once.
            Lane::Asked => slow,
            Lane::Suspect | Lane::Native => evaluation.slow,
        }
    }

    /// Drops candidates with open conditions whose channels see nothing of the change.
    async fn drop_hidden(&self, candidates: &mut Vec<Candidate>, turn: &mut Turn<'_>) {
        let open: Vec<&Candidate> = candidates
            .iter()
            .filter(|one| !one.conditions.is_empty())
            .collect();
        let outcomes = self.decide_by_present_roles(&open, turn).await;
        let seen: HashSet<(usize, u64)> = outcomes.iter().map(|one| (one.change, one.group)).collect();
        candidates.retain(|one| one.conditions.is_empty() || seen.contains(&(one.change, one.group)));
    }

    /// Decides by roles as they are now: again when they are found to have changed meanwhile.
    async fn decide_by_present_roles(&self, candidates: &[&Candidate], turn: &mut Turn<'_>) -> Vec<Outcome> {
        let roles: HashSet<&str> = candidates
            .iter()
            .filter_map(|one| group_of(one, self.changes, self.subscriptions))
            .map(|group| &*group.key.identity.role)
            .collect();
        for _ in 0..MOST_DECISIONS {
            turn.rights.load(roles.clone(), self.catalog, turn.checks).await;
            let mut missed = Missed::new();
            match self
                .decide(candidates, turn.rights, turn.checks, &mut missed)
                .await
            {
                Ok(outcomes) => {
                    turn.missed.extend(missed);
                    return outcomes;
                }
                Err(RolesError::Changed) => turn.are_roles_same = false,
                Err(RolesError::Unreadable) => break,
            }
        }
        // The roles were changed each time while they were read, or the database cannot be reached: nobody may get these rows.
        for candidate in candidates {
            self.miss_role(candidate, turn.missed);
        }
        Vec::new()
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

impl Delivery<'_> {
    /// Applies column rights and row-level security; returns what each group gets, in the order of the changes.
    ///
    /// # Errors
    /// Roles have changed, so that the rights have to be loaded again.
    async fn decide(
        &self,
        candidates: &[&Candidate],
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
            None => true,
            // A row without an answer counts as invisible: on any doubt nothing is sent.
            Some(question) => {
                let rows = visible.get(question).and_then(Option::as_ref);
                self.apply(rows.and_then(|rows| rows.get(&outcome.change)), outcome)
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
            _ if !needs_row_check(change, of_role) => None,
            Content::Row(_) => Some(questions.add(candidate.change, change, &group.key.identity, of_role)?),
            // Security: without its key nobody can tell whether the row is visible, and that a filter was fulfilled tells its value.
            _ if !group.key.matchers.is_empty() => return None,
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
        if change.table.key_columns().next().is_none() {
            return Content::Refusal("Error 400: Bad Request, no primary key");
        }
        if !change.table.has_selectable_key(selectable) {
            return Content::Refusal("Error 401: Unauthorized");
        }
    }
    Content::Row(group.visible_columns(&change.table, selectable))
}
