//! Opens the project's database where its owner, `postgres`, has closed or renamed it. Nobody else could: no session is let in.

use anyhow::{Context, Result, bail, ensure};
use selvedge_postgres::cluster::DATABASE;
use selvedge_postgres::{
    DATABASE_NUMBER, DROPPED_DATABASE, PrivilegedLogin, PrivilegedSession, REPLACED_DATABASE,
    quote_identifier,
};
use selvedge_terminal::print_warnings;
use tokio_postgres::error::SqlState;

/// A database that is there in every cluster, and that `postgres` does not own. It lets logins in as long as no superuser closes it.
const OTHER_DATABASE: &str = "template1";

/// With fewer connections the services do not work. Superusers are not counted.
const FEWEST_CONNECTIONS: i32 = 10;

const LOGIN_FAILED: &str = "cannot log in to the project's database";

const CONNECTION_LIMIT: &str = "select d.datconnlimit from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.=) pg_catalog.current_database()";

const FIND_NAME: &str =
    "select d.datname from pg_catalog.pg_database as d where d.oid operator(pg_catalog.=) $1";

/// By UPDATE, which waits for no session in the databases.
const GIVE_NAME_AWAY: &str = "update pg_catalog.pg_database
     set datname = ('replaced_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where datname operator(pg_catalog.=) $1 and oid operator(pg_catalog.<>) $2 returning datname::pg_catalog.text";
const TAKE_NAME_BACK: &str =
    "update pg_catalog.pg_database set datname = $1 where oid operator(pg_catalog.=) $2";

const DROPPED: &str = "the project's database was dropped from another database of its server, and its data with it. Nothing was made in its place\n  \
     with a backup:  selvedge restore FILE\n  in development, without its data:  selvedge reset";

const TAKEN_AGAIN: &str =
    "another database takes the name of the project's again and again: end the sessions of `postgres`";

/// What one try repairs may be what kept the next fault from being seen.
const TRIES: usize = 4;

/// Connects to the project's own database as the superuser, and takes back what would keep everybody out of it.
///
/// # Errors
/// When the login fails, or the database was dropped.
pub async fn connect_to_own_database(login: &PrivilegedLogin) -> Result<PrivilegedSession> {
    let database = quote_identifier(DATABASE);
    let superuser = find_own_database(login).await?;
    let limit: i32 = superuser.query_one(CONNECTION_LIMIT, &[]).await?.get(0);
    if (0..FEWEST_CONNECTIONS).contains(&limit) {
        let unlimited = format!("alter database {database} with connection limit -1");
        superuser.batch_execute(&unlimited).await?;
        print_warnings(&[format!(
            "the database let {limit} connections in, with which the services cannot work: its limit was taken away"
        )]);
    }
    Ok(superuser)
}

/// Connects to the database of the project by its number, after the steps that it needs to be there by its name.
async fn find_own_database(login: &PrivilegedLogin) -> Result<PrivilegedSession> {
    let mut tries = 0;
    loop {
        tries += 1;
        let error = match login.connect().await {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        let code = error.code().map(SqlState::code);
        if code == Some(DROPPED_DATABASE) {
            bail!(DROPPED);
        }
        let has_no_own_name =
            code == Some(REPLACED_DATABASE) || error.code() == Some(&SqlState::UNDEFINED_DATABASE);
        if tries < TRIES && has_no_own_name {
            ensure!(take_name_back(login).await?, DROPPED);
        } else if tries < TRIES && error.code() == Some(&SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE) {
            open_database(login).await?;
        } else if has_no_own_name {
            bail!(TAKEN_AGAIN);
        } else {
            return Err(error).context(LOGIN_FAILED);
        }
    }
}

async fn connect_to_other(login: &PrivilegedLogin) -> Result<PrivilegedSession> {
    let other = login.to_database(OTHER_DATABASE);
    other.connect().await.context(LOGIN_FAILED)
}

async fn open_database(login: &PrivilegedLogin) -> Result<()> {
    let database = quote_identifier(DATABASE);
    let open = format!("alter database {database} with allow_connections true");
    let other = connect_to_other(login).await?;
    other
        .batch_execute(&open)
        .await
        .context("cannot open the database")?;
    print_warnings(&[format!(
        "the database let nobody log in (alter database {database} allow_connections false): it was opened"
    )]);
    Ok(())
}

/// Gives the project's database its name again. A database that has the name meanwhile gets another one. Returns whether the project's is there.
async fn take_name_back(login: &PrivilegedLogin) -> Result<bool> {
    let other = connect_to_other(login).await?;
    other.batch_execute("begin").await?;
    let Some(found) = other.query_opt(FIND_NAME, &[&DATABASE_NUMBER]).await? else {
        return Ok(false);
    };
    let replaced = other
        .query_opt(GIVE_NAME_AWAY, &[&DATABASE, &DATABASE_NUMBER])
        .await?;
    other
        .execute(TAKE_NAME_BACK, &[&DATABASE, &DATABASE_NUMBER])
        .await?;
    other.batch_execute("commit").await?;
    // A name may have been given in another encoding.
    let found = found
        .try_get::<_, String>(0)
        .unwrap_or_else(|_| "not UTF-8".to_owned());
    let mut warning = format!(
        "the project's database had another name ({}): it is called {DATABASE} again",
        found.escape_debug()
    );
    if let Some(row) = replaced {
        let name: String = row.get(0);
        warning += &format!(", and the database that was in its place {name}");
    }
    print_warnings(&[warning]);
    Ok(true)
}
