//! Names the hosts of a database's address, without its password.

mod url;

use secrecy::{ExposeSecret as _, SecretString};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

pub(crate) use url::hide_password;
pub use url::with_login;

/// Hosts and ports of a configuration, for messages: `db.example.com:5432`.
pub fn describe_hosts(config: &Config) -> String {
    let ports = config.get_ports();
    let addresses = config.get_hosts().iter().enumerate().map(|(index, host)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(folder) => format!("{}:{port}", folder.display()),
        }
    });
    addresses.collect::<Vec<_>>().join(",")
}

/// Hosts, ports and database: `db.example.com:5432/postgres`.
pub fn describe_database(config: &Config) -> String {
    format!(
        "{}/{}",
        describe_hosts(config),
        config.get_dbname().unwrap_or("postgres")
    )
}

/// As [`describe_database`], for a URL that may be malformed.
pub(crate) fn describe_url(url: &SecretString) -> String {
    match url.expose_secret().parse::<Config>() {
        Ok(config) => describe_database(&config),
        Err(_) => "the address in DATABASE_URL".to_owned(),
    }
}
