//! Decides for a batch of changes which channels get what.
//!
//! The tests go from cheap to expensive: kind of event, filters that can be tested here, filters that PostgreSQL tests
//! (one statement per batch), rights on columns, and last row-level security (one statement per table and identity).
//! Then each change is encoded once per selection of columns and given to the sink in commit order.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;

use super::binding::ChangeKind;
use super::catalog::{Catalog, RolePrivileges};
use super::checks::{ChecksDatabase, Condition, VisibilityQuestion};
use super::matcher::Verdict;
use super::row_change::{Cell, RenderedChange, RowChange};
use super::subscriptions::{Group, GroupKey, Identity, Subscriptions};
use super::{ChangeSink, ChannelKey};

/// The column rights of each role with subscribers. Cleared whenever the catalog is read again.
pub(crate) type PrivilegesByRole = HashMap<String, Rc<RolePrivileges>>;

/// A group that may get a change, with the filters that PostgreSQL still has to evaluate.
struct Candidate {
    change: usize,
    group: u64,
    conditions: Vec<Condition>,
}

/// Delivers a batch of changes in their order. Returns when all are given to the sink, so that the stream position is
/// confirmed only for delivered changes.
pub(crate) async fn deliver(
    changes: &[RowChange],
    subscriptions: &Subscriptions,
    catalog: &Catalog,
    privileges: &mut PrivilegesByRole,
    checks: &mut ChecksDatabase,
    sink: &dyn ChangeSink,
) {
    let mut candidates = match_groups(changes, subscriptions);
    if candidates.is_empty() {
        return;
    }
    keep_fulfilled(&mut candidates, checks).await;
    load_missing_privileges(&candidates, changes, subscriptions, catalog, privileges, checks).await;
    let outcomes = decide(candidates, changes, subscriptions, privileges, checks).await;
    emit(&outcomes, changes, subscriptions, checks, sink).await;
}

/// The groups whose event and filters match, as far as this can be decided without PostgreSQL.
fn match_groups(changes: &[RowChange], subscriptions: &Subscriptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (position, change) in changes.iter().enumerate() {
        let Some(groups) = subscriptions.of_table(change.table.oid) else {
            continue;
        };
        let value_of = |column: usize| match change.filter_cell(column) {
            Cell::Text(text) => Some(text.as_ref()),
            Cell::Null | Cell::Absent => None,
        };
        for (id, group) in groups.candidates(value_of) {
            if !group.key.events.includes(change.kind) {
                continue;
            }
            if let Some(conditions) = open_conditions(&group.key, change) {
                candidates.push(Candidate {
                    change: position,
                    group: id,
                    conditions,
                });
            }
        }
    }
    candidates
}

/// The filters that PostgreSQL has to evaluate. `None` when a filter has already failed.
fn open_conditions(group: &GroupKey, change: &RowChange) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    for matcher in group.matchers.iter() {
        let value = match change.filter_cell(matcher.column) {
            // The stream omits some values (unchanged TOAST). A filter on such a value counts as not fulfilled.
            Cell::Absent => return None,
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
    Some(conditions)
}

/// Drops candidates with a filter that PostgreSQL finds not fulfilled. Equal conditions are asked once.
async fn keep_fulfilled(candidates: &mut Vec<Candidate>, checks: &mut ChecksDatabase) {
    let open: HashSet<Condition> = candidates
        .iter()
        .flat_map(|one| one.conditions.iter().cloned())
        .collect();
    if open.is_empty() {
        return;
    }
    let results = checks.evaluate(open).await;
    candidates.retain(|one| {
        one.conditions
            .iter()
            .all(|condition| results.get(condition).copied().unwrap_or(false))
    });
}

/// Loads the rights of roles that are not cached. A role whose rights cannot be read gets nothing of this batch.
async fn load_missing_privileges(
    candidates: &[Candidate],
    changes: &[RowChange],
    subscriptions: &Subscriptions,
    catalog: &Catalog,
    privileges: &mut PrivilegesByRole,
    checks: &mut ChecksDatabase,
) {
    let roles: HashSet<&str> = candidates
        .iter()
        .filter_map(|one| group_of(one, changes, subscriptions))
        .map(|group| &*group.key.identity.role)
        .collect();
    for role in roles {
        if privileges.contains_key(role) {
            continue;
        }
        match checks.load_privileges(catalog, role).await {
            Ok(found) => {
                privileges.insert(role.to_owned(), Rc::new(found));
            }
            Err(error) => {
                tracing::warn!(code = "ErrorRunningQuery", role, %error, "the rights of a role could not be read");
            }
        }
    }
}

fn group_of<'s>(
    candidate: &Candidate,
    changes: &[RowChange],
    subscriptions: &'s Subscriptions,
) -> Option<&'s Group> {
    let change = changes.get(candidate.change)?;
    subscriptions.of_table(change.table.oid)?.group(candidate.group)
}

/// The outcome for a group that matches a change.
struct Outcome {
    change: usize,
    group: u64,
    content: Content,
}

enum Content {
    /// The row, with those columns for which the flag is true.
    Row(Vec<bool>),
    /// Only this error text, without values.
    Refusal(&'static str),
}

/// Applies column rights and row-level security; returns what each group gets, in the order of the changes.
async fn decide(
    candidates: Vec<Candidate>,
    changes: &[RowChange],
    subscriptions: &Subscriptions,
    privileges: &PrivilegesByRole,
    checks: &mut ChecksDatabase,
) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(candidates.len());
    let mut questions = Questions::default();
    // Parallel to `outcomes`: the position of the row-level security question that decides about it, if any.
    let mut pending: Vec<Option<usize>> = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        let (Some(change), Some(group)) = (
            changes.get(candidate.change),
            group_of(candidate, changes, subscriptions),
        ) else {
            continue;
        };
        let Some(rights) = privileges.get(&group.key.identity.role) else {
            continue;
        };
        let selectable = rights.selectable(&change.table);
        let content = content_for(change, &group.key, &selectable);
        let question = match &content {
            Content::Row(_) if needs_row_check(change, rights) => {
                match questions.add(candidate.change, change, &group.key.identity) {
                    Some(question) => Some(question),
                    None => continue,
                }
            }
            _ => None,
        };
        pending.push(question);
        outcomes.push(Outcome {
            change: candidate.change,
            group: candidate.group,
            content,
        });
    }
    let visible = questions.find_visible(changes, checks).await;
    let mut pending = pending.into_iter();
    outcomes.retain(|outcome| match pending.next().flatten() {
        None => true,
        // A row without an answer counts as invisible: on any doubt nothing is sent.
        Some(question) => visible
            .get(question)
            .is_some_and(|rows| rows.contains(&outcome.change)),
    });
    outcomes
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

/// The visibility questions of a batch, one per table and identity.
#[derive(Default)]
struct Questions {
    list: Vec<VisibilityQuestion>,
    by_identity: HashMap<(u32, IdentityKey), usize>,
}

/// The key by which identities are equal for a table. If its policies do not read the claims, one check per role is enough,
/// which matters with thousands of signed-in subscribers.
#[derive(PartialEq, Eq, Hash)]
enum IdentityKey {
    Role(String),
    Claims(Rc<Identity>),
}

impl Questions {
    /// The positions of the visible changes of each question.
    async fn find_visible(self, changes: &[RowChange], checks: &mut ChecksDatabase) -> Vec<HashSet<usize>> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let transactions: BTreeSet<u32> = changes.iter().map(|change| change.transaction.xid).collect();
        checks.wait_until_visible(transactions).await;
        checks.visible_rows(self.list).await
    }

    /// Adds a change to the identity's question and returns the question's position in `list`. `None` when the row's
    /// key is not known; the change is then not sent.
    fn add(&mut self, position: usize, change: &RowChange, identity: &Rc<Identity>) -> Option<usize> {
        let key = change.key()?;
        let identity_key = if change.table.is_visible_by_role {
            IdentityKey::Role(identity.role.clone())
        } else {
            IdentityKey::Claims(Rc::clone(identity))
        };
        let list = &mut self.list;
        let question = *self
            .by_identity
            .entry((change.table.oid, identity_key))
            .or_insert_with(|| {
                list.push(VisibilityQuestion {
                    identity: Rc::clone(identity),
                    table: Rc::clone(&change.table),
                    changes: Vec::new(),
                    keys: Vec::new(),
                });
                list.len() - 1
            });
        let asked = self.list.get_mut(question)?;
        // Candidates come in the order of the changes, so a change that is already part of the question is its last one.
        if asked.changes.last() != Some(&position) {
            asked.changes.push(position);
            asked.keys.push(key);
        }
        Some(question)
    }
}

/// Positions of selected columns; `None` for all.
type SelectedColumns = Option<Rc<[usize]>>;

/// Encodes the outcomes and gives them to the sink, change by change.
async fn emit(
    outcomes: &[Outcome],
    changes: &[RowChange],
    subscriptions: &Subscriptions,
    checks: &ChecksDatabase,
    sink: &dyn ChangeSink,
) {
    let mut told: Vec<&RowChange> = Vec::new();
    for outcome in outcomes {
        if let (Some(change), Content::Row(_)) = (changes.get(outcome.change), &outcome.content) {
            told.push(change);
        }
    }
    let sql_texts = checks.render(&told).await;
    for outcomes in outcomes.chunk_by(|one, next| one.change == next.change) {
        let Some(change) = outcomes.first().and_then(|outcome| changes.get(outcome.change)) else {
            continue;
        };
        let Some(groups) = subscriptions.of_table(change.table.oid) else {
            continue;
        };
        let rendered = RenderedChange::new(change, &sql_texts);
        let mut encoded: HashMap<Vec<bool>, Bytes> = HashMap::new();
        let mut refused: HashMap<&str, Bytes> = HashMap::new();
        // Compat: a channel with several matching bindings gets one message per selection of columns, with all their ids.
        let mut together: HashMap<(ChannelKey, SelectedColumns), (Bytes, Vec<u64>)> = HashMap::new();
        for outcome in outcomes {
            let Some(group) = groups.group(outcome.group) else {
                continue;
            };
            let data = match &outcome.content {
                Content::Row(visible) => match encoded.get(visible) {
                    Some(data) => data.clone(),
                    None => {
                        let data = rendered.data(visible);
                        encoded.insert(visible.clone(), data.clone());
                        data
                    }
                },
                Content::Refusal(error) => refused
                    .entry(error)
                    .or_insert_with(|| rendered.refusal(error))
                    .clone(),
            };
            if !group.single.is_empty() {
                let channels: Vec<ChannelKey> = group.single.iter().copied().collect();
                sink.deliver(&channels, &Arc::from([group.key.binding_id]), &data);
            }
            for channel in &group.several {
                let entry = together
                    .entry((*channel, group.key.select.clone()))
                    .or_insert_with(|| (data.clone(), Vec::new()));
                entry.1.push(group.key.binding_id);
            }
        }
        for ((channel, _), (data, ids)) in together {
            sink.deliver(&[channel], &ids.into(), &data);
        }
    }
}
