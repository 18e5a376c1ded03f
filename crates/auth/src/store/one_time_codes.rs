//! `_selvedge.one_time_codes`, `_selvedge.factor_attempts` and `_selvedge.text_message_pauses`: how often secrets were tried,
//! and when something was used last. All nodes count in the same rows.
//!
//! An attempt is counted before it is compared, by a statement of its own that no later failure rolls back; of many attempts
//! at once, the lock of the row lets each see the count of the one before. Source: Auth contract §3.4, §3.7.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, run_statement};

/// How often a code may be tried; after that it is invalid, also if the next one were right.
const MAX_ATTEMPTS: i16 = 5;
/// Wrong codes of a second factor that are free at once.
const FREE_FACTOR_ATTEMPTS: i32 = 20;
/// Seconds until one more wrong code of a second factor is free: twenty per hour.
const SECONDS_PER_FACTOR_ATTEMPT: i32 = 180;

/// Stores the hash of a code; `secret_id` is the row of `auth.one_time_tokens` or `auth.mfa_challenges`.
pub(crate) async fn insert(
    db: &impl GenericClient,
    secret_id: Uuid,
    hash: &[u8],
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "insert into _selvedge.one_time_codes (secret_id, code_hash, created_at) values ($1, $2, $3)";
    run_statement(db, SQL, &[&secret_id, &hash, &now]).await
}

/// Counts an attempt and returns the hash of the code; `None` once the code was tried [`MAX_ATTEMPTS`] times, and for one that
/// does not exist. `db` must not be inside a transaction that a wrong code rolls back.
pub(crate) async fn take_attempt(db: &impl GenericClient, secret_id: Uuid) -> DbResult<Option<Vec<u8>>> {
    const SQL: &str = "update _selvedge.one_time_codes set attempts = attempts + 1 \
                       where secret_id = $1 and attempts < $2 returning code_hash";
    let row = find_row(db, SQL, &[&secret_id, &MAX_ATTEMPTS]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Counts an attempt for a second factor; false once too many were wrong, from whichever client. An attempt that turns out
/// right is given back by [`clear_factor_attempts`] or [`use_step`].
pub(crate) async fn take_factor_attempt(db: &impl GenericClient, factor_id: Uuid) -> DbResult<bool> {
    const SQL: &str = include_str!("../../sql/take_factor_attempt.sql");
    let row = find_row(
        db,
        SQL,
        &[&factor_id, &SECONDS_PER_FACTOR_ATTEMPT, &FREE_FACTOR_ATTEMPTS],
    )
    .await?;
    Ok(row.is_some())
}

/// Frees all attempts of a factor, after a right one.
pub(crate) async fn clear_factor_attempts(db: &impl GenericClient, factor_id: Uuid) -> DbResult<()> {
    const SQL: &str = "update _selvedge.factor_attempts set full_at = now() where factor_id = $1";
    execute_statement(db, SQL, &[&factor_id]).await.map(|_| ())
}

/// Records that the code of a step was accepted; false when it, or one of a later step, was accepted before. To be called after
/// [`take_factor_attempt`], which has made the row.
pub(crate) async fn use_step(db: &impl GenericClient, factor_id: Uuid, step: i64) -> DbResult<bool> {
    const SQL: &str = "update _selvedge.factor_attempts set last_step = $2, full_at = now() \
                       where factor_id = $1 and (last_step is null or last_step < $2) returning factor_id";
    Ok(find_row(db, SQL, &[&factor_id, &step]).await?.is_some())
}

/// Records a text message to a number; returns when the last one was sent if that is less than `pause` ago. In the transaction
/// that sends, so that a message that failed does not count, and of two at once the second sees the first.
pub(crate) async fn take_text_message(
    db: &impl GenericClient,
    phone_hash: &[u8],
    pause: Duration,
    now: DateTime<Utc>,
) -> DbResult<Option<DateTime<Utc>>> {
    const SQL: &str = include_str!("../../sql/take_text_message.sql");
    // `make_interval` of PostgreSQL takes seconds as a floating-point number.
    let taken = find_row(db, SQL, &[&phone_hash, &now, &pause.as_secs_f64()]).await?;
    if taken.is_some() {
        return Ok(None);
    }
    const LAST: &str = "select sent_at from _selvedge.text_message_pauses where phone_hash = $1";
    let row = find_row(db, LAST, &[&phone_hash]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
