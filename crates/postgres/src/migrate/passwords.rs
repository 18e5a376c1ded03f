//! Sets passwords of the login roles. The values come from the server's secrets, never from a SQL file.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest as _, Sha256};
use tokio_postgres::Client;

use super::error::MigrateError;
use crate::CONSOLE_READERS;

/// Passwords to set; `None` leaves a role as it is (without a password nobody can log in as it).
#[derive(Debug, Clone, Default)]
pub struct RolePasswords {
    /// `postgres`: administrator of the database; migrations and seeds run as this role.
    pub postgres: Option<SecretString>,
    /// `authenticator`: REST and storage log in as this role and switch to the caller's role in each transaction.
    pub authenticator: Option<SecretString>,
    /// `supabase_auth_admin`: login of the auth service.
    pub supabase_auth_admin: Option<SecretString>,
    /// `supabase_storage_admin`: login of storage for work outside of a caller's rights.
    pub supabase_storage_admin: Option<SecretString>,
    /// `supabase_functions_admin`.
    pub supabase_functions_admin: Option<SecretString>,
    /// `supabase_replication_admin`: reads the replication stream for realtime.
    pub supabase_replication_admin: Option<SecretString>,
    /// `supabase_read_only_user`.
    pub supabase_read_only_user: Option<SecretString>,
    /// `pgbouncer`.
    pub pgbouncer: Option<SecretString>,
    /// The logins of the console: `selvedge_console_reader`, [`CONSOLE_READERS`], `selvedge_console_operator`, `selvedge_console_service`.
    pub console: Option<SecretString>,
}

impl RolePasswords {
    /// Returns the same password for every role: development (GW-033), where it is `postgres`.
    #[must_use]
    pub fn same_for_all(password: &SecretString) -> Self {
        let password = Some(password.clone());
        Self {
            postgres: password.clone(),
            authenticator: password.clone(),
            supabase_auth_admin: password.clone(),
            supabase_storage_admin: password.clone(),
            supabase_functions_admin: password.clone(),
            supabase_replication_admin: password.clone(),
            supabase_read_only_user: password.clone(),
            pgbouncer: password.clone(),
            console: password,
        }
    }

    fn pairs(&self) -> Vec<(&'static str, Option<&SecretString>)> {
        let readers = CONSOLE_READERS.map(|role| (role, self.console.as_ref()));
        let mut pairs = vec![
            ("postgres", self.postgres.as_ref()),
            ("authenticator", self.authenticator.as_ref()),
            ("supabase_auth_admin", self.supabase_auth_admin.as_ref()),
            ("supabase_storage_admin", self.supabase_storage_admin.as_ref()),
            ("supabase_functions_admin", self.supabase_functions_admin.as_ref()),
            (
                "supabase_replication_admin",
                self.supabase_replication_admin.as_ref(),
            ),
            ("supabase_read_only_user", self.supabase_read_only_user.as_ref()),
            ("pgbouncer", self.pgbouncer.as_ref()),
            ("selvedge_console_reader", self.console.as_ref()),
            ("selvedge_console_operator", self.console.as_ref()),
            ("selvedge_console_service", self.console.as_ref()),
        ];
        pairs.extend(readers);
        pairs
    }
}

/// Roles may change their names until `pg_authid` is locked, and PostgreSQL 15 lets `postgres` rename nearly every one.
const LOCK: &str =
    "begin; set local lock_timeout = '60s'; lock table pg_catalog.pg_authid in share row exclusive mode";

/// The roles that exist, and whether each has REPLICATION that goes with its new password. Whoever logs in with it names a library that PostgreSQL
/// loads. From PostgreSQL 16 on nobody renames these roles, and `postgres` keeps it while there are slots
/// (`sql/platform/0101_replication_slots.sql`).
const EXISTING: &str = "
    select r.rolname::pg_catalog.text, r.rolreplication and not r.rolsuper
      and r.rolname operator(pg_catalog.<>) 'supabase_replication_admin'::pg_catalog.name
      and (r.rolname operator(pg_catalog.<>) 'postgres'::pg_catalog.name
        or pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000)
    from pg_catalog.pg_authid as r
    where r.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[])";

/// Sets the passwords of the roles that exist, in a transaction of its own; `client` must be logged in as a superuser.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn set_role_passwords(client: &Client, passwords: &RolePasswords) -> Result<(), MigrateError> {
    client.batch_execute(LOCK).await?;
    let outcome = match write_role_passwords(client, passwords).await {
        Ok(()) => client.batch_execute("commit").await.map_err(MigrateError::from),
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        // The first error is the one that counts.
        client.batch_execute("rollback").await.ok();
    }
    outcome
}

/// Sets the passwords of the roles that exist, in the transaction of `client` that has locked `pg_catalog.pg_authid`, so that none of them is
/// another role by now. They are sent as SCRAM verifiers, so that no password appears in PostgreSQL's log or in `pg_stat_statements`.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn write_role_passwords(client: &Client, passwords: &RolePasswords) -> Result<(), MigrateError> {
    let pairs = passwords.pairs();
    let names: Vec<&str> = pairs.iter().map(|(role, _)| *role).collect();
    let rows = client.query(EXISTING, &[&names]).await?;
    let existing: BTreeMap<&str, bool> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    // Making a verifier takes 4096 hashes, so roles with the same password get the same one.
    let mut verifiers: BTreeMap<&str, String> = BTreeMap::new();
    let statements: Vec<String> = pairs
        .into_iter()
        .filter_map(|(role, password)| Some((role, password?, existing.get(role)?)))
        .map(|(role, password, loses_replication)| {
            let made = verifiers.entry(password.expose_secret());
            let verifier = made.or_insert_with(|| scram_verifier(password));
            let attribute = if *loses_replication { "noreplication " } else { "" };
            format!("alter role {role} {attribute}password '{verifier}'")
        })
        .collect();
    // `alter role` takes no parameters, so the verifier is part of the text.
    Ok(client.batch_execute(&statements.join(";\n")).await?)
}

/// The SCRAM verifier of a password, `SCRAM-SHA-256$…`. It has only letters, digits and `+/=:$-`, so it needs no
/// escaping in a string literal.
#[must_use]
pub fn scram_verifier(password: &SecretString) -> String {
    postgres_protocol::password::scram_sha_256(password.expose_secret().as_bytes())
}

/// Whether a verifier of `pg_authid.rolpassword` is that of this password. False for other forms than SCRAM-SHA-256.
#[must_use]
pub fn matches_verifier(password: &SecretString, verifier: &str) -> bool {
    stored_key(password, verifier).unwrap_or(false)
}

/// PostgreSQL itself uses 4096.
const MAX_ITERATIONS: u32 = 100_000;

/// Computes `StoredKey` of RFC 5802 with the verifier's salt, and compares; `None` for a text of another form. Passwords that SASLprep
/// changes (RFC 4013) are prepared by PostgreSQL; such a password counts as another one here, and is set again. So does one with so many
/// iterations that computing them takes long: whoever stores a verifier chooses their number.
fn stored_key(password: &SecretString, verifier: &str) -> Option<bool> {
    let (parameters, keys) = verifier.strip_prefix("SCRAM-SHA-256$")?.split_once('$')?;
    let (iterations, salt) = parameters.split_once(':')?;
    let (stored_key, _) = keys.split_once(':')?;
    let iterations: u32 = iterations.parse().ok().filter(|count| *count <= MAX_ITERATIONS)?;
    let hmac = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).ok();
    let keyed = hmac(password.expose_secret().as_bytes())?;
    let digest =
        |data: &[u8]| -> [u8; 32] { keyed.clone().chain_update(data).finalize().into_bytes().into() };
    let mut block = digest(&[&STANDARD.decode(salt).ok()?[..], &[0, 0, 0, 1]].concat());
    let mut salted = block;
    for _ in 1..iterations {
        block = digest(&block);
        salted.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
    }
    let client_key = hmac(&salted)?.chain_update(b"Client Key").finalize().into_bytes();
    Some(Sha256::digest(client_key)[..] == STANDARD.decode(stored_key).ok()?[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_matches_its_own_password_only() {
        let verifier = scram_verifier(&"correct horse".into());

        assert!(matches_verifier(&"correct horse".into(), &verifier));
        assert!(!matches_verifier(&"correct horse ".into(), &verifier));
        assert!(!matches_verifier(
            &"x".into(),
            "md5900150983cd24fb0d6963f7d28e17f72"
        ));
        assert!(!matches_verifier(&"x".into(), "SCRAM-SHA-256$4096:$:"));
        // Four billion iterations would take half an hour.
        let endless = verifier.replacen("$4096:", "$4294967295:", 1);
        assert_ne!(endless, verifier);
        assert!(!matches_verifier(&"correct horse".into(), &endless));
    }
}
