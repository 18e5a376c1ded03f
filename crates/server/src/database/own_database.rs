//! Opens the project's database where its owner, `postgres`, has closed it. Nobody else could: no session is let in.

use anyhow::{Context, Result};
use selvedge_postgres::cluster::DATABASE;
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession, quote_identifier};
use tokio_postgres::error::SqlState;

use crate::output;

/// A database that is there in every cluster, and that `postgres` does not own.
const OTHER_DATABASE: &str = "template1";

/// With fewer connections the services do not work. Superusers are not counted.
const FEWEST_CONNECTIONS: i32 = 10;

const LOGIN_FAILED: &str = "cannot log in to the project's database";

const CONNECTION_LIMIT: &str = "select d.datconnlimit from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.=) pg_catalog.current_database()";

/// Connects to the project's own database as the superuser, and takes back what would keep everybody out of it.
///
/// # Errors
/// When the login fails.
pub(super) async fn connect_to_own_database(login: &PrivilegedLogin) -> Result<PrivilegedSession> {
    let database = quote_identifier(DATABASE);
    let outcome = match login.connect().await {
        Err(error) if error.code() == Some(&SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE) => {
            let other = login.to_database(OTHER_DATABASE);
            let other = other.connect().await.context(LOGIN_FAILED)?;
            let open = format!("alter database {database} with allow_connections true");
            other
                .batch_execute(&open)
                .await
                .context("cannot open the database")?;
            output::print_warnings(&[format!(
                "the database let nobody log in (alter database {database} allow_connections false): it was opened"
            )]);
            login.connect().await
        }
        outcome => outcome,
    };
    let superuser = outcome.context(LOGIN_FAILED)?;
    let limit: i32 = superuser.query_one(CONNECTION_LIMIT, &[]).await?.get(0);
    if (0..FEWEST_CONNECTIONS).contains(&limit) {
        let unlimited = format!("alter database {database} with connection limit -1");
        superuser.batch_execute(&unlimited).await?;
        output::print_warnings(&[format!(
            "the database let {limit} connections in, with which the services cannot work: its limit was taken away"
        )]);
    }
    Ok(superuser)
}
