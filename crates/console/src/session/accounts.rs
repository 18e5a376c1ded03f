//! The accounts of the console. Only the command line changes them, so that an intruder in the console cannot create another
//! one.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use tokio_postgres::Client;

use super::password;
use crate::state::Level;

/// The shortest password of an account.
const SHORTEST_PASSWORD: usize = 12;

/// An account without its password.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    /// The name with which the account signs in.
    pub name: String,
    /// The name of the account's level.
    pub level: String,
    /// The time when the account was added.
    pub created_at: chrono::DateTime<chrono::Utc>,
    /// The number of the account's sessions that have not ended.
    pub sessions: i64,
    /// The time when the newest of these sessions began.
    pub last_sign_in_at: Option<chrono::DateTime<chrono::Utc>>,
}

/// Why an account was not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// An account with this name exists already.
    #[error("there is an account {0} already")]
    Exists(String),
    /// There is no account with this name.
    #[error("there is no account {0}")]
    Unknown(String),
    /// The name is empty, too long or has control characters.
    #[error("a name has 1 to 120 characters, and no control characters")]
    Name,
    /// The password is shorter than allowed.
    #[error("a password needs at least {SHORTEST_PASSWORD} characters")]
    ShortPassword,
    /// The database refused the statement.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
}

/// Makes an account.
///
/// # Errors
/// A name that is taken or not valid, or a short password.
pub async fn add_account(
    client: &Client,
    name: &str,
    level: Level,
    password: &SecretString,
) -> Result<(), AccountError> {
    if name.is_empty() || name.chars().count() > 120 || name.chars().any(char::is_control) {
        return Err(AccountError::Name);
    }
    if password.expose_secret().chars().count() < SHORTEST_PASSWORD {
        return Err(AccountError::ShortPassword);
    }
    // The hash is made here, so that the password reaches neither PostgreSQL nor its log.
    let hash = password::hash(password.expose_secret());
    let added = client
        .execute(
            "insert into selvedge_console.selvedge_accounts (name, level, password_hash) values ($1, $2, $3) on conflict do nothing",
            &[&name, &level.name(), &hash],
        )
        .await?;
    match added {
        0 => Err(AccountError::Exists(name.to_owned())),
        _ => Ok(()),
    }
}

/// All accounts by name.
///
/// # Errors
/// When PostgreSQL refuses.
pub async fn list_accounts(client: &Client) -> Result<Vec<Account>, tokio_postgres::Error> {
    let rows = client
        .query(
            "select a.name, a.level, a.created_at, count(s.account) filter (where s.expires_at > now()),
               max(s.created_at)
             from selvedge_console.selvedge_accounts a left join selvedge_console.selvedge_sessions s on s.account = a.name
             group by a.name order by a.name",
            &[],
        )
        .await?;
    let read = |row: &tokio_postgres::Row| Account {
        name: row.get(0),
        level: row.get(1),
        created_at: row.get(2),
        sessions: row.get(3),
        last_sign_in_at: row.get(4),
    };
    Ok(rows.iter().map(read).collect())
}

/// Removes an account; its sessions end with it.
///
/// # Errors
/// When no account has the name.
pub async fn remove_account(client: &Client, name: &str) -> Result<(), AccountError> {
    let removed = client
        .execute(
            "with saved as (delete from selvedge_console.selvedge_snippets where account = $1)
             delete from selvedge_console.selvedge_accounts where name = $1",
            &[&name],
        )
        .await?;
    match removed {
        0 => Err(AccountError::Unknown(name.to_owned())),
        _ => Ok(()),
    }
}

/// Gives an account another level and ends its sessions, which were made for the old one.
///
/// # Errors
/// When no account has the name.
pub async fn set_account_level(client: &Client, name: &str, level: Level) -> Result<(), AccountError> {
    let changed = client
        .execute(
            // In one statement: a session with the old level must not outlive the change.
            "with ended as (delete from selvedge_console.selvedge_sessions where account = $1)
             update selvedge_console.selvedge_accounts set level = $2, updated_at = now() where name = $1",
            &[&name, &level.name()],
        )
        .await?;
    match changed {
        0 => Err(AccountError::Unknown(name.to_owned())),
        _ => Ok(()),
    }
}
