//! Remembers which requests were applied, so that changes whose answer was lost are not applied twice (CONSOLE-054).
//!
//! The record is written in the transaction of the changes: after a crash both are there, or neither. A second request with the
//! same id waits in PostgreSQL's unique index until the first has ended.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::error::ConsoleError;
use crate::rows::request::Change;
use crate::session::Session;

/// A longer answer is not kept; its request is.
const LONGEST_ANSWER: usize = 256_000;

/// Forgets the oldest requests and answers of the account, and takes the id, unless it has been taken.
const CLAIM: &str = include_str!("sql/claim_request.sql");

const FIND: &str = "select changes_digest, answer from selvedge_console.selvedge_applied_requests
    where account = $1 and request_id = $2::text::uuid";

const KEEP: &str = "update selvedge_console.selvedge_applied_requests set answer = $3
    where account = $1 and request_id = $2::text::uuid";

/// What is known of a request.
pub(super) enum Known {
    /// It had not been seen before. From now on it has, if the transaction commits.
    New,
    /// It was given up before it arrived, and will never be applied.
    GivenUp,
    /// It was applied, with this answer.
    Applied(Value),
}

/// The id under which an account's request is remembered.
pub(super) struct RequestRecord<'a> {
    account: &'a str,
    id: String,
}

impl<'a> RequestRecord<'a> {
    pub(super) fn new(session: &'a Session, id: Uuid) -> Self {
        Self {
            account: session.account.as_deref().unwrap_or_default(),
            id: id.to_string(),
        }
    }

    /// Takes the id for these changes.
    ///
    /// # Errors
    /// 409 when a request with the id is still at work, and 422 when the id was used for other changes.
    pub(super) async fn claim(
        &self,
        transaction: &Transaction<'_>,
        changes: &[Change],
    ) -> Result<Known, ConsoleError> {
        let digest = Sha256::digest(serde_json::to_vec(changes)?);
        self.take(transaction, Some(&digest[..])).await
    }

    /// Takes the id for nothing, so that a request which has not arrived yet will be refused.
    ///
    /// # Errors
    /// 409 when a request with the id is still at work.
    pub(super) async fn give_up(&self, transaction: &Transaction<'_>) -> Result<Known, ConsoleError> {
        self.take(transaction, None).await
    }

    /// Keeps the answer for whoever asks again.
    pub(super) async fn keep_answer(
        &self,
        transaction: &Transaction<'_>,
        answer: &Value,
    ) -> Result<(), ConsoleError> {
        let answer = answer.to_string();
        if answer.len() <= LONGEST_ANSWER {
            transaction
                .execute(KEEP, &[&self.account, &self.id, &answer])
                .await?;
        }
        Ok(())
    }

    async fn take(
        &self,
        transaction: &Transaction<'_>,
        digest: Option<&[u8]>,
    ) -> Result<Known, ConsoleError> {
        let taken = transaction
            .execute(CLAIM, &[&self.account, &self.id, &digest])
            .await
            .map_err(|error| match error.code() {
                Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => {
                    ConsoleError::conflict("These changes are still being applied")
                        .with_hint("Try again in a moment; nothing is applied twice.")
                }
                _ => error.into(),
            })?;
        if taken == 1 {
            return Ok(Known::New);
        }
        let row = transaction.query_one(FIND, &[&self.account, &self.id]).await?;
        match (row.get::<_, Option<Vec<u8>>>(0), digest) {
            (None, _) => Ok(Known::GivenUp),
            (Some(known), Some(sent)) if known != sent => Err(ConsoleError::invalid(
                "The request's id was used for other changes",
            )),
            _ => Ok(Known::Applied(repeated_answer(row.get(1))?)),
        }
    }
}

/// The first answer again, marked as repeated.
fn repeated_answer(kept: Option<String>) -> Result<Value, ConsoleError> {
    let mut answer = match kept {
        Some(text) => serde_json::from_str(&text)?,
        None => json!({
            "applied": true, "statements": [], "undo": [], "rows": [],
            "notes": ["How to undo these changes is not known any more"],
        }),
    };
    answer["repeated"] = json!(true);
    Ok(answer)
}
