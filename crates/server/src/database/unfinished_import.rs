//! An import whose objects are not all copied yet (`commands/import`).

use anyhow::Result;
use tokio_postgres::Client;

/// Whether [`SOURCE`] can be asked.
const HAS_RECORDS: &str =
    "select pg_catalog.to_regclass('_selvedge.unfinished_import'::pg_catalog.text) is not null";

/// The source of the import whose transaction was committed last. Rows of versions that wrote them in the import's own transaction name
/// no transaction.
const SOURCE: &str = "
    select i.source
    from _selvedge.unfinished_import as i
    cross join lateral (
      select (pg_catalog.to_jsonb(i) operator(pg_catalog.->>) 'xid'::pg_catalog.text)::pg_catalog.xid8 as xid
    ) as t
    where t.xid is null or coalesce(pg_catalog.pg_xact_status(t.xid), 'committed') operator(pg_catalog.=) 'committed'::pg_catalog.text
    order by t.xid desc nulls last limit 1";

/// Returns the identity of the source of an import that was interrupted after the database was copied, but before all objects were;
/// `None` without such an import.
pub(crate) async fn find_source(superuser: &Client) -> Result<Option<String>> {
    if !superuser.query_one(HAS_RECORDS, &[]).await?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = superuser.query_opt(SOURCE, &[]).await?;
    Ok(row.map(|row| row.get(0)))
}
