//! Configurations with one of several hosts.

use tokio_postgres::Config;
use tokio_postgres::config::Host;

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
}
