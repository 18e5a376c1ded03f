//! Passwords in `primary_conninfo` of the servers of `[selvedge.replicas]`. A standby has settings of its own and the roles of the primary, so
//! `postgres` logs in there, too, and reads them.
//!
//! Each server is asked with the login of its own URL and with no other: a file of the project may name any address, which would receive
//! the password of a login that the administrator has given for another server.

use std::time::Duration;

use futures_util::future::join_all;
use secrecy::SecretString;
use selvedge_config::Config;
use selvedge_postgres::migrate::has_standby_password;
use selvedge_terminal::print_warnings;

use super::ExternalDatabase;

/// The advice that follows a found password.
pub const ADVICE: &str = "give the standby a file in its place (passfile=… in primary_conninfo), or run `alter system reset \
     primary_conninfo` on a former one: docs/operations.md, \"Read replicas\"";

/// The advice for a server that could not be examined.
pub const ADVICE_UNREAD: &str =
    "look there as a superuser: `show primary_conninfo` (docs/operations.md, \"Read replicas\")";

/// Longest time for one standby, so that a server which accepts connections and never answers does not hold up the command.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// What was found in a standby's `primary_conninfo`, the connection string with which it follows the primary.
pub enum StandbyPassword {
    None,
    Readable,
    /// Nothing is known of it, and why.
    Unread(String),
}

/// Looks at all standbys at once, each with the login of its URL. Returns addresses with what was found.
pub async fn find_standby_passwords(config: &Config) -> Vec<(String, StandbyPassword)> {
    let urls = config.selvedge.replicas.iter().flat_map(|section| &section.urls);
    join_all(urls.map(|url| look_at(url, ANSWER_LIMIT))).await
}

/// Looks at one standby, for at most `limit`.
async fn look_at(url: &SecretString, limit: Duration) -> (String, StandbyPassword) {
    let standby = match ExternalDatabase::parse_named("selvedge.replicas.urls", url) {
        Ok(standby) => standby,
        Err(error) => {
            return (
                "a standby".to_owned(),
                StandbyPassword::Unread(format!("{error:#}")),
            );
        }
    };
    let found = match tokio::time::timeout(limit, ask(&standby)).await {
        Ok(Ok(Some(true))) => StandbyPassword::Readable,
        Ok(Ok(Some(false))) => StandbyPassword::None,
        Ok(Ok(None)) => {
            StandbyPassword::Unread("the login of its URL is no member of pg_read_all_settings".to_owned())
        }
        Ok(Err(error)) => StandbyPassword::Unread(format!("{error:#}")),
        Err(_) => StandbyPassword::Unread(format!("no answer for {} s", limit.as_secs_f32())),
    };
    (standby.address(), found)
}

async fn ask(standby: &ExternalDatabase) -> anyhow::Result<Option<bool>> {
    Ok(has_standby_password(&*standby.connect().await?).await?)
}

/// Describes which standbys have a password that `postgres` can read, and which could not be examined.
pub async fn warn_of_standby_passwords(config: &Config) {
    for (address, password) in find_standby_passwords(config).await {
        let warning = match password {
            StandbyPassword::None => continue,
            StandbyPassword::Readable => {
                format!(
                    "primary_conninfo of {address} has a password, which postgres reads there\n  {ADVICE}"
                )
            }
            StandbyPassword::Unread(reason) => describe_unread(&address, &reason),
        };
        print_warnings(&[warning]);
    }
}

/// Says that nothing is known of the standby at `address`, and why.
pub fn describe_unread(address: &str, reason: &str) -> String {
    format!("primary_conninfo of {address} was not looked at: {reason}")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    /// The system accepts connections to it, and nobody reads them.
    #[actix_web::test]
    async fn gw_012_a_standby_that_stays_silent_is_left_after_a_limit() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = silent.local_addr().unwrap().port();
        let url = format!("postgresql://u:p@127.0.0.1:{port}/x?sslmode=disable").into();

        let begun = Instant::now();
        let (address, found) = look_at(&url, Duration::from_millis(50)).await;

        assert!(begun.elapsed() < ANSWER_LIMIT / 2, "{:?}", begun.elapsed());
        assert_eq!(address, format!("127.0.0.1:{port}"));
        assert!(matches!(found, StandbyPassword::Unread(reason) if reason == "no answer for 0.05 s"));
    }
}
