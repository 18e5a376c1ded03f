//! An import whose objects are not all copied yet (`commands/import`).

use anyhow::Result;
use tokio_postgres::Client;

/// Whether [`LAST`] can be asked.
const HAS_RECORDS: &str =
    "select pg_catalog.to_regclass('_selvedge.unfinished_import'::pg_catalog.text) is not null";

/// Source and transaction of the import that was committed last. Rows of versions that wrote them in the import's own transaction name none.
const LAST: &str = "
    select i.source, t.xid::pg_catalog.text
    from _selvedge.unfinished_import as i
    cross join lateral (
      select (pg_catalog.to_jsonb(i) operator(pg_catalog.->>) 'xid'::pg_catalog.text)::pg_catalog.xid8 as xid
    ) as t
    where t.xid is null or coalesce(pg_catalog.pg_xact_status(t.xid), 'committed') operator(pg_catalog.=) 'committed'::pg_catalog.text
    order by t.xid desc nulls last limit 1";

/// An import that was interrupted after the database was copied, but before all objects were.
pub struct UnfinishedImport {
    /// The identity of its source, see [`super::identity::find_identity`].
    pub source: String,
    /// The number of the transaction that has written the database.
    pub transaction: Option<String>,
}

/// Returns the unfinished import into this database; `None` without one.
pub async fn find(superuser: &Client) -> Result<Option<UnfinishedImport>> {
    if !superuser.query_one(HAS_RECORDS, &[]).await?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = superuser.query_opt(LAST, &[]).await?;
    Ok(row.map(|row| UnfinishedImport {
        source: row.get(0),
        transaction: row.get(1),
    }))
}
