//! Arguments of `selvedge tenants`.

use clap::{Args, Subcommand};

use super::TargetArgs;

#[derive(Debug, Args)]
pub struct TenantsArgs {
    #[command(subcommand)]
    pub action: TenantsAction,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Subcommand)]
pub enum TenantsAction {
    /// Create tenants: a schema each, in which the migrations in tenant_migrations/ run
    Create(TenantNames),
    /// Run pending migrations in the schemas of tenants; after an interruption, run it again
    Migrate(MigrateTenantsArgs),
    /// List the tenants with the number of their applied and pending migrations
    List,
    /// Drop tenants: their schemas with every row in them
    Drop(DropTenantsArgs),
}

#[derive(Debug, Args)]
pub struct TenantNames {
    /// Schema names, or the part for which * stands in the pattern in api.schemas
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct MigrateTenantsArgs {
    /// Names of the tenants to migrate [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DropTenantsArgs {
    #[command(flatten)]
    pub tenants: TenantNames,
    /// Confirm that the rows are deleted; a database on another machine takes its host: --yes=HOST
    #[arg(short, long, value_name = "HOST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub yes: Option<String>,
}
