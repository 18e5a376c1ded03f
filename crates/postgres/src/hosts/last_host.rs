//! Remembers which of several hosts accepted a login last and the highest timeline among them, and makes configurations with a
//! single host.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

/// The host that accepted a login last. It is tried first, because an attempt to reach a host that is switched off takes the
/// whole `connect_timeout`.
#[derive(Debug, Clone)]
pub(crate) struct LastHost(Arc<watch::Sender<Current>>);

#[derive(Debug, Clone, Copy, Default)]
struct Current {
    /// Index of the host in the configuration.
    index: usize,
    /// How often another host took the place of the last one.
    moves: u64,
    /// The highest timeline of a primary so far; 0 when none is known.
    timeline: u32,
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
        Self(Arc::new(watch::Sender::new(Current::default())))
    }
}

impl LastHost {
    /// Returns the indexes of a configuration's hosts in the order in which they are tried.
    pub(crate) fn order(&self, config: &Config) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (config.get_hosts().len(), self.0.borrow().index);
        (first..first + count).map(move |index| index % count)
    }

    /// Notes the beginning of an attempt to log in.
    pub(crate) fn start_attempt(&self) -> AttemptStart {
        AttemptStart {
            moves: self.0.borrow().moves,
        }
    }

    /// Records that a host accepted a login, which ends the connections to all other hosts. `timeline` is that of the host, if it is
    /// known. Changes nothing when the host is not the primary:
    ///
    /// - Another host took over since the attempt began. A former primary that was frozen completes logins that began before
    ///   the failover when it wakes up.
    /// - Its timeline is lower than that of another primary before.
    #[must_use]
    pub(crate) fn accept(&self, index: usize, start: AttemptStart, timeline: Option<u32>) -> Acceptance {
        let mut acceptance = Acceptance::Primary;
        self.0.send_if_modified(|current| {
            acceptance = current.decide_acceptance(index, start, timeline);
            if acceptance == Acceptance::Former {
                current.report_former(index, timeline);
            }
            if acceptance != Acceptance::Primary {
                return false;
            }
            current.timeline = current.timeline.max(timeline.unwrap_or(0));
            current.is_known = true;
            if current.index == index {
                return false;
            }
            current.index = index;
            current.moves += 1;
            current.has_reported_former = false;
            true
        });
        acceptance
    }

    /// Makes a host the primary as [`Self::accept`] does, but only if its timeline is higher than that of every primary so far.
    pub(crate) fn accept_newer(&self, index: usize, start: AttemptStart, timeline: u32) {
        if timeline > self.0.borrow().timeline {
            let _: Acceptance = self.accept(index, start, Some(timeline));
        }
    }

    /// Forgets the highest timeline so far if a standby was the primary that wrote on it, and now has only changes of lower timelines:
    /// its promotion was taken back, so the primary that it follows is accepted again.
    pub(crate) fn forget_given_up_timeline(&self, standby: usize, timeline: u32) {
        self.0.send_if_modified(|current| {
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
        self.0.borrow().is_known
    }

    /// Waits until another host than this one has accepted a login.
    pub(crate) fn moved_from(&self, index: usize) -> impl Future<Output = ()> + Send + use<> {
        let mut last = self.0.subscribe();
        async move {
            // An error means that the `Database` was dropped, so that no other host will be recorded.
            if last.wait_for(|last| last.index != index).await.is_err() {
                std::future::pending().await
            }
        }
    }
}

impl Current {
    fn decide_acceptance(&self, index: usize, start: AttemptStart, timeline: Option<u32>) -> Acceptance {
        if timeline.is_some_and(|timeline| timeline < self.timeline) {
            Acceptance::Former
        } else if self.index != index && self.moves != start.moves {
            Acceptance::Overtaken
        } else {
            Acceptance::Primary
        }
    }

    /// Warns only once until the next failover, because a former primary may be tried for each request.
    fn report_former(&mut self, index: usize, timeline: Option<u32>) {
        if !std::mem::replace(&mut self.has_reported_former, true) {
            tracing::warn!(
                host = index + 1,
                timeline,
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
        let mut moved = std::pin::pin!(last.moved_from(0));
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
        let moved = last.moved_from(1);

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
