//! Remembers which server accepted a login last and the highest timeline so far.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

use super::identity::ServerIdentity;

/// The host that accepted a login last. It is tried first, because an attempt to reach a host that is switched off takes the
/// whole `connect_timeout`.
#[derive(Debug, Clone)]
pub(crate) struct LastHost {
    current: Arc<watch::Sender<Current>>,
    /// Whether it is one name, which may lead to another server tomorrow: a DNS record, a virtual address, a proxy.
    is_one_name: bool,
    /// How long a name must lead to an older server, or to another cluster, and to nothing else before that is taken for the primary.
    believed_after: Duration,
}

/// A promotion may have been taken back, and several independent servers behind one name answer in turns.
const BELIEVED_AFTER: Duration = Duration::from_secs(60);

/// How many places without a connection are remembered. Jobs of pg_cron may name any database, so their number has no other bound.
const MOST_UNUSED_PLACES: usize = 64;

/// Logins in a row that another cluster must answer. A balancer may lead a few of them to the same of several servers by chance.
const BELIEVED_LOGINS: u32 = 10;

#[derive(Debug, Clone, Copy, Default)]
struct Current {
    /// Index of the host in the configuration.
    index: usize,
    /// How often another host took the place of the last one.
    moves: u64,
    /// The highest timeline of a primary so far; 0 when none is known.
    timeline: u32,
    /// The number that `initdb` gave to its cluster, where it was asked for.
    system: Option<u64>,
    /// Whether it is a standby, where its cluster's number is known.
    is_standby: Option<bool>,
    /// Since when one name leads to a former primary or a standby only.
    former_since: Option<Instant>,
    /// What answers at one name instead of the known cluster.
    other: Option<OtherCluster>,
    /// Whether it was reported that clusters answer in turns at one name.
    has_reported_turns: bool,
    /// Whether a login to a primary has succeeded before.
    is_known: bool,
    /// Whether a former primary was reported in the log since the last move.
    has_reported_former: bool,
}

/// Another cluster that answers at one name: a new database in the place of the former one, or one of several independent ones.
#[derive(Debug, Clone, Copy)]
struct OtherCluster {
    system: u64,
    since: Instant,
    /// How many logins it has answered in a row.
    logins: u32,
}

/// Whether a host that accepted a login is the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// It is the primary.
    Primary,
    /// Another host became the primary during the attempt, so the hosts must be tried again.
    Overtaken,
    /// It was the primary before another one, and does not know of it.
    Former,
}

/// The number of moves when an attempt to log in began; see [`LastHost::accept`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptStart {
    moves: u64,
}

impl Default for LastHost {
    fn default() -> Self {
        Self {
            current: Arc::new(watch::Sender::new(Current::default())),
            is_one_name: false,
            believed_after: BELIEVED_AFTER,
        }
    }
}

/// What is known of each database at a set of hosts. All connections of this process share it: a part of the program with a memory of its own
/// would go on writing to a former primary.
static OF_HOSTS: Mutex<BTreeMap<String, LastHost>> = Mutex::new(BTreeMap::new());

impl LastHost {
    /// What this process knows of the hosts of a configuration, for its database. Only those who want the primary know which host it is.
    pub(crate) fn of(config: &Config) -> Self {
        let place = name_place(config);
        let mut known = OF_HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Self {
            is_one_name: is_one_name(config),
            ..Self::default()
        };
        if known.len() >= MOST_UNUSED_PLACES && !known.contains_key(&place) {
            // Whoever may connect has a copy, and a connection waits for a move.
            known.retain(|_, last| Arc::strong_count(&last.current) > 1 || last.current.receiver_count() > 0);
        }
        known.entry(place).or_insert_with(new).clone()
    }

    /// Whether it is one name, for which each login asks what server answers.
    pub(crate) fn is_one_name(&self) -> bool {
        self.is_one_name
    }

    /// Returns the indexes of a configuration's hosts in the order in which they are tried.
    pub(crate) fn order(&self, config: &Config) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (config.get_hosts().len(), self.current.borrow().index);
        (first..first + count).map(move |index| index % count)
    }

    /// Notes the beginning of an attempt to log in.
    pub(crate) fn start_attempt(&self) -> AttemptStart {
        AttemptStart {
            moves: self.current.borrow().moves,
        }
    }

    /// Records that a host accepted a login, which ends the connections to all other hosts. `timeline` is that of the host, if it is
    /// known. Changes nothing when the host is not the primary:
    ///
    /// - Another host took over since the attempt began. A former primary that was frozen completes logins that began before
    ///   the failover when it wakes up.
    /// - Its timeline is lower than that of another primary before.
    #[must_use]
    pub(crate) fn accept(
        &self,
        index: usize,
        start: AttemptStart,
        server: impl Into<ServerIdentity>,
    ) -> Acceptance {
        let server = server.into();
        let mut acceptance = Acceptance::Primary;
        self.current.send_if_modified(|current| {
            if current.is_foreign(server) && !current.has_lasted_as_other(server, self.believed_after) {
                // It is used, and ends no connection to the known cluster.
                return false;
            }
            acceptance = current.decide_acceptance(index, start, server);
            let is_believed = acceptance == Acceptance::Former
                && self.is_one_name
                && current.has_lasted_as_former(self.believed_after);
            if is_believed {
                current.forget_newer(server);
                acceptance = Acceptance::Primary;
            }
            if acceptance == Acceptance::Former {
                current.report_former(index, server);
            }
            if acceptance != Acceptance::Primary {
                return false;
            }
            current.take(index, server) || is_believed
        });
        acceptance
    }

    /// Makes a host the primary as [`Self::accept`] does, but only if its timeline is higher than that of every primary so far.
    pub(crate) fn accept_newer(&self, index: usize, start: AttemptStart, timeline: u32) {
        if timeline > self.current.borrow().timeline {
            let _: Acceptance = self.accept(index, start, Some(timeline));
        }
    }

    /// Forgets the highest timeline so far if a standby was the primary that wrote on it, and now has only changes of lower timelines:
    /// its promotion was taken back, so the primary that it follows is accepted again.
    pub(crate) fn forget_given_up_timeline(&self, standby: usize, timeline: u32) {
        self.current.send_if_modified(|current| {
            if current.index == standby && timeline < current.timeline {
                tracing::warn!(
                    host = standby + 1,
                    timeline,
                    given_up_timeline = current.timeline,
                    "the newest primary is a standby of an older one now: what it acknowledged as a primary may be lost"
                );
                current.timeline = timeline;
                current.has_reported_former = false;
            }
            // The primary is still to be found, so no connection has to end.
            false
        });
    }

    /// The highest timeline of a primary so far; 0 when none is known.
    pub(crate) fn timeline(&self) -> u32 {
        self.current.borrow().timeline
    }

    /// Whether a login to a primary has succeeded before. If not, nothing tells which of several primaries is the newest.
    pub(crate) fn is_known(&self) -> bool {
        self.current.borrow().is_known
    }

    /// Waits until another server than this one has accepted a login: at another host, or at the same name. One of a cluster that was not the
    /// known one from the start waits until that one is another.
    pub(crate) fn moved_from(
        &self,
        index: usize,
        server: ServerIdentity,
    ) -> impl Future<Output = ()> + Send + use<> {
        let mut last = self.current.subscribe();
        let known = *last.borrow();
        let is_beside = move |last: &Current| known.is_foreign(server) && last.system == known.system;
        async move {
            // An error means that the `Database` was dropped, so that no other host will be recorded.
            if last
                .wait_for(|last| last.index != index || (last.is_another(server) && !is_beside(last)))
                .await
                .is_err()
            {
                std::future::pending().await
            }
        }
    }
}

impl Current {
    /// Makes a server the primary; returns whether it is another one than before.
    fn take(&mut self, index: usize, server: ServerIdentity) -> bool {
        let is_another = self.is_another(server);
        if is_another && server.system.is_some() && self.system != server.system {
            // Timelines of another cluster say nothing about this one's.
            self.timeline = 0;
        }
        self.timeline = self.timeline.max(server.timeline.unwrap_or(0));
        self.system = server.system.or(self.system);
        self.is_known |= !server.is_standby;
        if server.system.is_some() {
            self.is_standby = Some(server.is_standby);
            self.note_known_cluster();
        }
        self.former_since = None;
        if self.index == index && !is_another {
            return false;
        }
        // With several hosts the caller knows by the index; at one name nothing else tells an operator why all connections end.
        if is_another {
            tracing::warn!(
                timeline = server.timeline,
                "another server answers at the database's address, or it was promoted: the connections from before end"
            );
        }
        self.index = index;
        self.moves += 1;
        self.has_reported_former = false;
        true
    }

    /// Whether a server is known to be another one than the primary.
    fn is_another(&self, server: ServerIdentity) -> bool {
        let is_other_timeline = server
            .timeline
            .is_some_and(|timeline| self.timeline != 0 && timeline != self.timeline);
        // A name may mean a standby until a primary answers.
        let is_other_part =
            server.system.is_some() && self.is_standby.is_some_and(|known| known != server.is_standby);
        is_other_timeline || is_other_part || self.is_foreign(server)
    }

    /// Whether a server is known to be of another cluster than the primary.
    fn is_foreign(&self, server: ServerIdentity) -> bool {
        matches!((self.system, server.system), (Some(known), Some(found)) if known != found)
    }

    /// Whether one name has led to nothing but a former primary or a standby for long enough.
    fn has_lasted_as_former(&mut self, limit: Duration) -> bool {
        let since = *self.former_since.get_or_insert_with(Instant::now);
        since.elapsed() >= limit
    }

    /// Whether one name has led to nothing but this other cluster for long enough.
    fn has_lasted_as_other(&mut self, server: ServerIdentity, limit: Duration) -> bool {
        let Some(system) = server.system else { return false };
        let former = self.other.filter(|other| other.system == system);
        let (since, logins) = former.map_or_else(|| (Instant::now(), 0), |other| (other.since, other.logins));
        let logins = logins.saturating_add(1);
        self.other = Some(OtherCluster {
            system,
            since,
            logins,
        });
        logins >= BELIEVED_LOGINS && since.elapsed() >= limit
    }

    /// Notes that the known cluster has answered. If another one has answered before, both do in turns, and neither takes the other's place.
    fn note_known_cluster(&mut self) {
        let answered = self.other.take();
        let is_in_turns = answered.is_some_and(|other| Some(other.system) != self.system);
        if is_in_turns && !std::mem::replace(&mut self.has_reported_turns, true) {
            tracing::error!(
                "independent PostgreSQL servers answer in turns at the database's address: what is written at one is not at the other, and a \
                 failover of one goes unnoticed while the other answers"
            );
        }
    }

    /// Forgets the newer primary, so that the older one takes its place.
    fn forget_newer(&mut self, server: ServerIdentity) {
        tracing::error!(
            timeline = server.timeline,
            given_up_timeline = self.timeline,
            is_standby = server.is_standby,
            "the database's name leads to a server that is older than the one before, and to no other one: it is used"
        );
        self.timeline = 0;
        self.is_known = false;
        self.moves += 1;
    }

    fn decide_acceptance(&self, index: usize, start: AttemptStart, server: ServerIdentity) -> Acceptance {
        let is_same_system = server.system.is_none() || self.system.is_none() || server.system == self.system;
        let is_lower = server.timeline.is_some_and(|timeline| timeline < self.timeline);
        if is_same_system && (is_lower || (server.is_standby && self.is_known)) {
            Acceptance::Former
        } else if self.index != index && self.moves != start.moves {
            Acceptance::Overtaken
        } else {
            Acceptance::Primary
        }
    }

    /// Warns only once until the next failover, because a former primary may be tried for each request.
    fn report_former(&mut self, index: usize, server: ServerIdentity) {
        if !std::mem::replace(&mut self.has_reported_former, true) {
            tracing::warn!(
                host = index + 1,
                timeline = server.timeline,
                is_standby = server.is_standby,
                newest_timeline = self.timeline,
                "a former primary still accepts writes, and is not used: another server was promoted after it"
            );
        }
    }
}

/// What decides which server answers: the hosts, and for a pooler at one address the database, the tenant in the user's name (`postgres.REF`),
/// and options that are none of PostgreSQL's (`endpoint=ID`).
fn name_place(config: &Config) -> String {
    let user = config.get_user().unwrap_or_default();
    let tenant = user.split_once('.').map(|(_, tenant)| tenant);
    let options = config.get_options().unwrap_or_default().split_whitespace();
    // The value of a setting follows `-c`, and goes on after an escaped space.
    let mut is_continued = false;
    let routes = options.filter(|word| {
        let is_setting = is_continued || word.starts_with('-');
        // Two backslashes are one that is escaped itself.
        let backslashes = word.len() - word.trim_end_matches('\\').len();
        is_continued = is_setting && (*word == "-c" || backslashes % 2 == 1);
        !is_setting
    });
    format!(
        "{:?}",
        (
            (
                config.get_hosts(),
                config.get_hostaddrs(),
                config.get_ports(),
                config.get_target_session_attrs()
            ),
            config.get_dbname().unwrap_or(user),
            tenant,
            routes.collect::<Vec<_>>(),
        )
    )
}

/// Whether a configuration names several hosts and requires the primary (`target_session_attrs=read-write`).
pub(crate) fn has_standbys(config: &Config) -> bool {
    config.get_hosts().len() > 1 && config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite
}

/// Whether a configuration names one host of the network, which may be a name, an address or a proxy that leads to another server after a
/// failover.
fn is_one_name(config: &Config) -> bool {
    matches!(config.get_hosts(), [Host::Tcp(_)])
        && config.get_target_session_attrs() != TargetSessionAttrs::ReadOnly
}

#[cfg(test)]
mod tests;
