//! An import whose objects are not all copied yet (`commands/import`).

use anyhow::Result;
use tokio_postgres::Client;

/// Whether [`LAST`] can be asked.
const HAS_RECORDS: &str =
    "select pg_catalog.to_regclass('_selvedge.unfinished_import'::pg_catalog.text) is not null";

/// Source and beginning of the import whose transaction was committed last. Rows of versions that wrote them in the import's own transaction
/// name no transaction, and those of earlier ones no beginning.
const LAST: &str = "
    select i.source, pg_catalog.to_jsonb(i) operator(pg_catalog.->>) 'begun_at'::pg_catalog.text
    from _selvedge.unfinished_import as i
    cross join lateral (
      select (pg_catalog.to_jsonb(i) operator(pg_catalog.->>) 'xid'::pg_catalog.text)::pg_catalog.xid8 as xid
    ) as t
    where t.xid is null or coalesce(pg_catalog.pg_xact_status(t.xid), 'committed') operator(pg_catalog.=) 'committed'::pg_catalog.text
    order by t.xid desc nulls last limit 1";

/// Returns the identity of the source of an import that was interrupted after the database was copied, but before all objects were;
/// `None` without such an import.
pub(crate) async fn find_source(superuser: &Client) -> Result<Option<String>> {
    Ok(find_last(superuser).await?.map(|(source, _)| source))
}

/// Returns when that import began, as SQL text. What people have stored since is not the import's. Where nobody knows, everything counts as
/// stored since.
pub(crate) async fn find_beginning(superuser: &Client) -> Result<String> {
    let last = find_last(superuser).await?;
    let beginning = last.and_then(|(_, beginning)| beginning);
    Ok(beginning.unwrap_or_else(|| "-infinity".to_owned()))
}

async fn find_last(superuser: &Client) -> Result<Option<(String, Option<String>)>> {
    if !superuser.query_one(HAS_RECORDS, &[]).await?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = superuser.query_opt(LAST, &[]).await?;
    Ok(row.map(|row| (row.get(0), row.get(1))))
}
