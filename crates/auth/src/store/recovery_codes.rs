//! `auth.mfa_recovery_code_sets` and `auth.mfa_recovery_codes`: single-use codes that stand in for other second factors. Source:
//! AUTH-200 to AUTH-208.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::{GenericClient, Transaction};
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

/// Deletes a factor whose set is missing, as a copy of the database by older versions may have it.
pub(crate) async fn delete_factor_without_set(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    const SQL: &str = "delete from auth.mfa_factors f where user_id = $1 and factor_type::text = 'recovery_code' \
                       and not exists (select from auth.mfa_recovery_code_sets s where s.mfa_factor_id = f.id)";
    run_statement(db, SQL, &[&user_id]).await
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

/// How often codes may be wrong, and what follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptLimits {
    /// Wrong codes of one network that lock the set for it.
    pub(crate) of_network: i32,
    /// How long it is locked, and how long wrong codes count.
    pub(crate) lockout: TimeDelta,
}

/// How often all networks together may try a set within a lockout. No number of guesses finds a code of 65 bits; this one bounds what
/// they cost.
const MAX_ATTEMPTS_OF_ALL: i64 = 1_000;

/// An attempt that was counted.
#[derive(Debug, Clone)]
pub(crate) struct CountedAttempt {
    pub(crate) set_id: Uuid,
    pub(crate) factor_id: Uuid,
    network: String,
    locked_until: Option<DateTime<Utc>>,
}

/// Whether a code may be verified now.
#[derive(Debug, Clone)]
pub(crate) enum RecoveryAttempt {
    Counted(CountedAttempt),
    /// The network, or all together, have tried too often.
    Locked,
    /// The user has no recovery codes.
    NoCodes,
}

/// What a network has tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tried {
    wrong: i32,
    last_at: DateTime<Utc>,
    locked_until: Option<DateTime<Utc>>,
}

impl Tried {
    /// The attempt that follows at `now`; `None` while the network is locked out. `lock_of_set` is the end of the latest lock of any
    /// network: whoever shortens it in the row of the set, ends all locks beyond it.
    fn next(
        before: Option<Self>,
        lock_of_set: Option<DateTime<Utc>>,
        limits: AttemptLimits,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let lock = before.and_then(|before| before.locked_until);
        if lock.is_some_and(|lock| lock > now && lock_of_set.is_some_and(|of_set| of_set >= lock)) {
            return None;
        }
        // A lock that is over, and wrong codes of long ago, begin the count anew.
        let counting = before.filter(|before| lock.is_none() && before.last_at + limits.lockout > now);
        let wrong = counting.map_or(0, |before| before.wrong) + 1;
        Some(Self {
            wrong,
            last_at: now,
            locked_until: (wrong >= limits.of_network).then(|| now + limits.lockout),
        })
    }
}

/// Counts an attempt of a network at a user's codes. The row of the set is locked until the transaction ends, so that of many at once
/// each counts. What one network tries does not lock out another: whoever knows only the password must not close the owner's last way
/// in. The columns of the set, which are the original's, show the attempts of the network that tried last, and the latest lock.
pub(crate) async fn take_attempt(
    db: &Transaction<'_>,
    (user_id, network): (Uuid, &str),
    limits: AttemptLimits,
    now: DateTime<Utc>,
) -> DbResult<RecoveryAttempt> {
    const SET: &str = "select id, mfa_factor_id, verification_locked_until from auth.mfa_recovery_code_sets \
                       where user_id = $1 for update";
    let Some(set) = find_row(db, SET, &[&user_id]).await? else {
        return Ok(RecoveryAttempt::NoCodes);
    };
    let set_id: Uuid = set.try_get("id")?;
    let lock_of_set: Option<DateTime<Utc>> = set.try_get("verification_locked_until")?;
    let since = now - limits.lockout;
    let (before, of_all) = find_attempts(db, (set_id, network), since).await?;
    let next = Tried::next(before, lock_of_set, limits, now);
    let Some(next) = next.filter(|_| of_all < MAX_ATTEMPTS_OF_ALL) else {
        return Ok(RecoveryAttempt::Locked);
    };
    store_attempts(db, (set_id, network), next, since).await?;
    Ok(RecoveryAttempt::Counted(CountedAttempt {
        set_id,
        factor_id: set.try_get("mfa_factor_id")?,
        network: network.to_owned(),
        locked_until: next.locked_until,
    }))
}

/// Reads the attempts of one network, and the number of attempts of all networks after `since`.
async fn find_attempts(
    db: &Transaction<'_>,
    (set_id, network): (Uuid, &str),
    since: DateTime<Utc>,
) -> DbResult<(Option<Tried>, i64)> {
    const OWN: &str = "select failed_count, tried_at, locked_until from _selvedge.selvedge_recovery_code_attempts \
                       where set_id = $1 and network_hash = $2";
    let own = find_row(db, OWN, &[&set_id, &network]).await?;
    let own = own.map(|row| {
        Ok::<_, tokio_postgres::Error>(Tried {
            wrong: row.try_get("failed_count")?,
            last_at: row.try_get("tried_at")?,
            locked_until: row.try_get("locked_until")?,
        })
    });
    const ALL: &str = "select coalesce(sum(failed_count), 0)::bigint from _selvedge.selvedge_recovery_code_attempts \
                       where set_id = $1 and tried_at > $2";
    let all = find_row(db, ALL, &[&set_id, &since]).await?;
    let all = all.map_or(Ok(0), |row| row.try_get(0))?;
    Ok((own.transpose()?, all))
}

/// Stores the attempts of one network, and deletes those of other networks from before `since`, whose locks have ended.
async fn store_attempts(
    db: &Transaction<'_>,
    (set_id, network): (Uuid, &str),
    tried: Tried,
    since: DateTime<Utc>,
) -> DbResult<()> {
    let Tried {
        wrong,
        last_at,
        locked_until,
    } = tried;
    const STALE: &str = "delete from _selvedge.selvedge_recovery_code_attempts \
                         where set_id = $1 and network_hash <> $2 and tried_at < $3";
    run_statement(db, STALE, &[&set_id, &network, &since]).await?;
    const OWN: &str = "insert into _selvedge.selvedge_recovery_code_attempts (set_id, network_hash, failed_count, tried_at, locked_until) \
                       values ($1, $2, $3, $4, $5) on conflict (set_id, network_hash) do update set \
                       failed_count = excluded.failed_count, tried_at = excluded.tried_at, locked_until = excluded.locked_until";
    run_statement(db, OWN, &[&set_id, &network, &wrong, &last_at, &locked_until]).await?;
    const SET: &str = "update auth.mfa_recovery_code_sets set failed_verification_count = $2, updated_at = $3, \
                       verification_locked_until = greatest($4::timestamptz, \
                       case when verification_locked_until > $3 then verification_locked_until end) where id = $1";
    run_statement(db, SET, &[&set_id, &wrong, &last_at, &locked_until]).await
}

/// Takes back a counted attempt whose code was not compared, such as one for which no hash could be computed, so that it locks nobody out.
pub(crate) async fn return_attempt(
    db: &impl GenericClient,
    attempt: &CountedAttempt,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/return_recovery_attempt.sql");
    let CountedAttempt {
        set_id,
        network,
        locked_until,
        ..
    } = attempt;
    run_statement(db, SQL, &[set_id, network, locked_until, &now]).await
}

/// Forgets failed verifications of all networks, and with them locks.
pub(crate) async fn forget_failures(
    db: &impl GenericClient,
    set_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const TRIED: &str = "delete from _selvedge.selvedge_recovery_code_attempts where set_id = $1";
    run_statement(db, TRIED, &[&set_id]).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AttemptLimits = AttemptLimits {
        of_network: 3,
        lockout: TimeDelta::minutes(15),
    };

    #[test]
    fn auth_203_wrong_codes_lock_their_network_and_are_forgotten_after_the_lockout() {
        let now = DateTime::UNIX_EPOCH;
        let after = |before, minutes| {
            Tried::next(
                before,
                Some(DateTime::<Utc>::MAX_UTC),
                LIMITS,
                now + TimeDelta::minutes(minutes),
            )
        };

        let second = after(after(None, 0), 1);
        assert_eq!(
            second.map(|tried| (tried.wrong, tried.locked_until)),
            Some((2, None))
        );
        let third = after(second, 2);
        assert_eq!(
            third.and_then(|tried| tried.locked_until),
            Some(now + TimeDelta::minutes(17))
        );
        assert_eq!(after(third, 16), None);
        assert_eq!(after(third, 17).map(|tried| tried.wrong), Some(1));
        assert_eq!(after(second, 16).map(|tried| tried.wrong), Some(1));
    }

    #[test]
    fn auth_203_whoever_shortens_the_lock_of_a_set_ends_those_of_networks() {
        let now = DateTime::UNIX_EPOCH;
        let locked = Some(Tried {
            wrong: 3,
            last_at: now,
            locked_until: Some(now + LIMITS.lockout),
        });

        assert_eq!(Tried::next(locked, Some(now + LIMITS.lockout), LIMITS, now), None);
        for shortened in [None, Some(now), Some(now + TimeDelta::minutes(14))] {
            let next = Tried::next(locked, shortened, LIMITS, now);
            assert_eq!(next.map(|tried| tried.wrong), Some(1), "{shortened:?}");
        }
    }
}
