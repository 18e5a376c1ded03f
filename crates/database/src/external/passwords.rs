//! Passwords of the logins of an external database, which `migrate up` sets where a superuser runs it.
//!
//! Whoever knows the password of one login must not become another by it: the superuser, the services, the console and `postgres` have
//! passwords of their own. Edge functions, jobs and operators know some of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::{Config, with_login};
use selvedge_postgres::CONSOLE_READERS;
use selvedge_postgres::migrate::{RolePasswords, matches_verifier, set_role_passwords};
use selvedge_terminal::{GOOD, print_warnings};
use tokio_postgres::Client;

use super::ExternalDatabase;

/// Logins of the services.
const SERVICES: [&str; 4] = [
    "authenticator",
    "supabase_auth_admin",
    "supabase_storage_admin",
    "supabase_replication_admin",
];

/// Logins of the console, beside [`CONSOLE_READERS`].
const CONSOLE: [&str; 3] = [
    "selvedge_console_reader",
    "selvedge_console_operator",
    "selvedge_console_service",
];

const VERIFIERS: &str = "
    select a.rolname::pg_catalog.text, a.rolpassword from pg_catalog.pg_authid as a
    where a.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[])";

/// Refuses passwords that are equal. `superuser` is the one of the URL.
///
/// # Errors
/// Names the two keys.
fn check_differences(config: &Config, superuser: Option<&SecretString>) -> Result<()> {
    let section = &config.selvedge;
    let passwords = [
        ("the superuser in DATABASE_URL", superuser),
        ("service_password", section.service_password.as_ref()),
        ("console_password", section.console_password.as_ref()),
        ("postgres_password", section.postgres_password.as_ref()),
    ];
    let given: Vec<(&str, &str)> = passwords
        .iter()
        .filter_map(|(name, password)| Some((*name, password.as_ref()?.expose_secret())))
        .collect();
    for (index, (name, password)) in given.iter().enumerate() {
        if password.is_empty() {
            bail!("the password of {name} is empty");
        }
        if let Some((other, _)) = given[..index].iter().find(|(_, other)| other == password) {
            bail!(
                "{other} and {name} have the same password: whoever learns one would have the rights of both"
            );
        }
    }
    Ok(())
}

/// Sets the passwords that the configuration names. On a new database (`is_first`) the services get one made by chance, which is
/// printed, if none is named and they have none. Says which logins of an older database have the superuser's password.
///
/// # Errors
/// When two of the passwords are equal, or PostgreSQL refuses.
pub async fn set_login_passwords(
    config: &Config,
    database: &ExternalDatabase,
    superuser: &Client,
    is_first: bool,
) -> Result<()> {
    let own = database.login().get_password().map(String::from_utf8_lossy);
    let own = own.map(|password| SecretString::from(password.into_owned()));
    check_differences(config, own.as_ref())?;
    let section = &config.selvedge;
    let found = Verifiers::read(superuser).await?;
    // Roles belong to all databases of a server, and the services of another one may use them already.
    let is_missing = is_first && section.service_password.is_none() && !found.has_password("authenticator");
    let made = is_missing.then(make_password);
    let service = section.service_password.as_ref().or(made.as_ref());
    let changed = |roles: &[&str], wanted: Option<&SecretString>| {
        wanted
            .filter(|password| !found.match_all(roles, password))
            .cloned()
    };
    let services = changed(&SERVICES, service);
    let console: Vec<&str> = CONSOLE.into_iter().chain(CONSOLE_READERS).collect();
    let passwords = RolePasswords {
        postgres: changed(&["postgres"], section.postgres_password.as_ref()),
        authenticator: services.clone(),
        supabase_auth_admin: services.clone(),
        supabase_storage_admin: services.clone(),
        supabase_replication_admin: services,
        console: changed(&console, section.console_password.as_ref()),
        ..RolePasswords::default()
    };
    set_role_passwords(superuser, &passwords).await?;
    if let Some(password) = &made {
        print_made_password(database, password);
    }
    warn_of_shared_passwords(superuser, own.as_ref()).await
}

/// Says which logins have the superuser's password, as earlier versions gave it to them.
async fn warn_of_shared_passwords(superuser: &Client, own: Option<&SecretString>) -> Result<()> {
    let Some(own) = own else { return Ok(()) };
    let found = Verifiers::read(superuser).await?;
    let groups = [
        (
            &SERVICES[..],
            "SELVEDGE_SERVICE_PASSWORD",
            "`serve` has it in DATABASE_URL",
        ),
        (
            &CONSOLE[..],
            "SELVEDGE_CONSOLE_PASSWORD",
            "`serve` needs the variable, too",
        ),
        (
            &["postgres"][..],
            "SELVEDGE_POSTGRES_PASSWORD",
            "`serve` needs the variable, too",
        ),
    ];
    for (roles, variable, then) in groups {
        let shared: Vec<&str> = roles
            .iter()
            .copied()
            .filter(|role| found.matches(role, own))
            .collect();
        if !shared.is_empty() {
            print_warnings(&[format!(
                "{} log in with the superuser's password: set {variable} to another one, and run this again ({then})",
                shared.join(", ")
            )]);
        }
    }
    Ok(())
}

/// The URL with the services' new password is needed once, for `serve`.
fn print_made_password(database: &ExternalDatabase, password: &SecretString) {
    anstream::println!(
        "{GOOD}password{GOOD:#} of the services, made now and shown once (SELVEDGE_SERVICE_PASSWORD chooses one):\n  \
         DATABASE_URL={}",
        with_login(database.url(), "authenticator", password.expose_secret())
    );
}

fn make_password() -> SecretString {
    let mut random = [0; 24];
    getrandom::fill(&mut random).expect("the operating system has random bytes");
    hex::encode(random).into()
}

/// What PostgreSQL stores of the roles' passwords.
struct Verifiers(BTreeMap<String, Option<String>>);

impl Verifiers {
    async fn read(superuser: &Client) -> Result<Self> {
        let console = CONSOLE.into_iter().chain(CONSOLE_READERS);
        let roles: Vec<&str> = SERVICES.into_iter().chain(console).chain(["postgres"]).collect();
        let rows = superuser.query(VERIFIERS, &[&roles]).await?;
        Ok(Self(rows.iter().map(|row| (row.get(0), row.get(1))).collect()))
    }

    fn has_password(&self, role: &str) -> bool {
        self.0.get(role).is_some_and(Option::is_some)
    }

    /// Compares each verifier once: most of these roles have the same one.
    fn match_all(&self, roles: &[&str], password: &SecretString) -> bool {
        let stored = roles
            .iter()
            .map(|role| self.0.get(*role).and_then(Option::as_deref));
        let distinct: Option<BTreeSet<&str>> = stored.collect();
        let are_all = |verifiers: BTreeSet<&str>| {
            verifiers
                .into_iter()
                .all(|verifier| matches_verifier(password, verifier))
        };
        distinct.is_some_and(are_all)
    }

    fn matches(&self, role: &str, password: &SecretString) -> bool {
        let verifier = self.0.get(role).and_then(Option::as_deref);
        verifier.is_some_and(|verifier| matches_verifier(password, verifier))
    }
}
