//! The connection to the imported database, and the snapshot under which everything is read.

use anyhow::{Context, Result, bail};
use selvedge_database::identity::find_identity;
use selvedge_terminal::print_warnings;
use tokio_postgres::{Client, Config as Login};

use super::catalog::{list_project_schemas, platform_schemas};

/// Lists versions that no migration's file can have.
const STRANGE_VERSIONS: &str =
    "select version from supabase_migrations.schema_migrations where version !~ '^[0-9]{1,100}$' limit 1";

/// A connection with an open read-only transaction, in which every query sees the same snapshot.
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) login: Login,
    /// The database's identity, see [`find_identity`].
    pub(crate) identity: String,
    /// The exported snapshot, which pg_dump uses, too.
    pub(crate) snapshot: String,
    /// The project's schemas, `public` among them.
    pub(crate) schemas: Vec<String>,
}

impl Source {
    /// Connects and begins the transaction.
    pub(crate) async fn open(login: &Login) -> Result<Self> {
        let client = connect(login).await?;
        let is_superuser: String = client.query_one("show is_superuser", &[]).await?.get(0);
        if is_superuser == "on" {
            print_warnings(&[
                "the login at the source is a superuser's: code of the source's project, such as the predicate of an index, has its \
                 rights while rows are read. Use postgres where it may read them"
                    .to_owned(),
            ]);
        }
        let identity = find_identity(&client).await?;
        client
            .batch_execute("begin isolation level repeatable read read only; set local row_security = off")
            .await?;
        let snapshot = client.query_one("select pg_export_snapshot()", &[]).await?.get(0);
        let schemas = keep_project_schemas(list_project_schemas(&client).await?);
        Ok(Self {
            client,
            login: login.clone(),
            identity,
            snapshot,
            schemas,
        })
    }

    /// Refuses a history of migrations whose versions cannot begin the name of a file, before anything is imported.
    ///
    /// # Errors
    /// When there is such a version; the message names it.
    pub(crate) async fn check_history(&self) -> Result<()> {
        let rows = self.try_query(STRANGE_VERSIONS).await?.unwrap_or_default();
        match rows.first() {
            None => Ok(()),
            Some(row) => bail!(
                "the source's history of migrations has the version {:?}, which is not a number. Nothing was changed; remove it \
                 there with `selvedge migration repair --status reverted`",
                row.get::<_, String>(0)
            ),
        }
    }

    /// Runs a query, and returns `None` when PostgreSQL refuses it, for example because a table is missing. The transaction stays
    /// usable.
    pub(crate) async fn try_query(&self, sql: &str) -> Result<Option<Vec<tokio_postgres::Row>>> {
        self.client.batch_execute("savepoint attempt").await?;
        match self.client.query(sql, &[]).await {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if error.as_db_error().is_some() => {
                tracing::debug!(%error, "the source refused a query");
                self.client.batch_execute("rollback to savepoint attempt").await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Leaves out schemas of the platform and of PostgreSQL. The query does so, too, but a hostile source answers what it likes.
fn keep_project_schemas(mut schemas: Vec<String>) -> Vec<String> {
    let of_platform = platform_schemas();
    schemas.retain(|schema| !of_platform.contains(&schema.as_str()) && !schema.starts_with("pg_"));
    schemas
}

/// Connects to the source. Time limits are disabled, and the empty search path makes PostgreSQL qualify every name in definitions. Rows are
/// written as pg_dump writes them, whatever the database or the role says of dates and numbers.
pub(crate) async fn connect(login: &Login) -> Result<Client> {
    let client = selvedge_postgres::connect(login)
        .await
        .context("cannot log in to the source's database")?;
    client
        .batch_execute(
            "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set search_path = '';
             set datestyle = iso; set intervalstyle = postgres; set extra_float_digits = 3; set bytea_output = hex",
        )
        .await?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_cannot_name_a_schema_of_the_platform_its_own() {
        let named = [
            "public",
            "auth",
            "_selvedge",
            "pg_catalog",
            "shop",
            "supabase_migrations",
            "vault",
        ];

        let kept = keep_project_schemas(named.map(str::to_owned).to_vec());

        // The history of migrations is the project's.
        assert_eq!(kept, ["public", "shop", "supabase_migrations"]);
    }
}
