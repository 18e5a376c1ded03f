//! Arguments of `selvedge db`, `selvedge migration` and `selvedge seed`, named as those of the Supabase CLI.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use selvedge_config::Flags;

use super::StartArgs;

#[derive(Debug, Args)]
pub struct DbArgs {
    #[command(subcommand)]
    pub action: DbAction,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Which database a command works on.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// Work on this database instead of the project's own [env: DATABASE_URL]
    #[arg(long, value_name = "URL", visible_alias = "db-url", global = true)]
    pub database_url: Option<String>,
    /// Work on the project's own database, which is the default
    #[arg(long, global = true, conflicts_with = "database_url")]
    pub local: bool,
    /// Work on the database that DATABASE_URL names in a file of the project (.env, config.toml)
    #[arg(long, global = true, conflicts_with_all = ["database_url", "local", "linked"])]
    pub external: bool,
    /// Work on the database that `selvedge link` has recorded
    #[arg(long, global = true, conflicts_with_all = ["database_url", "local"])]
    pub linked: bool,
    /// Folder with PostgreSQL's programs, when the project's cluster has to be started
    #[arg(long, value_name = "DIR", global = true)]
    pub pg_bin: Option<PathBuf>,
}

impl TargetArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            database_url: self.database_url.clone().map(Into::into),
            pg_bin: self.pg_bin.clone(),
            is_local: self.local,
            is_linked: self.linked,
            uses_database_of_files: self.external,
            ..flags
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum DbAction {
    /// Start the project in the background, and return when it is ready
    Start(Box<StartArgs>),
    /// Recreate the database from migrations and seeds; the project may keep running
    Reset(DbResetArgs),
    /// Apply pending migrations
    Push(PushArgs),
    /// Run a SQL statement and print its rows
    Query(QueryArgs),
    /// Write the project's schema, data or roles as SQL
    Dump(DumpArgs),
    /// Print the statements that lead from the migrations to the database
    Diff(DiffArgs),
    /// Save what the database has and the migrations lack as a migration, and count it as applied
    Pull(PullArgs),
    /// Check functions for mistakes, with the extension plpgsql_check
    Lint(LintArgs),
}

#[derive(Debug, Args)]
pub struct DbResetArgs {
    /// Go up to this version only
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Leave the newest migrations out: so many
    #[arg(long, value_name = "COUNT", conflicts_with = "version")]
    pub last: Option<usize>,
    /// Leave seeds and buckets out
    #[arg(long)]
    pub no_seed: bool,
    /// Do not ask for confirmation; a database on another machine takes its host: --yes=HOST
    #[arg(short, long, value_name = "HOST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub yes: Option<String>,
}

#[derive(Debug, Args)]
pub struct PushArgs {
    /// Only print which migrations would be applied
    #[arg(long)]
    pub dry_run: bool,
    /// Also run the seeds that have not run
    #[arg(long)]
    pub include_seed: bool,
    /// Ignored, accepted for the Supabase CLI's scripts: this command asks nothing
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct QueryArgs {
    /// The statement; standard input when neither it nor a file is given
    pub sql: Option<String>,
    /// Read it from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "sql")]
    pub file: Option<PathBuf>,
    /// How to print rows
    #[arg(short, long, value_enum, default_value_t = RowFormat::Table)]
    pub output: RowFormat,
}

/// How `db query` prints rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Columns for people
    Table,
    /// An array of objects
    Json,
    /// Comma-separated values with a heading
    Csv,
}

#[derive(Debug, Default, Args)]
pub struct DumpArgs {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Rows instead of the schema
    #[arg(long, conflicts_with = "role_only")]
    pub data_only: bool,
    /// The project's roles instead of the schema
    #[arg(long)]
    pub role_only: bool,
    /// Only these schemas
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub schema: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Save the statements as a migration of this name
    #[arg(short, long, value_name = "NAME")]
    pub file: Option<String>,
    /// Only these schemas
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub schema: Vec<String>,
}

#[derive(Debug, Args)]
pub struct PullArgs {
    /// The name of the migration
    #[arg(default_value = "remote_schema")]
    pub name: String,
    /// Only these schemas
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub schema: Vec<String>,
    /// Ignored, accepted for the Supabase CLI's scripts: this command asks nothing
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct LintArgs {
    /// Only these schemas
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub schema: Vec<String>,
    /// Print issues of this level and above
    #[arg(long, value_enum, default_value_t = LintLevel::Warning)]
    pub level: LintLevel,
    /// End with 1 when there is an issue of this level or above
    #[arg(long, value_enum, default_value_t = FailOn::None)]
    pub fail_on: FailOn,
}

/// How serious an issue of `db lint` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LintLevel {
    /// The function may do something else than was meant
    Warning,
    /// The function fails when it is called
    Error,
}

/// The level of issues at which `db lint` ends with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    None,
    Warning,
    Error,
}

impl FailOn {
    /// The level; `None` when the command never fails.
    pub(crate) fn level(self) -> Option<LintLevel> {
        match self {
            Self::None => None,
            Self::Warning => Some(LintLevel::Warning),
            Self::Error => Some(LintLevel::Error),
        }
    }
}

#[derive(Debug, Args)]
pub struct SquashArgs {
    /// Leave migrations after this version as they are
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Ignored, accepted for the Supabase CLI's scripts: this command asks nothing
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct MigrateArgs {
    #[command(subcommand)]
    pub action: MigrateAction,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Subcommand)]
pub enum MigrateAction {
    /// Apply what is pending: the platform's schema, then the project's migrations
    Up,
    /// Make the database again without the newest migrations; every row is lost
    Down(DownArgs),
    /// List the project's migrations and which are applied
    List,
    /// Create an empty migration
    New {
        /// A short description, such as add_likes
        name: String,
    },
    /// Change which migrations the database counts as applied, without running any
    Repair(RepairArgs),
    /// Write files for applied migrations that have none
    Fetch,
    /// Replace migrations by one that makes the same schema
    Squash(SquashArgs),
}

#[derive(Debug, Args)]
pub struct DownArgs {
    /// How many to leave out
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub last: usize,
    /// Do not ask for confirmation; a database on another machine takes its host: --yes=HOST
    #[arg(short, long, value_name = "HOST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub yes: Option<String>,
}

#[derive(Debug, Args)]
pub struct RepairArgs {
    /// The versions [default: all of the project]
    pub versions: Vec<String>,
    /// The new status
    #[arg(long, value_enum)]
    pub status: RepairStatus,
    /// Ignored, accepted for the Supabase CLI's scripts: this command asks nothing
    #[arg(short, long)]
    pub yes: bool,
}

/// The status of a migration after `migration repair`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RepairStatus {
    /// It will not run again
    Applied,
    /// It is pending
    Reverted,
}

#[derive(Debug, Args)]
pub struct SeedArgs {
    #[command(subcommand)]
    pub what: SeedWhat,
}

#[derive(Debug, Subcommand)]
pub enum SeedWhat {
    /// Create or update the configured buckets and upload their files, while the project runs
    Buckets,
}
