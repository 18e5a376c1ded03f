//! Tenants: each is a schema that the same migrations fill.
//!
//! For each tenant each file runs in its own transaction, which also records the file in the history. After an interruption the
//! next run therefore continues with the first file that is not recorded.

use tokio_postgres::Client;

use super::{
    error::MigrateError,
    files::pending_migrations,
    internal_lock::{TenantsRun, claim_tenants},
    migration_file::{Migration, read_file},
    project::{LOCK_TIMEOUT, run_file},
    run::Script,
    statement_plan::{StatementPlan, plan_statements},
};
use crate::{quote_identifier, quote_literal};

/// Creates the tables with the tenants and with the migrations applied to each.
const HISTORY: &str = "
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.tenants (
      schema text not null primary key,
      created_at timestamptz not null default now()
    );
    create table if not exists supabase_migrations.tenant_migrations (
      schema text not null references supabase_migrations.tenants on delete cascade,
      version text not null,
      name text not null,
      applied_at timestamptz not null default now(),
      primary key (schema, version)
    );";

/// The schemas after the tenant's own in the search path of its migrations.
const COMMON_SCHEMAS: &str = "public, extensions";

/// A tenant and the migrations applied to its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// The name of the schema.
    pub schema: String,
    /// Versions of the applied migrations.
    pub applied: Vec<String>,
}

/// The tenants' migrations, parsed once for all tenants.
pub struct TenantMigrations<'a> {
    files: Vec<(&'a Migration, Script<'a>)>,
    local: &'a [Migration],
    plan: StatementPlan,
}

impl<'a> TenantMigrations<'a> {
    /// Parses the files. `texts` has the contents of `local`, in the same order; `warn` receives warnings about them.
    ///
    /// # Errors
    /// When a file cannot be split into statements, or needs an extension that the server does not have.
    pub async fn parse(
        client: &Client,
        local: &'a [Migration],
        texts: &'a [String],
        mut warn: impl FnMut(String),
    ) -> Result<Self, MigrateError> {
        let scripts = local
            .iter()
            .zip(texts)
            .map(|(migration, text)| Script::parse(&migration.path, text))
            .collect::<Result<Vec<_>, _>>()?;
        let plan = plan_statements(client, &scripts, &mut warn).await?;
        let files = local.iter().zip(scripts).collect();
        Ok(Self { files, local, plan })
    }

    /// Runs the pending migrations in the schema of `tenant`, and returns their number.
    ///
    /// # Errors
    /// See [`MigrateError`]; the files before the failed one stay applied.
    pub async fn apply_to(&self, client: &Client, tenant: &Tenant) -> Result<usize, MigrateError> {
        let pending = pending_migrations(self.local, &tenant.applied)?;
        let search_path = format!("{}, {COMMON_SCHEMAS}", quote_identifier(&tenant.schema));
        for (migration, script) in &self.files {
            if !pending.contains(migration) {
                continue;
            }
            let record = async {
                let sql = "insert into supabase_migrations.tenant_migrations (schema, version, name) \
                           values ($1, $2, $3)";
                client
                    .execute(sql, &[&tenant.schema, &migration.version, &migration.name])
                    .await?;
                Ok(())
            };
            let settings = [
                ("lock_timeout", LOCK_TIMEOUT.as_millis().to_string()),
                ("search_path", search_path.clone()),
            ];
            run_file(client, script, &self.plan, &settings, record).await?;
        }
        Ok(pending.len())
    }
}

/// Reads the files of migrations, in their order.
///
/// # Errors
/// When a file cannot be read.
pub fn read_migrations(local: &[Migration]) -> Result<Vec<String>, MigrateError> {
    local.iter().map(|migration| read_file(&migration.path)).collect()
}

/// Waits until no other session changes tenants, and creates their tables if they are missing. Others wait until `client` is closed.
/// `on_wait` runs once with the other one, if there is one.
///
/// # Errors
/// When another one goes on for ten minutes, the database lacks the platform schema of this version, or a statement fails.
pub async fn lock_tenants(client: &Client, on_wait: impl FnOnce(&TenantsRun)) -> Result<(), MigrateError> {
    claim_tenants(client, on_wait).await?;
    if !has_history(client).await? {
        client.batch_execute(HISTORY).await?;
    }
    Ok(())
}

/// Whether the tables of tenants are there. If so nothing is sent that fires an event trigger of the project: one that refuses every
/// statement would keep tenants from being dropped.
async fn has_history(client: &Client) -> Result<bool, MigrateError> {
    let query = "select to_regclass('supabase_migrations.tenants') is not null
        and to_regclass('supabase_migrations.tenant_migrations') is not null";
    Ok(client.query_one(query, &[]).await?.try_get(0)?)
}

/// Creates a tenant's schema if it does not exist, and grants the API's roles the default privileges that they have in `public`.
/// With Citus it is a distributed schema, whose tables are all on one node.
///
/// # Errors
/// PostgreSQL's error when a statement fails; nothing is changed then.
pub async fn create_tenant(client: &mut Client, schema: &str) -> Result<(), MigrateError> {
    let name = quote_identifier(schema);
    let transaction = client.transaction().await?;
    let has_citus = "select 1 from pg_catalog.pg_extension where extname = 'citus'";
    if !transaction.query_typed(has_citus, &[]).await?.is_empty() {
        // Only affects schemas that are created afterwards.
        transaction
            .batch_execute("set local citus.enable_schema_based_sharding = on")
            .await?;
    }
    let mut sql = format!("create schema if not exists {name};");
    sql += &format!("grant usage on schema {name} to anon, authenticated, service_role;");
    for objects in ["tables", "sequences", "functions"] {
        sql += &format!(
            "alter default privileges in schema {name} grant all on {objects} to anon, authenticated, service_role;"
        );
    }
    sql += &format!(
        "insert into supabase_migrations.tenants (schema) values ({}) on conflict do nothing;",
        quote_literal(schema)
    );
    // CREATE SCHEMA takes no parameters, so the name is quoted into the text.
    transaction.batch_execute(&sql).await?;
    Ok(transaction.commit().await?)
}

/// Lists the tenants by name, with their applied migrations. Returns none before the first [`lock_tenants`], which creates the
/// tables.
///
/// # Errors
/// When a query fails.
pub async fn list_tenants(client: &Client) -> Result<Vec<Tenant>, MigrateError> {
    if !has_history(client).await? {
        return Ok(Vec::new());
    }
    let sql = "select t.schema, coalesce(array_agg(m.version order by m.version) filter (where m.version is not null), '{}')
        from supabase_migrations.tenants t
        left join supabase_migrations.tenant_migrations m on m.schema = t.schema
        group by t.schema order by t.schema";
    let rows = client.query_typed(sql, &[]).await?;
    let read = |row: &tokio_postgres::Row| Tenant {
        schema: row.get(0),
        applied: row.get(1),
    };
    Ok(rows.iter().map(read).collect())
}

/// Drops a tenant's schema with everything in it, and deletes its entries in the tables of tenants.
///
/// # Errors
/// PostgreSQL's error when a statement fails; nothing is changed then.
pub async fn drop_tenant(client: &mut Client, schema: &str) -> Result<(), MigrateError> {
    let transaction = client.transaction().await?;
    let sql = format!("drop schema if exists {} cascade", quote_identifier(schema));
    transaction.batch_execute(&sql).await?;
    transaction
        .execute(
            "delete from supabase_migrations.tenants where schema = $1",
            &[&schema],
        )
        .await?;
    Ok(transaction.commit().await?)
}
