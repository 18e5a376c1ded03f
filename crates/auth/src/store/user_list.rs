//! Pages of the list of users, and their number.
//!
//! Triggers keep the number of users by the day of their creation (platform file 0181), so that neither the number nor a far page reads all users. Where
//! the counts cannot be believed, and where a filter decides who is listed, the users are counted and passed over one by one.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, escape_like_pattern, find_row, list_rows, run_statement};
use crate::user::User;

/// One page of the users of an audience.
pub(crate) struct UserPage<'a> {
    pub(crate) aud: &'a str,
    /// A part of the address or of `full_name`; empty matches all.
    pub(crate) filter: &'a str,
    /// Whether the oldest users come first.
    pub(crate) ascending: bool,
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

/// Where a page begins, by the kept counts.
struct PageStart {
    total: i64,
    /// The first moment (oldest first) or the end (newest first) of the day that the page begins in, if it is known.
    bound: Option<DateTime<Utc>>,
    /// Users of the list that come before that day.
    skipped: i64,
}

/// Lists a page of users, newest first unless [`UserPage::ascending`], and counts those of all pages.
pub(crate) async fn list_page(db: &impl GenericClient, page: &UserPage<'_>) -> DbResult<(Vec<User>, i64)> {
    if page.filter.is_empty()
        && let Some(start) = find_start(db, page).await?
    {
        let ids = list_ids_from(db, page, &start).await?;
        return Ok((read_users(db, &ids).await?, start.total));
    }
    let (ids, total) = futures_util::try_join!(list_matching_ids(db, page), count(db, page))?;
    Ok((read_users(db, &ids).await?, total))
}

/// Whether the kept counts can be believed.
pub(crate) async fn are_counts_kept(db: &impl GenericClient) -> DbResult<bool> {
    const SQL: &str = "select from _selvedge.selvedge_user_counts_state where triggers = _selvedge.describe_user_triggers()";
    Ok(find_row(db, SQL, &[]).await?.is_some())
}

/// Sums the kept counts up, and corrects them by the table; for the clean-up. Returns how often that was done by all nodes.
///
/// It reads all users, so it does nothing where that is another number than `known`: another node has done it since.
pub(crate) async fn correct_counts(db: &impl GenericClient, known: Option<i64>) -> DbResult<Option<i64>> {
    run_statement(db, include_str!("../../sql/enable_user_triggers.sql"), &[]).await?;
    const CORRECTIONS: &str = "select corrections from _selvedge.selvedge_user_counts_state";
    let Some(row) = find_row(db, CORRECTIONS, &[]).await? else {
        return Ok(None);
    };
    let corrections: i64 = row.try_get(0)?;
    if known.is_some_and(|known| known != corrections) && are_counts_kept(db).await? {
        return Ok(Some(corrections));
    }
    run_statement(
        db,
        include_str!("../../sql/correct_user_counts.sql"),
        &[&corrections],
    )
    .await?;
    let row = find_row(db, CORRECTIONS, &[]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// `None` where the kept counts cannot be believed.
async fn find_start(db: &impl GenericClient, page: &UserPage<'_>) -> DbResult<Option<PageStart>> {
    const SQL: &str = include_str!("../../sql/find_user_page.sql");
    let row = find_row(db, SQL, &[&page.aud, &page.offset, &page.ascending]).await?;
    row.map(|row| {
        Ok(PageStart {
            total: row.try_get("total")?,
            bound: row.try_get("bound")?,
            skipped: row.try_get("skipped")?,
        })
    })
    .transpose()
}

/// The ids of a page of all users. The order is that of `users_audience_created_at_id_idx`, read from one end or the other; the id
/// makes pages stable for users created at the same time.
async fn list_ids_from(
    db: &impl GenericClient,
    page: &UserPage<'_>,
    start: &PageStart,
) -> DbResult<Vec<Uuid>> {
    let (condition, order) = match (start.bound.is_some(), page.ascending) {
        (true, true) => ("and u.created_at >= $4", "asc nulls first, u.id asc"),
        (true, false) => ("and u.created_at < $4", "desc nulls last, u.id desc"),
        (false, true) => ("", "asc nulls first, u.id asc"),
        (false, false) => ("", "desc nulls last, u.id desc"),
    };
    let all = include_str!("../../sql/list_all_users.sql");
    let sql = format!("{all} {condition} order by u.created_at {order} limit $2 offset $3");
    let offset = page.offset - start.skipped;
    let rows = match &start.bound {
        Some(bound) => list_rows(db, &sql, &[&page.aud, &page.limit, &offset, bound]).await?,
        None => list_rows(db, &sql, &[&page.aud, &page.limit, &offset]).await?,
    };
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// The ids of a page of the users that match the filter.
async fn list_matching_ids(db: &impl GenericClient, page: &UserPage<'_>) -> DbResult<Vec<Uuid>> {
    const NEWEST_FIRST: &str = concat!(
        include_str!("../../sql/list_users.sql"),
        "order by u.created_at desc nulls last, u.id desc limit $3 offset $4"
    );
    const OLDEST_FIRST: &str = concat!(
        include_str!("../../sql/list_users.sql"),
        "order by u.created_at asc nulls first, u.id asc limit $3 offset $4"
    );
    let sql = if page.ascending {
        OLDEST_FIRST
    } else {
        NEWEST_FIRST
    };
    let filter = escape_like_pattern(page.filter);
    let rows = list_rows(db, sql, &[&page.aud, &filter, &page.limit, &page.offset]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Reads the users of a page. The page is chosen first by ids alone, so that identities and factors are only read for its users.
async fn read_users(db: &impl GenericClient, ids: &[Uuid]) -> DbResult<Vec<User>> {
    const USERS: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where u.id = any($1) order by array_position($1, u.id)"
    );
    list_rows(db, USERS, &[&ids])
        .await?
        .iter()
        .map(User::from_row)
        .collect()
}

/// Counts the users that match the filter.
async fn count(db: &impl GenericClient, page: &UserPage<'_>) -> DbResult<i64> {
    const SQL: &str = include_str!("../../sql/count_users.sql");
    let row = find_row(db, SQL, &[&page.aud, &escape_like_pattern(page.filter)]).await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}
