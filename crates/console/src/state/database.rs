//! Database connections of the console. A level is a login, so PostgreSQL itself refuses what a level may not do.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use selvedge_postgres::{Database, Login};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::config::Level;
use crate::error::ConsoleError;

/// Pooled connections per level for the console's own statements. SQL texts of users run on new connections.
const CONNECTIONS_PER_LEVEL: usize = 4;

/// Pooled connections that read Auth's tables: who of the project's users may sign in.
const CONNECTIONS_TO_AUTH: usize = 2;

/// Roles with which SQL can run programs or touch files of the database's machine.
const DANGEROUS_ROLES: &str = "select r.rolname::text, r.rolsuper, coalesce((
       select string_agg(g.rolname::text, ', ' order by g.rolname)
       from pg_catalog.pg_roles g
       where g.rolname in ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files')
         and pg_catalog.pg_has_role(r.oid, g.oid, 'member')), '')
     from pg_catalog.pg_roles r
     where r.rolname = current_user
       or current_user = 'selvedge_console_reader_0' and r.rolname ~ '^selvedge_console_reader_[0-9]+$'
     order by r.rolname";

/// The path of the console's own sessions. `postgres` may give the database another one, in which an operator or a function of its own comes
/// before PostgreSQL's, and would run with the console's rights. This statement itself looks up no name.
const PINNED_PATH: &str = "set search_path = pg_catalog, pg_temp";

/// Removes what code of the project has left in a session: settings, locks, temporary tables, prepared statements, cursors.
const DISCARD: &str = "discard all";

/// Begins each use of a session of Auth's owner. One table that a migration has locked must not hold it for long.
const BEGIN_AT_AUTH: &str =
    "set search_path = pg_catalog, pg_temp; set statement_timeout = '4s'; set lock_timeout = '3s';
    set idle_in_transaction_session_timeout = '20s'";

/// Longest time for a statement on Auth's tables together with its commit. PostgreSQL's `statement_timeout` does not cover the commit, at which
/// deferred triggers of the project run.
const LONGEST_AT_AUTH: Duration = Duration::from_secs(5);

/// The database, as the levels and the console itself reach it.
pub struct ConsoleDatabase {
    database: Arc<Database>,
    viewer: Pool,
    admin: Pool,
    service: Pool,
    auth_admin: Pool,
}

impl ConsoleDatabase {
    /// Connections are opened when they are first used.
    pub fn new(database: Arc<Database>) -> Self {
        Self {
            // Pools open connections on demand, so an unused console has none.
            viewer: database.pool(Login::ConsoleReader, CONNECTIONS_PER_LEVEL),
            admin: database.pool(Login::ConsoleAdmin, CONNECTIONS_PER_LEVEL),
            service: database.pool(Login::ConsoleService, CONNECTIONS_PER_LEVEL),
            auth_admin: database.pool(Login::AuthAdmin, CONNECTIONS_TO_AUTH),
            database,
        }
    }

    /// What people should know of the disk of the database; `None` while it has room, and where it is on another machine.
    #[must_use]
    pub fn disk_warning(&self) -> Option<&'static str> {
        self.database.disk().level().warning()
    }

    /// A connection of a level for statements that the console has written itself. Give it back without an open
    /// transaction and without changed settings; for a text of a user take [`Self::dedicated`].
    ///
    /// # Errors
    /// When the database is away.
    pub async fn connection(&self, level: Level) -> Result<Object, ConsoleError> {
        let pool = match level {
            Level::Viewer => &self.viewer,
            Level::Admin => &self.admin,
        };
        Ok(pool.get().await?)
    }

    /// Opens a connection of a level outside of the pool, which is closed when it is dropped. A user's SQL text can change a
    /// session in ways that cannot be reset.
    ///
    /// # Errors
    /// When the database does not respond.
    pub async fn dedicated(&self, level: Level) -> Result<Client, ConsoleError> {
        // Not pooled: settings, temporary tables and locks of the session end with the connection.
        Ok(self.database.client(login_of(level)).await?)
    }

    /// A connection of the console itself, which reads accounts and sessions and writes the audit.
    pub(crate) async fn service(&self) -> Result<Object, ConsoleError> {
        let client = self.service.get().await?;
        // Each time, as a connection of the pool does not say whether it is new.
        client.batch_execute(PINNED_PATH).await?;
        Ok(client)
    }

    /// Opens a connection outside of the pool with the console's own login, for work that belongs to a session.
    pub(crate) async fn dedicated_service(&self) -> Result<Client, ConsoleError> {
        let client = self.database.client(Login::ConsoleService).await?;
        client.batch_execute(PINNED_PATH).await?;
        Ok(client)
    }

    /// Runs a statement as the role that owns Auth's tables, for all that reads or writes them. Indexes, policies and triggers of the project run
    /// code in it, and may leave some for the end of a transaction; `postgres` is a member of this role, so that they gain nothing. Nothing that they
    /// leave in a session is there at its next use, and none of them keeps one for longer than five seconds.
    ///
    /// Hold no other connection meanwhile: this may wait.
    ///
    /// # Errors
    /// 503 when the database is away, no connection becomes free, or PostgreSQL refuses the statement.
    pub(crate) async fn query_at_auth(
        &self,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, ConsoleError> {
        let client = self.auth_admin().await?;
        let answer = tokio::time::timeout(LONGEST_AT_AUTH, client.query(statement, parameters)).await;
        if let Ok(answer) = answer {
            return answer.map_err(|error| ConsoleError::of_auth_tables(&error));
        }
        // The connection leaves the pool, because code of the project may catch the cancellation and go on.
        let token = client.cancel_token();
        drop(Object::take(client));
        self.database.cancel_statement(&token).await;
        tracing::warn!("code of the project keeps a statement at the tables of Auth from ending");
        Err(ConsoleError::auth_tables_away())
    }

    /// A connection for one statement of [`Self::query_at_auth`].
    async fn auth_admin(&self) -> Result<Object, ConsoleError> {
        let mut tries = 0;
        loop {
            let client = self.auth_admin.get().await.map_err(|error| match error {
                PoolError::Backend(error) => ConsoleError::of_auth_tables(&error),
                error => error.into(),
            })?;
            let begun = begin_at_auth(&client).await;
            tries += 1;
            match begun {
                Ok(()) => return Ok(client),
                // Code of the project may have set a time limit of a millisecond, for example. Another session does not have it.
                Err(_) if tries <= CONNECTIONS_TO_AUTH => drop(Object::take(client)),
                Err(error) => {
                    drop(Object::take(client));
                    return Err(ConsoleError::of_auth_tables(&error));
                }
            }
        }
    }

    /// The database with all logins, for what runs under a caller's role as the services do it.
    pub fn shared(&self) -> &Arc<Database> {
        &self.database
    }
}

async fn begin_at_auth(client: &Client) -> Result<(), tokio_postgres::Error> {
    // Sent alone, because PostgreSQL refuses it inside a transaction.
    client.batch_execute(DISCARD).await?;
    client.batch_execute(BEGIN_AT_AUTH).await
}

fn login_of(level: Level) -> Login {
    match level {
        Level::Viewer => Login::ConsoleReader,
        Level::Admin => Login::ConsoleAdmin,
    }
}

/// Refuses logins with which the console would give away the database's machine (CONSOLE-015).
///
/// # Errors
/// A login that fails, or one that is a superuser or may run programs or touch files; the message names it.
pub async fn check_logins(database: &Database) -> Result<(), String> {
    for login in [Login::ConsoleReader, Login::ConsoleAdmin, Login::ConsoleService] {
        let client = database
            .client(login)
            .await
            .map_err(|error| format!("the console cannot log in to the database: {error}"))?;
        let examine = |error| format!("the console cannot examine its logins: {error}");
        client.batch_execute(PINNED_PATH).await.map_err(examine)?;
        let rows = client.query(DANGEROUS_ROLES, &[]).await.map_err(examine)?;
        for row in rows {
            refuse_dangerous_login(row.get(0), row.get(1), row.get(2))?;
        }
    }
    Ok(())
}

fn refuse_dangerous_login(name: &str, is_superuser: bool, roles: &str) -> Result<(), String> {
    // Role memberships do not matter for a superuser, who passes every privilege check.
    if is_superuser {
        return Err(format!(
            "the console does not log in as {name}, which is a superuser: whoever reaches the console could then run \
             programs on the database's machine"
        ));
    }
    if !roles.is_empty() {
        return Err(format!(
            "the console does not log in as {name}, which is a member of {roles}: whoever reaches the console could \
             then run programs or touch files on the database's machine"
        ));
    }
    Ok(())
}
