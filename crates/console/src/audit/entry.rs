//! Writes entries of the audit.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio_postgres::GenericClient;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The bytes of a statement's text that are kept, because a pasted import can have megabytes: its beginning and its end, between which a
/// statement cannot be hidden without a trace, as the length and the hash of the whole stand there.
const LONGEST_STATEMENT: usize = 16 * 1024;
/// How many of these bytes are the end of the text.
const KEPT_END: usize = 4 * 1024;

const DEPOSIT_DIGEST: &str = "select selvedge_console.permit_audit($1)";
const WRITE_ENTRY: &str = "select selvedge_console.write_audit($1, $2)";
const RECORD_ENTRY: &str = "select selvedge_console.record_audit($1)";

/// An action of an account, its target and its outcome.
#[derive(Debug, Clone, Copy)]
pub struct AuditEntry<'a> {
    action: &'a str,
    target: &'a str,
    statement: Option<&'a str>,
    rows: Option<i64>,
    result: &'a str,
}

impl<'a> AuditEntry<'a> {
    /// Describes an action such as `rows.apply`, `sql.run` or `sign_in` on a target such as `public.notes`.
    pub fn new(action: &'a str, target: &'a str) -> Self {
        Self {
            action,
            target,
            statement: None,
            rows: None,
            result: "ok",
        }
    }

    /// Adds the statement. Its values must be parameters where they may be secrets.
    #[must_use]
    pub fn with_statement(mut self, statement: &'a str) -> Self {
        self.statement = Some(statement);
        self
    }

    /// Adds the number of rows that were changed or read.
    #[must_use]
    pub fn with_rows(mut self, rows: i64) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Sets the outcome, which is `ok` otherwise: `refused`, `failed`, `started`.
    #[must_use]
    pub fn with_result(mut self, result: &'a str) -> Self {
        self.result = result;
        self
    }

    /// The entry as `selvedge_console.record_audit` takes it: an object with the names of the table's columns.
    fn to_json(self, session: &Session) -> String {
        json!({
            "account": session.account.as_deref(),
            "level": session.level.name(),
            "address": &*session.address,
            "action": self.action,
            "target": self.target,
            "statement": self.statement.map(shorten_statement),
            "rows": self.rows,
            "result": self.result,
            "request_id": &*session.request_id,
        })
        .to_string()
    }

    /// Logs the entry, because an attacker with rights on the database cannot take back a line of the log.
    fn log(self, session: &Session) {
        tracing::info!(
            account = session.account_name(),
            level = session.level.name(),
            address = &*session.address,
            request_id = &*session.request_id,
            action = self.action,
            target = self.target,
            rows = self.rows,
            result = self.result,
            "console"
        );
    }
}

/// The text of a statement as it is kept: a long one as beginning, a line with length and SHA-256 of the whole, and end.
fn shorten_statement(statement: &str) -> Cow<'_, str> {
    if statement.len() <= LONGEST_STATEMENT {
        return Cow::Borrowed(statement);
    }
    let begin = &statement[..statement.floor_char_boundary(LONGEST_STATEMENT - KEPT_END)];
    let end = &statement[statement.ceil_char_boundary(statement.len() - KEPT_END)..];
    Cow::Owned(format!(
        "{begin}\n-- [{} of {} bytes are left out here; sha256 of the whole: {}]\n{end}",
        statement.len() - begin.len() - end.len(),
        statement.len(),
        hex::encode(Sha256::digest(statement))
    ))
}

/// Lets one transaction under the login of a level write entries. That login alone is no proof, because SQL texts of users run under it:
/// the console's own login has stored the digest of a secret that nobody else knows.
pub struct AuditPermit {
    secret: [u8; 32],
    written: Arc<Notify>,
}

impl AuditPermit {
    /// Asks for the permit. To be called before the transaction begins: one that reads a snapshot would not see a later permit.
    ///
    /// # Errors
    /// When the database does not respond; the change must not run then.
    pub async fn request(state: &ConsoleState) -> Result<Self, ConsoleError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the system has randomness");
        let digest = Sha256::digest(secret);
        let client = state.database.service().await?;
        client.execute(DEPOSIT_DIGEST, &[&digest.as_slice()]).await?;
        Ok(Self {
            secret,
            written: Arc::clone(&state.audit_written),
        })
    }

    /// Writes an entry on `client`, which is in the transaction of the change and logged in as an admin's level. Where the transaction
    /// has taken another role, that must be reset before. A permit is good for all entries of one transaction.
    ///
    /// # Errors
    /// When PostgreSQL refuses; the transaction must then be rolled back.
    pub async fn write(
        &self,
        client: &impl GenericClient,
        session: &Session,
        entry: AuditEntry<'_>,
    ) -> Result<(), ConsoleError> {
        let text = entry.to_json(session);
        client
            .execute(WRITE_ENTRY, &[&text, &self.secret.as_slice()])
            .await?;
        entry.log(session);
        Ok(())
    }
}

impl Drop for AuditPermit {
    fn drop(&mut self) {
        self.written.notify_one();
    }
}

/// Writes an entry on `client`, which is in the transaction of the change and has the console's own login.
///
/// # Errors
/// When PostgreSQL refuses; the transaction must then be rolled back.
pub async fn write_by_service(
    state: &ConsoleState,
    client: &impl GenericClient,
    session: &Session,
    entry: AuditEntry<'_>,
) -> Result<(), ConsoleError> {
    client.execute(RECORD_ENTRY, &[&entry.to_json(session)]).await?;
    entry.log(session);
    state.audit_written.notify_one();
    Ok(())
}

/// Writes an entry in a separate transaction: before a service is called, and for actions that change nothing in the
/// database.
///
/// # Errors
/// When the database does not respond; the action must not run then.
pub async fn record(
    state: &ConsoleState,
    session: &Session,
    entry: AuditEntry<'_>,
) -> Result<(), ConsoleError> {
    let client = state.database.service().await?;
    write_by_service(state, &**client, session, entry).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_019_a_long_statement_keeps_its_end_its_length_and_its_hash() {
        let long = format!("{}select 'hidden at the end'", "ä ".repeat(20_000));

        let kept = shorten_statement(&long);

        assert!(kept.len() < LONGEST_STATEMENT + 200);
        assert!(kept.ends_with("select 'hidden at the end'"), "{kept}");
        assert!(kept.contains(&format!("of {} bytes", long.len())));
        assert!(kept.contains(&hex::encode(Sha256::digest(&long))));
        assert_eq!(shorten_statement("select 1"), "select 1");
    }
}
