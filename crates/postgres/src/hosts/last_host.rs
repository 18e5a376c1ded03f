//! Remembers which of several hosts accepted a login last, and makes configurations with a single host.

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

    /// Records that a host accepted a login, which ends the connections to all other hosts. Returns false, and changes nothing,
    /// when another host took over since the attempt began: a former primary that was frozen completes logins that began
    /// before the failover when it wakes up, and must not become the primary again.
    #[must_use]
    pub(crate) fn accept(&self, index: usize, start: AttemptStart) -> bool {
        let mut is_accepted = true;
        self.0.send_if_modified(|current| {
            if current.index == index {
                return false;
            }
            is_accepted = current.moves == start.moves;
            if is_accepted {
                *current = Current {
                    index,
                    moves: current.moves + 1,
                };
            }
            is_accepted
        });
        is_accepted
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
        assert!(last.accept(0, start));
        assert!(moved.as_mut().now_or_never().is_none());

        assert!(last.accept(1, start));

        moved.await;
        let config: Config = "host=one,two,three".parse().unwrap();
        assert_eq!(last.order(&config).collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn logins_that_began_before_a_move_do_not_move_back() {
        let last = LastHost::default();
        let before = last.start_attempt();
        assert!(last.accept(1, before));

        assert!(!last.accept(0, before));
        assert!(last.accept(1, before));
        // An attempt that begins now finds the hosts as they are: the primary may have moved back.
        assert!(last.accept(0, last.start_attempt()));
    }
}
