//! Lines of `pg_hba.conf` that let anybody on the database's machine log in without a password.
//!
//! SQL of a project can open connections from the database to itself (dblink, postgres_fdw, subscriptions). Where such a connection
//! needs no password, it can be one of a superuser.

use anyhow::Result;
use tokio_postgres::Client;

/// Only a superuser may read the view. Its lines without a method are those with an error.
const OPEN_LINES: &str = "
    select pg_catalog.concat_ws(' ', h.type, pg_catalog.array_to_string(h.database, ','),
      pg_catalog.array_to_string(h.user_name, ','), h.address, h.auth_method)
    from pg_catalog.pg_hba_file_rules as h
    where h.auth_method operator(pg_catalog.=) any (array['trust', 'peer', 'ident']::pg_catalog.text[])
    order by h.line_number";

/// What to do about them.
pub const ADVICE: &str = "let local lines of pg_hba.conf ask for a password (scram-sha-256), then `select pg_reload_conf()`: SQL of \
     a project can connect from the database to itself (dblink, postgres_fdw)";

/// Lists the lines, as in the file.
///
/// # Errors
/// When the query fails, for example for want of rights.
pub async fn list_open_lines(superuser: &Client) -> Result<Vec<String>> {
    let rows = superuser.query(OPEN_LINES, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
