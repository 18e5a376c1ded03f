//! Which questions about visible rows a batch asks: one per table and identity.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use bytes::Bytes;

use super::catalog::{PublishedTable, RolePrivileges};
use super::row_change::RowChange;
use super::subscriptions::Identity;
use super::visibility::VisibilityQuestion;

/// The visibility questions of a batch, one per table and identity.
#[derive(Default)]
pub(crate) struct Questions {
    pub(crate) list: Vec<VisibilityQuestion>,
    by_identity: HashMap<(u32, IdentityKey), usize>,
}

/// The key by which identities are equal for a table. If its policies do not read the claims, one check per role is enough,
/// which matters with thousands of signed-in subscribers.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum IdentityKey {
    Role(String),
    Claims(Rc<Identity>),
}

impl IdentityKey {
    pub(crate) fn new(table: &PublishedTable, identity: &Rc<Identity>) -> Self {
        if table.is_visible_by_role {
            Self::Role(identity.role.clone())
        } else {
            Self::Claims(Rc::clone(identity))
        }
    }
}

impl Questions {
    /// Adds a change to the identity's question and returns the question's position in `list`. `None` when the row's
    /// key is not known; the change is then not sent.
    pub(crate) fn add(
        &mut self,
        position: usize,
        change: &RowChange,
        identity: &Rc<Identity>,
        rights: &RolePrivileges,
    ) -> Option<usize> {
        let key = change.key()?;
        let identity_key = IdentityKey::new(&change.table, identity);
        let list = &mut self.list;
        let question = *self
            .by_identity
            .entry((change.table.oid, identity_key))
            .or_insert_with(|| {
                list.push(VisibilityQuestion {
                    identity: Rc::clone(identity),
                    table: Rc::clone(&change.table),
                    selectable: rights.selectable(&change.table),
                    reads_versions: rights.reads_versions(&change.table),
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

/// For each change, whether its transaction is known to have left the row alone afterwards, so that a row whose version is of this
/// transaction has the values of the change. Changes of the transaction that is still being read may be followed by others, and
/// of a table that is published in part some changes are not in the stream.
pub(crate) fn last_of_their_rows(changes: &[RowChange], open_transaction: Option<u32>) -> Vec<bool> {
    let mut later: HashSet<(u32, u32, Vec<Bytes>)> = HashSet::new();
    let mut are_last: Vec<bool> = changes
        .iter()
        .rev()
        .map(|change| {
            let xid = change.transaction.xid;
            if !change.table.has_row_security
                || !change.table.is_streamed_whole
                || open_transaction == Some(xid)
            {
                return false;
            }
            match change.key() {
                Some(key) => later.insert((change.table.oid, xid, key)),
                None => false,
            }
        })
        .collect();
    are_last.reverse();
    are_last
}
