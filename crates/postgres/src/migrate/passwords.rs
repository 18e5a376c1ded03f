//! Sets passwords of the login roles. The values come from the server's secrets, never from a SQL file.

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::Client;

use super::error::MigrateError;

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
    /// The logins of the console: `selvedge_console_reader`, `selvedge_console_operator`, `selvedge_console_service`.
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

    fn pairs(&self) -> [(&'static str, Option<&SecretString>); 11] {
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
            ("selvedge_console_reader", self.console.as_ref()),
            ("selvedge_console_operator", self.console.as_ref()),
            ("selvedge_console_service", self.console.as_ref()),
        ]
    }
}

/// Sets the passwords; `client` must be logged in as a superuser. They are sent as SCRAM verifiers, so that no password
/// appears in PostgreSQL's log or in `pg_stat_statements`.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn set_role_passwords(client: &Client, passwords: &RolePasswords) -> Result<(), MigrateError> {
    let statements: Vec<String> = passwords
        .pairs()
        .into_iter()
        .filter_map(|(role, password)| Some((role, password?)))
        .map(|(role, password)| format!("alter role {role} password '{}'", scram_verifier(password)))
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
