//! `auth.mfa_recovery_code_sets` and `auth.mfa_recovery_codes`: single-use codes that stand in for other second factors. Source:
//! AUTH-200 to AUTH-208.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, find_row, list_rows, run_statement};

/// The recovery codes of a user. Each is verified against its hash; the codes themselves are stored nowhere.
#[derive(Debug, Clone)]
pub(crate) struct RecoveryCodeSet {
    pub(crate) id: Uuid,
    pub(crate) factor_id: Uuid,
    pub(crate) friendly_name: String,
}

/// How many codes a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeCount {
    pub(crate) total: i64,
    /// Codes that nobody has used yet.
    pub(crate) remaining: i64,
}

/// Finds the set of a user.
pub(crate) async fn find(db: &impl GenericClient, user_id: Uuid) -> DbResult<Option<RecoveryCodeSet>> {
    const SQL: &str = "select s.id, s.mfa_factor_id, coalesce(f.friendly_name, '') as friendly_name \
                       from auth.mfa_recovery_code_sets s join auth.mfa_factors f on f.id = s.mfa_factor_id \
                       where s.user_id = $1";
    let Some(row) = find_row(db, SQL, &[&user_id]).await? else {
        return Ok(None);
    };
    Ok(Some(RecoveryCodeSet {
        id: row.try_get("id")?,
        factor_id: row.try_get("mfa_factor_id")?,
        friendly_name: row.try_get("friendly_name")?,
    }))
}

/// Counts the codes of a set.
pub(crate) async fn count(db: &impl GenericClient, set_id: Uuid) -> DbResult<CodeCount> {
    const SQL: &str = "select count(*) as total, count(*) filter (where consumed_at is null) as remaining \
                       from auth.mfa_recovery_codes where mfa_recovery_code_set_id = $1";
    let row = find_row(db, SQL, &[&set_id]).await?;
    let none = CodeCount {
        total: 0,
        remaining: 0,
    };
    row.map_or(Ok(none), |row| {
        Ok(CodeCount {
            total: row.try_get("total")?,
            remaining: row.try_get("remaining")?,
        })
    })
}

/// Inserts a set as a verified factor of the user.
///
/// # Errors
/// A unique violation when the user has a set, or a factor of this name.
pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    set: &RecoveryCodeSet,
    hashes: &[String],
    now: DateTime<Utc>,
) -> DbResult<()> {
    const FACTOR: &str = "insert into auth.mfa_factors \
                          (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret) values \
                          ($1, $2, $3::text, 'recovery_code', 'verified', $4, $4, '')";
    run_statement(db, FACTOR, &[&set.factor_id, &user_id, &set.friendly_name, &now]).await?;
    const SET: &str = "insert into auth.mfa_recovery_code_sets (id, user_id, mfa_factor_id, created_at, updated_at) \
                       values ($1, $2, $3, $4, $4)";
    run_statement(db, SET, &[&set.id, &user_id, &set.factor_id, &now]).await?;
    insert_codes(db, set.id, hashes, now).await
}

/// Replaces the codes of a set by new ones, and forgets failed verifications.
pub(crate) async fn replace(
    db: &impl GenericClient,
    set_id: Uuid,
    hashes: &[String],
    now: DateTime<Utc>,
) -> DbResult<()> {
    const OLD: &str = "delete from auth.mfa_recovery_codes where mfa_recovery_code_set_id = $1";
    run_statement(db, OLD, &[&set_id]).await?;
    insert_codes(db, set_id, hashes, now).await?;
    forget_failures(db, set_id, now).await
}

async fn insert_codes(
    db: &impl GenericClient,
    set_id: Uuid,
    hashes: &[String],
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_recovery_codes.sql");
    run_statement(db, SQL, &[&set_id, &hashes, &now]).await
}

/// Whether a code may be verified now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecoveryAttempt {
    /// It was counted. The set and its factor.
    Free {
        set_id: Uuid,
        factor_id: Uuid,
    },
    Locked,
    /// The user has no recovery codes.
    NoCodes,
}

/// Counts an attempt, in one statement, so that many at once count as well; the last one that is allowed locks the set until
/// `locked_until`.
pub(crate) async fn take_attempt(
    db: &impl GenericClient,
    user_id: Uuid,
    most: i32,
    now: DateTime<Utc>,
    locked_until: DateTime<Utc>,
) -> DbResult<RecoveryAttempt> {
    const SQL: &str = include_str!("../../sql/take_recovery_attempt.sql");
    if let Some(row) = find_row(db, SQL, &[&user_id, &most, &now, &locked_until]).await? {
        return Ok(RecoveryAttempt::Free {
            set_id: row.try_get("id")?,
            factor_id: row.try_get("mfa_factor_id")?,
        });
    }
    Ok(match find(db, user_id).await? {
        Some(_) => RecoveryAttempt::Locked,
        None => RecoveryAttempt::NoCodes,
    })
}

/// Forgets failed verifications, and with them a lock.
pub(crate) async fn forget_failures(
    db: &impl GenericClient,
    set_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_recovery_code_sets set failed_verification_count = 0, \
                       verification_locked_until = null, updated_at = $2 where id = $1";
    run_statement(db, SQL, &[&set_id, &now]).await
}

/// Lists the ids and hashes of the codes that nobody has used.
pub(crate) async fn list_unused(db: &impl GenericClient, set_id: Uuid) -> DbResult<Vec<(Uuid, String)>> {
    const SQL: &str = "select id, code_hash from auth.mfa_recovery_codes \
                       where mfa_recovery_code_set_id = $1 and consumed_at is null order by created_at";
    let rows = list_rows(db, SQL, &[&set_id]).await?;
    rows.iter()
        .map(|row| Ok((row.try_get("id")?, row.try_get("code_hash")?)))
        .collect()
}

/// Uses a code; false when it was used or replaced before. Of two requests at once, the row lock of the UPDATE lets one succeed.
pub(crate) async fn consume(db: &impl GenericClient, code_id: Uuid, now: DateTime<Utc>) -> DbResult<bool> {
    const SQL: &str = "update auth.mfa_recovery_codes set consumed_at = $2 \
                       where id = $1 and consumed_at is null returning id";
    Ok(find_row(db, SQL, &[&code_id, &now]).await?.is_some())
}
