//! `selvedge tenants`: creates, migrates, lists and drops tenants. Each tenant is a schema that the migrations in
//! `tenant_migrations/` fill.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::consent::{agree_to_empty, agree_to_empty_own};
use selvedge_database::target::{TargetDatabase, run_on_database, run_on_found};
use selvedge_postgres::migrate::{
    DiscoveredMigrations, Tenant, TenantMigrations, TenantsRun, create_tenant, discover_migrations,
    drop_tenant, list_tenants, lock_tenants, read_migrations, release_tenants,
};
use selvedge_terminal::{DIM, GOOD, WARN, print_note};
use tokio_postgres::Client;

use crate::cli::{DropTenantsArgs, TenantsAction};

/// The longest name in bytes that PostgreSQL does not truncate.
const LONGEST_NAME: usize = 63;

/// Runs an action of `selvedge tenants`.
///
/// # Errors
/// When a name is not exposed by a pattern, or a migration fails; tenants migrated before stay migrated.
pub(super) async fn run(config: &Config, action: TenantsAction) -> Result<()> {
    match action {
        TenantsAction::Create(tenants) => {
            let schemas = resolve_schemas(config, &tenants.names)?;
            let create = async |client: &mut Client| {
                for schema in &schemas {
                    create_tenant(client, schema)
                        .await
                        .with_context(|| format!("tenant {schema}"))?;
                }
                migrate_tenants(config, client, &schemas).await
            };
            run_on_database(config, async |client| run_alone(client, create).await).await
        }
        TenantsAction::Migrate(args) => {
            let schemas = resolve_schemas(config, &args.names)?;
            let migrate = async |client: &mut Client| migrate_tenants(config, client, &schemas).await;
            run_on_database(config, async |client| run_alone(client, migrate).await).await
        }
        TenantsAction::List => {
            run_on_database(config, async |client| print_tenants(config, client).await).await
        }
        TenantsAction::Drop(args) => drop_tenants(config, &args).await,
    }
}

/// Runs `work` as the only run that changes tenants of the database.
async fn run_alone<T>(client: &mut Client, work: impl AsyncFnOnce(&mut Client) -> Result<T>) -> Result<T> {
    let say = |other: &TenantsRun| {
        print_note(&format!(
            "waiting for another `selvedge tenants` that works on this database: {other}"
        ));
    };
    lock_tenants(client, say).await?;
    let outcome = work(client).await;
    // If the connection is lost, the session has ended, and has nothing any more.
    release_tenants(client).await.ok();
    outcome
}

/// Returns the folder with the tenants' migrations.
fn migrations_folder(config: &Config) -> PathBuf {
    config.project.folder.join("tenant_migrations")
}

fn find_migrations(config: &Config) -> Result<DiscoveredMigrations> {
    let found = discover_migrations(&migrations_folder(config))?;
    for warning in &found.warnings {
        anstream::eprintln!("{WARN}warning{WARN:#} {warning}");
    }
    Ok(found)
}

/// Resolves tenant names, or all tenants if none are given, to their schemas.
///
/// # Errors
/// When `[api] schemas` has no pattern, or a name is not one that it exposes.
fn resolve_schemas(config: &Config, names: &[String]) -> Result<Vec<String>> {
    let rest = config.rest_settings().0;
    let prefixes = rest.schema_prefixes();
    let Some(first) = prefixes.first() else {
        bail!("there is no pattern for tenants in [api] schemas: add one such as \"tenant_*\"");
    };
    let mut schemas = Vec::with_capacity(names.len());
    for name in names {
        // With the pattern `tenant_*`, `acme` and `tenant_acme` name the same tenant; `tenants list` prints the long form.
        let is_whole = prefixes.iter().any(|prefix| name.starts_with(prefix));
        let schema = if is_whole {
            name.clone()
        } else {
            format!("{first}{name}")
        };
        let is_plain = schema
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if !is_plain || schema.len() > LONGEST_NAME {
            bail!(
                "{name}: the name of a tenant has letters a to z, digits and _, and at most {LONGEST_NAME} with its beginning"
            );
        }
        if !rest.exposes(&schema) || rest.named_schemas().contains(&schema) {
            bail!("{schema}: [api] schemas exposes no tenant of this name");
        }
        schemas.push(schema);
    }
    Ok(schemas)
}

/// Runs pending migrations in these schemas, or in those of all tenants if none are named.
async fn migrate_tenants(config: &Config, client: &Client, schemas: &[String]) -> Result<()> {
    let found = find_migrations(config)?;
    let tenants = choose_tenants(list_tenants(client).await?, schemas)?;
    // Parsed before the first tenant is migrated, so that a malformed file changes nothing.
    let texts = read_migrations(&found.migrations)?;
    let warn = |warning: String| anstream::eprintln!("{WARN}warning{WARN:#} {warning}");
    let migrations = TenantMigrations::parse(client, &found.migrations, &texts, warn).await?;
    let mut changed = 0;
    for (index, tenant) in tenants.iter().enumerate() {
        let applied = migrations.apply_to(client, tenant).await.with_context(|| {
            format!(
                "tenant {}: {} of {} tenants are up to date; run `selvedge tenants migrate` again when the cause is gone",
                tenant.schema,
                index,
                tenants.len()
            )
        })?;
        if applied > 0 {
            changed += 1;
            anstream::println!(
                "{GOOD}migrated{GOOD:#} {} {DIM}({applied} applied, tenant {} of {}){DIM:#}",
                tenant.schema,
                index + 1,
                tenants.len()
            );
        }
    }
    anstream::println!(
        "{GOOD}up to date{GOOD:#} {} tenants, {changed} of them migrated now",
        tenants.len()
    );
    Ok(())
}

/// Returns the tenants with these schemas, or all if none are given.
///
/// # Errors
/// When a schema is not a tenant's.
fn choose_tenants(all: Vec<Tenant>, schemas: &[String]) -> Result<Vec<Tenant>> {
    if schemas.is_empty() {
        return Ok(all);
    }
    if let Some(unknown) = schemas
        .iter()
        .find(|schema| !all.iter().any(|tenant| tenant.schema == **schema))
    {
        bail!("{unknown}: there is no such tenant");
    }
    Ok(all
        .into_iter()
        .filter(|tenant| schemas.contains(&tenant.schema))
        .collect())
}

async fn print_tenants(config: &Config, client: &Client) -> Result<()> {
    let migrations = find_migrations(config)?.migrations;
    let tenants = list_tenants(client).await?;
    if tenants.is_empty() {
        anstream::println!("no tenants; create one with `selvedge tenants create NAME`");
    }
    for tenant in tenants {
        let is_pending = |version: &String| !tenant.applied.contains(version);
        let pending = migrations.iter().filter(|file| is_pending(&file.version)).count();
        let (style, state) = if pending == 0 {
            (GOOD, "up to date")
        } else {
            (WARN, "pending")
        };
        anstream::println!(
            "  {style}{state:10}{style:#}  {}  {DIM}{} applied, {pending} pending{DIM:#}",
            tenant.schema,
            tenant.applied.len()
        );
    }
    Ok(())
}

async fn drop_tenants(config: &Config, args: &DropTenantsArgs) -> Result<()> {
    let schemas = resolve_schemas(config, &args.tenants.names)?;
    if args.yes.is_none() {
        bail!(
            "this drops {} with every row: add --yes to do it",
            schemas.join(", ")
        );
    }
    let found = TargetDatabase::find_or_allow_start(config).await?;
    match &found {
        Some(target) => agree_to_empty(target, args.yes.as_deref())?,
        None => agree_to_empty_own(args.yes.as_deref())?,
    }
    let drop_all = async |client: &mut Client| {
        choose_tenants(list_tenants(client).await?, &schemas)?;
        for schema in &schemas {
            drop_tenant(client, schema).await?;
            anstream::println!("{GOOD}dropped{GOOD:#} {schema}");
        }
        Ok(())
    };
    run_on_found(config, found, async |client| run_alone(client, drop_all).await).await
}
