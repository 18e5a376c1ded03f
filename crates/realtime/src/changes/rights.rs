//! The rights of roles with subscribers, and whom to tell when a change could not be delivered.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use super::catalog::{Catalog, RolePrivileges};
use super::checks::{ChecksDatabase, Visibility};
use super::{ChangeSink, ChannelKey};

/// How long rights count without another look at the roles. `revoke` of a membership and `nobypassrls` fire no event trigger. They
/// are noticed with the question for visible rows, and after this time where no row has to be asked about.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// How often a channel is told at most that changes were not delivered.
const TOLD_FOR: Duration = Duration::from_secs(1);

/// The column rights of each role with subscribers. Cleared whenever the catalog is read again.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    by_role: HashMap<String, Rc<RolePrivileges>>,
    /// The fingerprint of all roles when the rights were read.
    roles: Option<String>,
    checked_at: Option<Instant>,
}

impl Rights {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn get(&self, role: &str) -> Option<&Rc<RolePrivileges>> {
        self.by_role.get(role)
    }

    /// Loads the rights of roles that are not known yet. Those of a role that cannot be read stay unknown.
    pub(crate) async fn load(
        &mut self,
        roles: HashSet<&str>,
        catalog: &Catalog,
        checks: &mut ChecksDatabase,
    ) {
        for role in roles {
            if self.by_role.contains_key(role) {
                continue;
            }
            if self.roles.is_none() {
                // Before the rights are read, so that a change of the roles between the two is noticed later.
                self.roles = checks.wait_until_visible(BTreeSet::new()).await.roles;
                self.checked_at = Some(Instant::now());
            }
            match checks.load_privileges(catalog, role).await {
                Ok(found) => {
                    self.by_role.insert(role.to_owned(), Rc::new(found));
                }
                Err(error) => {
                    tracing::warn!(code = "ErrorRunningQuery", role, %error, "the rights of a role could not be read");
                }
            }
        }
    }

    /// Whether the roles have to be looked at again before anything is delivered by these rights.
    pub(crate) fn are_old(&self) -> bool {
        self.checked_at.is_none_or(|at| at.elapsed() >= TRUSTED_FOR)
    }

    /// Compares the roles with those by which the rights were read.
    ///
    /// # Errors
    /// The rights are forgotten when a role has changed or the database could not be asked.
    pub(crate) fn confirm(&mut self, seen: &Visibility) -> Result<(), RolesError> {
        if seen.roles.is_some() && seen.roles == self.roles {
            self.checked_at = Some(Instant::now());
            return Ok(());
        }
        self.clear();
        match seen.roles {
            Some(_) => Err(RolesError::Changed),
            None => Err(RolesError::Unreadable),
        }
    }
}

/// Why rights can no longer be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RolesError {
    /// A role was changed, or given to or taken from another one.
    Changed,
    Unreadable,
}

/// Channels that miss changes of a batch, each with the reason.
pub(crate) type Missed = HashMap<ChannelKey, &'static str>;

/// Tells channels that changes were not delivered to them.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    told: HashMap<ChannelKey, Instant>,
}

impl Failures {
    /// Tells each channel, unless it was told a moment ago.
    pub(crate) fn tell(&mut self, missed: Missed, sink: &dyn ChangeSink) {
        if missed.is_empty() {
            return;
        }
        self.told.retain(|_, at| at.elapsed() < TOLD_FOR);
        for (channel, reason) in missed {
            self.told.entry(channel).or_insert_with(|| {
                sink.notify(channel, false, reason);
                Instant::now()
            });
        }
    }
}
