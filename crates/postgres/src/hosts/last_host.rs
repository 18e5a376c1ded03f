//! Remembers which server accepted a login last and the highest timeline so far, and makes configurations with a single host.

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
}

/// How long a name has to lead to a former primary, or to a standby, until it is believed: its promotion may have been taken back.
const BELIEVED_AFTER: Duration = Duration::from_secs(60);

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
    /// Since when one name leads to a former primary or a standby only.
    former_since: Option<Instant>,
    /// Whether a login to a primary has succeeded before.
    is_known: bool,
    /// Whether a former primary was reported in the log since the last move.
    has_reported_former: bool,
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
        }
    }
}

/// What is known of each set of hosts, for all connections of this process. A part that remembered it for itself would go on with a former primary.
static OF_HOSTS: Mutex<BTreeMap<String, LastHost>> = Mutex::new(BTreeMap::new());

impl LastHost {
    /// What this process knows of the hosts of a configuration. Only those who want the primary know which host it is.
    pub(crate) fn of(config: &Config) -> Self {
        let hosts = format!(
            "{:?} {:?} {:?} {:?}",
            config.get_hosts(),
            config.get_hostaddrs(),
            config.get_ports(),
            config.get_target_session_attrs()
        );
        let mut known = OF_HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Self {
            is_one_name: is_one_name(config),
            ..Self::default()
        };
        known.entry(hosts).or_insert_with(new).clone()
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
            acceptance = current.decide_acceptance(index, start, server);
            if acceptance == Acceptance::Former && self.is_one_name && current.has_lasted_as_former() {
                current.believe_former(server);
                acceptance = Acceptance::Primary;
            }
            if acceptance == Acceptance::Former {
                current.report_former(index, server);
            }
            if acceptance != Acceptance::Primary {
                return false;
            }
            current.take(index, server)
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

    /// Whether a login to a primary has succeeded before. If not, nothing tells which of several primaries is the newest.
    pub(crate) fn is_known(&self) -> bool {
        self.current.borrow().is_known
    }

    /// Waits until another server than this one has accepted a login: at another host, or at the same name.
    pub(crate) fn moved_from(
        &self,
        index: usize,
        server: ServerIdentity,
    ) -> impl Future<Output = ()> + Send + use<> {
        let mut last = self.current.subscribe();
        async move {
            // An error means that the `Database` was dropped, so that no other host will be recorded.
            if last
                .wait_for(|last| last.index != index || last.is_another(server))
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
        self.former_since = None;
        if self.index == index && !is_another {
            return false;
        }
        // With several hosts the caller knows by the index; at one name nothing else tells an operator why all connections end.
        if is_another {
            tracing::warn!(
                timeline = server.timeline,
                "another server answers at the database's address: the connections to the former one end"
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
        let is_other_system =
            matches!((self.system, server.system), (Some(known), Some(found)) if known != found);
        is_other_timeline || is_other_system
    }

    /// Whether one name has led to nothing but a former primary or a standby for long enough.
    fn has_lasted_as_former(&mut self) -> bool {
        let since = *self.former_since.get_or_insert_with(Instant::now);
        since.elapsed() >= BELIEVED_AFTER
    }

    /// Forgets the newer primary.
    fn believe_former(&mut self, server: ServerIdentity) {
        tracing::error!(
            timeline = server.timeline,
            given_up_timeline = self.timeline,
            is_standby = server.is_standby,
            "the database's name leads to a server that is older than the one before, and to no other one: it is used"
        );
        self.timeline = 0;
        self.is_known = false;
        // Connections to the newer one end.
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

/// Returns the configuration with one of its hosts only.
pub(crate) fn with_single_host(config: &Config, index: usize) -> Config {
    let mut single = Config::new();
    match &config.get_hosts()[index] {
        Host::Tcp(name) => single.host(name),
        Host::Unix(folder) => single.host_path(folder),
    };
    if let Some(address) = config.get_hostaddrs().get(index) {
        single.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        single.port(*port);
    }
    copy_login(config, &mut single);
    copy_network_settings(config, &mut single);
    single
}

fn copy_login(config: &Config, single: &mut Config) {
    if let Some(user) = config.get_user() {
        single.user(user);
    }
    if let Some(password) = config.get_password() {
        single.password(password);
    }
    if let Some(database) = config.get_dbname() {
        single.dbname(database);
    }
    if let Some(options) = config.get_options() {
        single.options(options);
    }
    if let Some(name) = config.get_application_name() {
        single.application_name(name);
    }
    single
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
}

fn copy_network_settings(config: &Config, single: &mut Config) {
    single
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle());
    if let Some(interval) = config.get_keepalives_interval() {
        single.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        single.keepalives_retries(retries);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        single.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        single.tcp_user_timeout(*timeout);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn with_single_host_keeps_every_other_parameter() {
        let text = "host=one,two port=1,2 user=ada password=secret dbname=shop options=-cx=y application_name=a \
                    sslmode=require connect_timeout=3 tcp_user_timeout=4 keepalives_idle=5 keepalives_interval=6 \
                    keepalives_retries=7 target_session_attrs=read-write channel_binding=require";
        let several: Config = text.parse().unwrap();
        let expected: Config = text
            .replace("one,two", "two")
            .replace("1,2", "2")
            .parse()
            .unwrap();

        assert_eq!(with_single_host(&several, 1), expected);
    }

    #[tokio::test]
    async fn moved_from_completes_when_another_host_accepts_a_login() {
        let last = LastHost::default();
        let mut moved = std::pin::pin!(last.moved_from(0, ServerIdentity::default()));
        let start = last.start_attempt();
        assert_eq!(last.accept(0, start, None), Acceptance::Primary);
        assert!(moved.as_mut().now_or_never().is_none());

        assert_eq!(last.accept(1, start, None), Acceptance::Primary);

        moved.await;
        let config: Config = "host=one,two,three".parse().unwrap();
        assert_eq!(last.order(&config).collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn logins_that_began_before_a_move_do_not_move_back() {
        let last = LastHost::default();
        let before = last.start_attempt();
        assert_eq!(last.accept(1, before, None), Acceptance::Primary);

        assert_eq!(last.accept(0, before, None), Acceptance::Overtaken);
        assert_eq!(last.accept(1, before, None), Acceptance::Primary);
        // An attempt that begins now finds the hosts as they are: the primary may have moved back.
        assert_eq!(last.accept(0, last.start_attempt(), None), Acceptance::Primary);
    }

    #[test]
    fn a_host_with_a_lower_timeline_is_a_former_primary() {
        let last = LastHost::default();
        let accept = |index, timeline| last.accept(index, last.start_attempt(), timeline);
        assert_eq!(accept(0, Some(1)), Acceptance::Primary);
        assert_eq!(accept(1, Some(2)), Acceptance::Primary);
        let moved = last.moved_from(1, ServerIdentity::default());

        assert_eq!(accept(0, Some(1)), Acceptance::Former);
        assert!(moved.now_or_never().is_none());
        // Also when one name leads to different servers.
        assert_eq!(accept(1, Some(1)), Acceptance::Former);

        assert_eq!(accept(0, Some(3)), Acceptance::Primary);
        assert_eq!(accept(1, Some(2)), Acceptance::Former);
        // Servers that do not say their timeline are believed.
        assert_eq!(accept(1, None), Acceptance::Primary);
    }

    #[test]
    fn one_name_that_leads_to_another_server_ends_the_connections_to_the_former_one() {
        let last = LastHost {
            is_one_name: true,
            ..LastHost::default()
        };
        let server = |timeline, system| ServerIdentity {
            timeline: Some(timeline),
            system: Some(system),
            is_standby: false,
        };
        let standby = ServerIdentity {
            timeline: None,
            system: Some(7),
            is_standby: true,
        };
        let accept = |server| last.accept(0, last.start_attempt(), server);
        // As long as no primary was seen the name may mean a standby.
        assert_eq!(accept(standby), Acceptance::Primary);
        assert_eq!(accept(server(1, 7)), Acceptance::Primary);
        let to_first = last.moved_from(0, server(1, 7));
        assert!(last.moved_from(0, server(1, 7)).now_or_never().is_none());

        assert_eq!(accept(server(2, 7)), Acceptance::Primary);
        assert!(to_first.now_or_never().is_some());
        assert_eq!(accept(server(1, 7)), Acceptance::Former);
        assert_eq!(accept(standby), Acceptance::Former);
        let to_second = last.moved_from(0, server(2, 7));

        // A cluster of its own begins with timeline 1.
        assert_eq!(accept(server(1, 8)), Acceptance::Primary);
        assert!(to_second.now_or_never().is_some());
        assert_eq!(accept(server(1, 8)), Acceptance::Primary);
    }

    #[test]
    fn a_promotion_that_was_taken_back_makes_the_former_primary_the_primary_again() {
        let last = LastHost::default();
        let accept = |index, timeline| last.accept(index, last.start_attempt(), Some(timeline));
        assert_eq!(accept(0, 8), Acceptance::Primary);
        assert_eq!(accept(1, 9), Acceptance::Primary);

        // Host 0 never wrote on timeline 9, so its lower timeline does not mean that 9 was given up.
        last.forget_given_up_timeline(0, 8);
        // Host 1 still has timeline 9, because it follows a primary that was promoted after it.
        last.forget_given_up_timeline(1, 9);
        assert_eq!(accept(0, 8), Acceptance::Former);

        last.forget_given_up_timeline(1, 8);
        assert_eq!(accept(0, 7), Acceptance::Former);
        assert_eq!(accept(0, 8), Acceptance::Primary);
    }

    #[test]
    fn among_all_hosts_only_a_higher_timeline_makes_another_one_the_primary() {
        let last = LastHost::default();
        let config: Config = "host=one,two".parse().unwrap();
        let first = || last.order(&config).next();
        assert!(!last.is_known());

        last.accept_newer(1, last.start_attempt(), 2);
        assert!(last.is_known());
        assert_eq!(first(), Some(1));
        last.accept_newer(0, last.start_attempt(), 2);
        assert_eq!(first(), Some(1));
        let before = last.start_attempt();
        last.accept_newer(0, before, 3);
        assert_eq!(first(), Some(0));
        // This question began before the other host became the primary.
        last.accept_newer(1, before, 4);
        assert_eq!(first(), Some(0));
    }
}
