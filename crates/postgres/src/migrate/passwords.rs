//! Passwords of the login roles. They come from the server's secrets, never from a SQL file.

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::Client;

use super::error::MigrateError;

/// Passwords to set; `None` leaves a role as it is (without a password nobody can log in as it).
#[derive(Debug, Clone, Default)]
pub struct RolePasswords {
    /// `postgres`: the database's administrator, as whom projects migrate.
    pub postgres: Option<SecretString>,
    /// `authenticator`: as whom REST and storage connect to become the caller.
    pub authenticator: Option<SecretString>,
    /// `supabase_auth_admin`: as whom auth connects.
    pub supabase_auth_admin: Option<SecretString>,
    /// `supabase_storage_admin`: as whom storage does its own work.
    pub supabase_storage_admin: Option<SecretString>,
    /// `supabase_functions_admin`.
    pub supabase_functions_admin: Option<SecretString>,
    /// `supabase_replication_admin`: reads the replication stream for realtime.
    pub supabase_replication_admin: Option<SecretString>,
    /// `supabase_read_only_user`.
    pub supabase_read_only_user: Option<SecretString>,
    /// `pgbouncer`.
    pub pgbouncer: Option<SecretString>,
}

impl RolePasswords {
    /// The same password for every role: development (GW-033), where it is `postgres`.
    #[must_use]
    pub fn all(password: &SecretString) -> Self {
        let password = Some(password.clone());
        Self {
            postgres: password.clone(),
            authenticator: password.clone(),
            supabase_auth_admin: password.clone(),
            supabase_storage_admin: password.clone(),
            supabase_functions_admin: password.clone(),
            supabase_replication_admin: password.clone(),
            supabase_read_only_user: password.clone(),
            pgbouncer: password,
        }
    }

    fn pairs(&self) -> [(&'static str, Option<&SecretString>); 8] {
        [
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
        ]
    }
}

/// Sets the passwords; `client` must be a superuser's. Sent as SCRAM verifiers, so that neither a log nor
/// `pg_stat_statements` ever holds one.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn set_role_passwords(client: &Client, passwords: &RolePasswords) -> Result<(), MigrateError> {
    let statements: Vec<String> = passwords
        .pairs()
        .into_iter()
        .filter_map(|(role, password)| Some((role, password?)))
        .map(|(role, password)| format!("alter role {role} password '{}'", verifier(password)))
        .collect();
    Ok(client.batch_execute(&statements.join(";\n")).await?)
}

/// `SCRAM-SHA-256$…`: letters, digits and `+/=:$` only, hence safe between quotes.
pub(crate) fn verifier(password: &SecretString) -> String {
    postgres_protocol::password::scram_sha_256(password.expose_secret().as_bytes())
}
