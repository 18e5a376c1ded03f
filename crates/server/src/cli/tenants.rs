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
    /// Create schemas of tenants, and run the migrations of tenant_migrations/ in them
    Create(TenantNames),
    /// Run pending migrations in the schemas of all tenants; a run that was cut off goes on where it ended
    Migrate(MigrateTenantsArgs),
    /// List the tenants, and how many migrations ran in their schemas
    List,
    /// Drop schemas of tenants, with every row in them
    Drop(DropTenantsArgs),
}

#[derive(Debug, Args)]
pub struct TenantNames {
    /// Names of schemas, or what follows the beginning that the pattern in api.schemas has
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct MigrateTenantsArgs {
    /// Only these tenants [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DropTenantsArgs {
    #[command(flatten)]
    pub tenants: TenantNames,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}
