//! `selvedge_one_time_codes`, `selvedge_counted_attempts`, `selvedge_factor_attempts` and `selvedge_text_message_pauses` of the schema
//! `_selvedge`: how often secrets were tried, and when something was used last. All nodes count in the same rows.
//!
//! An attempt is counted before it is compared, by a statement of its own that no later failure rolls back; of many attempts
//! at once, the lock of the row lets each see the count of the one before. Attempts count for the network that makes them and,
//! more generously, for all together: otherwise anybody could use up the attempts of the person whom a code was sent to.
//! Source: Auth contract §3.4, §3.7.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, execute_statement, find_row, run_statement};
use crate::crypto::one_time_code::AttemptSubject;

/// How often one network may try a code; after that it is invalid for it, also if the next one were right.
const MAX_ATTEMPTS_OF_NETWORK: i32 = 5;
/// How often all networks together may try a code. A code has a million values at least.
const MAX_ATTEMPTS: i16 = 50;

/// How many attempts are free at once; then as many per period.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptLimits {
    /// For each network.
    of_network: i32,
    /// For all networks together, without those from which an attempt was right before.
    of_all: i32,
    period_s: i32,
}

const HOUR_S: i32 = 3600;

/// For second factors. Whoever makes attempts knows the password.
pub(crate) const FACTOR_LIMITS: AttemptLimits = AttemptLimits {
    of_network: 20,
    of_all: 60,
    period_s: HOUR_S,
};
/// For codes without a row: those that the provider of text messages checks, and test codes.
pub(crate) const CHECKED_CODE_LIMITS: AttemptLimits = AttemptLimits {
    of_network: 5,
    of_all: 50,
    period_s: HOUR_S,
};
/// For all codes that are sent to one address, beside the limits of each code: whoever asks for one code after the other would
/// otherwise have fresh attempts with each. A day of them finds one code of six digits in 5 000.
pub(crate) const ADDRESS_LIMITS: AttemptLimits = AttemptLimits {
    of_network: 50,
    of_all: 200,
    period_s: 24 * HOUR_S,
};

/// For the codes of an address, where the network that tries them has asked for one in the last hour, see
/// [`super::code_requests`]: strangers who have not do not use these up. Whoever asks for a code makes the address get a mail for
/// every five attempts, and so is seen. Networks whose requests have sent nothing have as many, apart from both. Together with
/// [`ADDRESS_LIMITS`] these are 1 000 attempts a day at the codes of an address, which find one of six digits in 1 000.
pub(crate) const ASKED_CODE_LIMITS: AttemptLimits = AttemptLimits {
    of_network: 50,
    of_all: 400,
    period_s: 24 * HOUR_S,
};

/// Stores the hash of a code; `secret_id` is the row of `auth.one_time_tokens` or `auth.mfa_challenges`.
pub(crate) async fn insert(
    db: &impl GenericClient,
    secret_id: Uuid,
    hash: &[u8],
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.selvedge_one_time_codes (secret_id, code_hash, created_at) values ($1, $2, $3)";
    run_statement(db, SQL, &[&secret_id, &hash, &now]).await
}

/// A network that tries a code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TryingNetwork<'a> {
    /// Its hash.
    pub(crate) hash: &'a str,
    /// Whether a code was sent that it has asked for.
    pub(crate) has_asked: bool,
}

/// Counts an attempt and returns the hash of the code; `None` once the network has tried it [`MAX_ATTEMPTS_OF_NETWORK`] times or
/// all together [`MAX_ATTEMPTS`] times, and for one that does not exist. A network that has asked for a code counts by its own
/// attempts alone. `db` must not be inside a transaction that a wrong code rolls back.
pub(crate) async fn take_attempt(
    db: &impl GenericClient,
    secret_id: Uuid,
    network: TryingNetwork<'_>,
) -> DbResult<Option<Vec<u8>>> {
    const SQL: &str = include_str!("../../sql/take_code_attempt.sql");
    let params: super::Params<'_> = &[
        &secret_id,
        &network.hash,
        &MAX_ATTEMPTS_OF_NETWORK,
        &MAX_ATTEMPTS,
        &network.has_asked,
    ];
    let row = find_row(db, SQL, params).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Whether one more attempt is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptOutcome {
    Free,
    /// The network itself has made too many.
    NetworkExhausted,
    /// All networks together have.
    AllExhausted,
}

/// Counts an attempt at a secret that has no row in `_selvedge.selvedge_one_time_codes`, unless too many were wrong. What others do
/// does not stop a network from which an attempt was right before. A right attempt is given back by [`record_success`].
pub(crate) async fn take_counted_attempt(
    db: &impl GenericClient,
    subject: &AttemptSubject,
    limits: AttemptLimits,
) -> DbResult<AttemptOutcome> {
    const SQL: &str = include_str!("../../sql/take_counted_attempt.sql");
    let pause = |limit: i32| limits.period_s / limit;
    let (of_network, of_all) = (limits.of_network, limits.of_all);
    let params: super::Params<'_> = &[&subject.of_network, &pause(of_network), &of_network];
    let Some(row) = find_row(db, SQL, params).await? else {
        return Ok(AttemptOutcome::NetworkExhausted);
    };
    if row.try_get("was_right")? {
        return Ok(AttemptOutcome::Free);
    }
    let params: super::Params<'_> = &[&subject.of_all, &pause(of_all), &of_all];
    Ok(match find_row(db, SQL, params).await? {
        Some(_) => AttemptOutcome::Free,
        None => AttemptOutcome::AllExhausted,
    })
}

/// Frees all attempts at a secret after a right one, and remembers its network.
pub(crate) async fn record_success(db: &impl GenericClient, subject: &AttemptSubject) -> DbResult<()> {
    const SQL: &str = "update _selvedge.selvedge_counted_attempts set full_at = now(), \
                       succeeded_at = case when subject_hash = $1 then now() else succeeded_at end \
                       where subject_hash in ($1, $2)";
    let params: super::Params<'_> = &[&subject.of_network, &subject.of_all];
    execute_statement(db, SQL, params).await.map(|_| ())
}

/// Records that the code of a step was accepted; false when it, or one of a later step, was accepted before.
pub(crate) async fn use_step(db: &impl GenericClient, factor_id: Uuid, step: i64) -> DbResult<bool> {
    const SQL: &str = "insert into _selvedge.selvedge_factor_attempts as known (factor_id, full_at, last_step) values ($1, now(), $2) \
                       on conflict (factor_id) do update set last_step = $2, full_at = now() \
                       where known.last_step is null or known.last_step < $2 returning factor_id";
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
    const LAST: &str = "select sent_at from _selvedge.selvedge_text_message_pauses where phone_hash = $1";
    let row = find_row(db, LAST, &[&phone_hash]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
