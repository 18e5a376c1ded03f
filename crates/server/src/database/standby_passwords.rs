//! Passwords in `primary_conninfo` of the servers of `[selvedge.replicas]`. A standby has settings of its own and the roles of the primary, so
//! `postgres` logs in there, too, and reads them.

use secrecy::SecretString;
use selvedge_postgres::migrate::has_standby_password;

use super::external::ExternalDatabase;
use crate::config::Config;
use crate::output;

/// What to do about a password.
pub(crate) const ADVICE: &str = "give the standby a file in its place (passfile=… in primary_conninfo), or run `alter system reset \
     primary_conninfo` on a former one: docs/operations.md, \"Read replicas\"";

/// What the text of a standby's connection to the primary holds.
pub(crate) enum StandbyPassword {
    None,
    Readable,
    /// Nothing is known of it, and why.
    Unread(String),
}

/// Looks at each standby with the login of `primary`, whose roles it has, and else with that of the standby's own URL. Returns addresses with
/// what was found.
pub(crate) async fn find_standby_passwords(
    config: &Config,
    primary: Option<&ExternalDatabase>,
) -> Vec<(String, StandbyPassword)> {
    let mut found = Vec::new();
    for url in config.selvedge.replicas.iter().flat_map(|section| &section.urls) {
        found.push(look_at(url, primary).await);
    }
    found
}

async fn look_at(url: &SecretString, primary: Option<&ExternalDatabase>) -> (String, StandbyPassword) {
    let parse = || ExternalDatabase::parse_named("selvedge.replicas.urls", url);
    let standby = match parse() {
        Ok(standby) => standby,
        Err(error) => {
            return (
                "a standby".to_owned(),
                StandbyPassword::Unread(format!("{error:#}")),
            );
        }
    };
    let address = standby.address();
    let mut logins = vec![standby];
    if let (Some(primary), Ok(standby)) = (primary, parse()) {
        logins.insert(0, standby.with_login_of(primary));
    }
    let mut reason = String::new();
    for login in &logins {
        match ask(login).await {
            Ok(Some(true)) => return (address, StandbyPassword::Readable),
            Ok(Some(false)) => return (address, StandbyPassword::None),
            Ok(None) => "it needs a superuser, or a member of pg_read_all_settings".clone_into(&mut reason),
            Err(error) => reason = format!("{error:#}"),
        }
    }
    (address, StandbyPassword::Unread(reason))
}

async fn ask(login: &ExternalDatabase) -> anyhow::Result<Option<bool>> {
    Ok(has_standby_password(&*login.connect().await?).await?)
}

/// Says which standbys have a password that `postgres` reads, and which could not be looked at.
pub(crate) async fn warn_of_standby_passwords(config: &Config, primary: &ExternalDatabase) {
    for (address, password) in find_standby_passwords(config, Some(primary)).await {
        let warning = match password {
            StandbyPassword::None => continue,
            StandbyPassword::Readable => {
                format!(
                    "primary_conninfo of {address} has a password, which postgres reads there\n  {ADVICE}"
                )
            }
            StandbyPassword::Unread(reason) => {
                format!("could not look for a password in primary_conninfo of {address}: {reason}")
            }
        };
        output::print_warnings(&[warning]);
    }
}
