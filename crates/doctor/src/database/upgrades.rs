//! What upgrades ask for: indexes whose order the system's libraries have changed, and a major version that gets no more fixes.

use chrono::{NaiveDate, Utc};
use tokio_postgres::{Client, Error};

use crate::finding::Finding;

/// Databases and collations of which indexes were sorted by another version of the libraries than the one that is there now.
const CHANGED: &str = "
    select pg_catalog.concat('database ', d.datname)
    from pg_catalog.pg_database as d
    where d.datname operator(pg_catalog.=) pg_catalog.current_database()
      and d.datcollversion operator(pg_catalog.<>) pg_catalog.pg_database_collation_actual_version(d.oid)
    union all
    select pg_catalog.concat('collation ', c.oid::pg_catalog.regcollation)
    from pg_catalog.pg_collation as c
    where c.collversion operator(pg_catalog.<>) pg_catalog.pg_collation_actual_version(c.oid)
      and exists (select from pg_catalog.pg_index as i
        where c.oid operator(pg_catalog.=) any (i.indcollation::pg_catalog.oid[]))
    order by 1";

/// The last fix of each major version (postgresql.org/support/versioning).
const ENDS: [(i32, (i32, u32, u32)); 4] = [
    (15, (2027, 11, 11)),
    (16, (2028, 11, 9)),
    (17, (2029, 11, 8)),
    (18, (2030, 11, 14)),
];
/// How long before its end a version is named.
const NOTICE_DAYS: i64 = 180;

/// Examines the order of indexes and the support of the major version.
pub(crate) async fn examine_upgrades(client: &Client) -> Vec<Finding> {
    let found = async {
        let major: i32 = client
            .query_one(
                "select pg_catalog.current_setting('server_version_num')::pg_catalog.int4 / 10000",
                &[],
            )
            .await?
            .try_get(0)?;
        let collations = check_collations(client).await?;
        let support = check_support(major, Utc::now().date_naive());
        Ok::<_, Error>(Vec::from_iter(support.into_iter().chain([collations])))
    };
    found
        .await
        .unwrap_or_else(|error| vec![Finding::unknown("collations", &error)])
}

async fn check_collations(client: &Client) -> Result<Finding, Error> {
    let rows = client.query(CHANGED, &[]).await?;
    let changed = rows.iter().map(|row| row.try_get(0));
    let changed: Vec<String> = changed.collect::<Result<_, _>>()?;
    Ok(match changed.is_empty() {
        true => Finding::ok(
            "collations",
            "the order of texts is that by which indexes were made",
        ),
        false => Finding::error(
            "collations",
            format!(
                "an upgrade of the system has changed the order of texts, so that indexes do not find all rows: {}",
                changed.join(", ")
            ),
            "at a quiet moment: `reindex database …`, then `alter database … refresh collation version` (or `alter collation …`)",
        ),
    })
}

/// Names a major version that gets no fixes any more, or soon will not.
fn check_support(major: i32, today: NaiveDate) -> Option<Finding> {
    let (_, (year, month, day)) = ENDS.iter().find(|(known, _)| *known == major)?;
    let end = NaiveDate::from_ymd_opt(*year, *month, *day)?;
    let left = (end - today).num_days();
    let message = match left {
        ..0 => format!("PostgreSQL {major} gets no more fixes since {end}"),
        0..NOTICE_DAYS => format!("PostgreSQL {major} gets fixes until {end}"),
        _ => return None,
    };
    Some(Finding::warning(
        "support",
        message,
        "plan the move to a newer major version (docs/operations.md)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_015_a_version_is_named_before_its_last_fix() {
        let check = |major, year, month, day| {
            let today = NaiveDate::from_ymd_opt(year, month, day).unwrap();
            check_support(major, today).map(|finding| finding.message)
        };

        assert_eq!(check(15, 2027, 1, 1), None);
        assert!(check(15, 2027, 6, 1).unwrap().contains("until 2027-11-11"));
        assert!(check(15, 2027, 12, 1).unwrap().contains("no more fixes"));
        assert_eq!(check(99, 2027, 12, 1), None);
    }
}
