//! The command line: commands, arguments and their help texts.

mod backup;
mod cluster;
mod console;
mod database;
mod database_login;
use selvedge_config::Flags;
use selvedge_terminal::OutputFormat;

#[cfg(test)]
mod documentation_test;
mod extension;
mod functions;
mod generate;
mod hidden_arguments;
mod import;
mod inspect;
mod keys;
mod link;
mod purpose;
mod rest;
mod restart;
mod setup;
mod sso;
mod stack;
mod start_arguments;
mod stock_name;
mod storage;
mod sweep;
mod tenants;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use backup::{BackupArgs, RestoreArgs};
pub use cluster::{ClusterAction, ClusterArgs, RunClusterArgs};
pub use console::{ConsoleArea, ConsoleArgs, UserAction};
pub use database::{
    DbAction, DbArgs, DbResetArgs, DiffArgs, DownArgs, DumpArgs, FailOn, LintArgs, LintLevel, MigrateAction,
    MigrateArgs, PullArgs, PushArgs, QueryArgs, RepairArgs, RepairStatus, RowFormat, SeedArgs, SeedWhat,
    SquashArgs, TargetArgs,
};
pub use database_login::{AddLoginArgs, DatabaseArea, DatabaseArgs, LoginAction};
pub(crate) use stock_name::parse_arguments;

pub use extension::{AddExtensionArgs, ExtensionAction, ExtensionArgs};
pub use generate::{GenArgs, GenCommand, Language, SwiftAccessControl, TypesArgs};
pub(crate) use hidden_arguments::hide_secrets;
pub use import::ImportArgs;
pub use inspect::{InspectArgs, InspectCommand, InspectDbArgs, InspectReportArgs, Report};
pub use keys::{KeysAction, KeysArgs, RotateArgs, SigningAlgorithm};
pub use link::LinkArgs;

pub use functions::{
    DeleteFunctionArgs, FunctionAuth, FunctionsAction, FunctionsArgs, InspectModeArg, ListFunctionsArgs,
    NewFunctionArgs, ServeFunctionsArgs,
};
pub use rest::{RestArgs, RestReportArgs};
pub use restart::RestartArgs;
pub use setup::{AsServerArgs, SetupArgs};
pub use stack::StackArgs;
pub use storage::{AdoptArgs, StorageAction, StorageArgs};
pub use sweep::SweepArgs;
pub use tenants::{DropTenantsArgs, TenantsAction, TenantsArgs};

pub use sso::{
    AddProviderArgs, ProviderArgs, ProviderSettingsArgs, ProviderType, ShowProviderArgs, SsoAction, SsoArgs,
    UpdateProviderArgs,
};

/// The Supabase API in one binary on a real PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "selvedge", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// The project folder (config.toml, migrations/, seed.sql) [default: the nearest supabase/ folder, or
    /// folder with a config.toml, upward]
    #[arg(long, visible_alias = "workdir", global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,

    /// Folder of the project's database and objects [default: .selvedge in the project; env: SELVEDGE_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Whether the program was called by the Supabase CLI's name.
    #[arg(skip)]
    pub is_called_as_stock: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write supabase/config.toml for a new project in this folder
    Init(InitArgs),
    /// Run the project for development: embedded PostgreSQL, well-known keys, mail caught in an inbox
    Start(StartArgs),
    /// Run the project for production: its own PostgreSQL in the folder of --data-dir, or that of DATABASE_URL
    Serve(ServeArgs),
    /// Make this machine a production server: units of systemd, a user, its own PostgreSQL, certificates
    Setup(SetupArgs),
    /// Run a command as the server of this machine, that is as its user and with its settings
    #[command(hide = true)]
    AsServer(AsServerArgs),
    /// Start the server of a production database anew, with its program and settings as they are now; no request fails
    #[command(alias = "reload")]
    Restart(RestartArgs),
    /// Run or restart the PostgreSQL of a production database, apart from the server
    Cluster(ClusterArgs),
    /// Serve PostgREST's API alone, on any PostgreSQL database: no project, no platform schema, no keys
    Rest(RestArgs),
    /// Stop the running instance of the project
    Stop(StopArgs),
    /// Show URLs and keys of the running instance
    Status(StatusArgs),
    /// Examine what the project runs on (database, replicas, disk, keys, mail), and say what to do about each fault
    Doctor(DoctorArgs),
    /// Apply, list, create or repair migrations
    #[command(visible_alias = "migration", alias = "migrations")]
    Migrate(MigrateArgs),
    /// Create, migrate, list or drop the schemas of tenants
    Tenants(TenantsArgs),
    /// Reset, query, dump or compare the database
    Db(DbArgs),
    /// Fill the running project's buckets
    Seed(SeedArgs),
    /// Generate code from the database
    Gen(GenArgs),
    /// Print reports about sizes, use and locks of the database
    Inspect(InspectArgs),
    /// Run the project's tests
    Test(TestArgs),
    /// Recreate the project's database: every row and object is lost, migrations and seeds run again
    Reset(ResetArgs),
    /// Print the project's keys, or make a new set
    Keys(KeysArgs),
    /// Create, serve, list or delete edge functions
    Functions(FunctionsArgs),
    /// Record the database that `--linked` stands for, such as that of a `selvedge serve`
    Link(LinkArgs),
    /// Forget the database that `selvedge link` has recorded
    Unlink,
    /// Link this program as `supabase` in node_modules/.bin, so that the project's npm scripts use it
    LinkCli,
    /// Add extensions to the embedded PostgreSQL that the machine does not have, such as pgvector
    Extension(ExtensionArgs),
    /// Manage the accounts of the console
    Console(ConsoleArgs),
    /// Manage the logins to the database of people and their programs
    Database(DatabaseArgs),
    /// Manage Single Sign-On (SSO) authentication for projects
    Sso(Box<SsoArgs>),
    /// Find stored bytes without an object and objects without bytes, and remove the former
    Sweep(SweepArgs),
    /// Say whose the stored objects are, after a database was moved, restored or copied
    Storage(StorageArgs),
    /// Write the database and all objects of the project to one file; the project may run meanwhile
    Backup(BackupArgs),
    /// Replace the database and all objects of the project by those of a backup
    Restore(RestoreArgs),
    /// Copy a Supabase project here, with its database, users and storage objects
    Import(ImportArgs),
    /// Run a temporary copy of the project for a test, with a new database, until standard input ends
    Stack(StackArgs),
    /// Let this project use its data folder, and the programs that its config.toml names
    ///
    /// Needed once for a project that was copied or moved to this machine with its data, or was last run by an older
    /// version; and again when pg_bin or deno of config.toml change. Do not trust a project that you do not know.
    Trust(TrustArgs),
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// List what files of the project name, and whether it is trusted; change nothing
    #[arg(long, conflicts_with = "forget")]
    pub list: bool,
    /// Take back what was trusted: programs, paths outside of the project, links. Its own data stay
    #[arg(long)]
    pub forget: bool,
    /// Do not ask at a terminal
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Replace an existing config.toml
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct StartArgs {
    /// Port of the API [default: 54321; config: api.port]
    #[arg(long)]
    pub port: Option<u16>,
    /// Port of PostgreSQL [default: 54322; config: db.port]
    #[arg(long)]
    pub db_port: Option<u16>,
    /// Port of the mail inbox [default: 54324; config: local_smtp.port]
    #[arg(long)]
    pub inbox_port: Option<u16>,
    /// Accept mail by SMTP on this port, too [config: local_smtp.smtp_port]
    #[arg(long)]
    pub smtp_port: Option<u16>,
    /// Port of the console [default: 54323; config: studio.port]
    #[arg(long)]
    pub studio_port: Option<u16>,
    /// Do not serve the console
    #[arg(long)]
    pub no_studio: bool,
    /// Run in the background, and return when the project is ready
    #[arg(long)]
    pub detach: bool,
    /// Accepted, as for the Supabase CLI, without effect: all services are one process
    #[arg(short = 'x', long, value_delimiter = ',', hide = true)]
    pub exclude: Vec<String>,
    /// Accepted, as for the Supabase CLI: without a healthy database there is no start
    #[arg(long, hide = true)]
    pub ignore_health_check: bool,
    /// Ignored, accepted for the Supabase CLI's scripts: this command asks nothing
    #[arg(long, hide = true)]
    pub yes: bool,
    /// Folder with PostgreSQL's programs (initdb, postgres) [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
    /// Refuse requests without an API key, as `serve` does
    #[arg(long)]
    pub require_keys: bool,
    /// The Deno program for edge functions [default: looked for]
    #[arg(long, value_name = "FILE")]
    pub deno_bin: Option<PathBuf>,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The database [env: DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Address to listen on [default: 0.0.0.0; config: selvedge.host]
    #[arg(long)]
    pub host: Option<String>,
    /// Port of the API [default: 54321; config: api.port]
    #[arg(long)]
    pub port: Option<u16>,
    /// Exit with 0 if the running server is ready, else with 1
    #[arg(long)]
    pub ready: bool,
    /// Apply the project's pending migrations to its own PostgreSQL before requests are accepted
    #[arg(long)]
    pub migrate: bool,
    /// Folder with PostgreSQL's programs (initdb, postgres) [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
    /// The Deno program for edge functions [default: looked for]
    #[arg(long, value_name = "FILE")]
    pub deno_bin: Option<PathBuf>,
    #[command(flatten)]
    pub runtime: RuntimeArgs,
}

/// Arguments that `start` and `serve` share.
#[derive(Debug, Args)]
pub struct RuntimeArgs {
    /// Threads that serve requests [default: one per core]
    #[arg(long)]
    pub workers: Option<usize>,
    /// Log one JSON object per line
    #[arg(long)]
    pub json_logs: bool,
    /// What to log: a level (info, debug) or filters (selvedge_rest=debug,warn)
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
}

#[derive(Debug, Args)]
pub struct StopArgs {
    /// Accepted, as for the Supabase CLI: one project is stopped
    #[arg(long, hide = true)]
    pub all: bool,
    /// The project's id, as for the Supabase CLI; any other is an error
    #[arg(long, hide = true)]
    pub project_id: Option<String>,
    /// Delete the project's database and objects as well
    #[arg(long)]
    pub no_backup: bool,
    /// End the PostgreSQL of a production database as well, which otherwise outlives its server
    #[arg(long)]
    pub database: bool,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// How to print
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Pretty)]
    pub output: OutputFormat,
    /// Print a value under a name of your own, as api.url=NEXT_PUBLIC_SUPABASE_URL
    #[arg(long, value_name = "VALUE=NAME")]
    pub override_name: Vec<String>,
    /// Print the secret keys of a production home, too
    #[arg(long)]
    pub secrets: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Examine this database instead of the project's own [env: DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Pretty)]
    pub output: OutputFormat,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    #[command(subcommand)]
    pub suite: TestSuite,
}

#[derive(Debug, Subcommand)]
pub enum TestSuite {
    /// Run the pgTAP tests of the folder tests/ in the database; the project need not run
    Db(TestDbArgs),
    /// Create a pgTAP test in the folder tests/
    New {
        /// A short description, such as likes
        name: String,
        /// Accepted, as for the Supabase CLI: pgTAP is the only kind
        #[arg(short, long, hide = true, value_parser = ["pgtap"])]
        template: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct TestDbArgs {
    /// Files or folders [default: the project's folder tests/]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
pub struct ResetArgs {
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Port of PostgreSQL while the database is recreated [default: 54322; config: db.port]
    #[arg(long)]
    pub db_port: Option<u16>,
    /// Folder with PostgreSQL's programs
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
}

impl Cli {
    /// The arguments that override the configuration.
    pub fn flags(&self) -> Flags {
        let flags = self.read_flags();
        Flags {
            ignores_database_of_process: self.is_called_as_stock && !flags.uses_database_of_files,
            ..flags
        }
    }

    fn read_flags(&self) -> Flags {
        let flags = Flags {
            project: self.project.clone(),
            data_dir: self.absolute_data_dir(),
            purpose: self.command.purpose(),
            writes: self.command.writes(),
            // `serve` runs on that database, and `doctor` only reads.
            uses_database_of_files: matches!(self.command, Command::Serve(_) | Command::Doctor(_)),
            ..Flags::default()
        };
        match &self.command {
            Command::Start(args) => args.add_to(flags),
            Command::Functions(args) => match &args.action {
                FunctionsAction::Serve(args) => args.add_to(args.start.add_to(flags)),
                FunctionsAction::New(_) | FunctionsAction::List(_) | FunctionsAction::Delete(_) => flags,
            },
            Command::Serve(args) => args.add_to(flags),
            Command::Cluster(args) => args.add_to(flags),
            Command::Migrate(args) => args.target.add_to(flags),
            Command::Tenants(args) => args.target.add_to(flags),
            Command::Extension(args) => args.add_to(flags),
            Command::Backup(args) => args.add_to(flags),
            Command::Restore(args) => args.add_to(flags),
            Command::Import(args) => args.add_to(flags),
            Command::Stack(args) => args.add_to(flags),
            Command::Gen(args) => args.target.add_to(flags),
            Command::Inspect(args) => args.target.add_to(flags),
            Command::Console(args) => args.target.add_to(flags),
            Command::Db(args) => match &args.action {
                DbAction::Start(start) => start.add_to(flags),
                _ => args.target.add_to(flags),
            },
            Command::Test(TestArgs {
                suite: TestSuite::Db(args),
            }) => args.target.add_to(flags),
            Command::Reset(args) => Flags {
                db_port: args.db_port,
                pg_bin: args.pg_bin.clone(),
                ..flags
            },
            Command::Sweep(SweepArgs { database_url, .. })
            | Command::Storage(StorageArgs { database_url, .. })
            | Command::Doctor(DoctorArgs { database_url, .. }) => Flags {
                database_url: database_url.clone().map(Into::into),
                ..flags
            },
            // The others take nothing from the command line that a setting could say, too.
            _ => flags,
        }
    }
}

impl Cli {
    /// `--data-dir`, which is relative to the folder where the command was called, unlike the setting, which is relative to the project.
    fn absolute_data_dir(&self) -> Option<PathBuf> {
        let folder = self.data_dir.as_ref()?;
        Some(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
    }
}

impl StartArgs {
    /// Adds these arguments to `flags`.
    fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            port: self.port,
            db_port: self.db_port,
            inbox_port: self.inbox_port,
            studio_port: self.studio_port,
            no_studio: self.no_studio,
            smtp_port: self.smtp_port,
            pg_bin: self.pg_bin.clone(),
            require_keys: self.require_keys,
            deno_bin: self.deno_bin.clone(),
            ..self.runtime.add_to(flags)
        }
    }
}

impl ServeArgs {
    /// Adds these arguments to `flags`.
    fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            port: self.port,
            host: self.host.clone(),
            database_url: self.database_url.clone().map(Into::into),
            pg_bin: self.pg_bin.clone(),
            deno_bin: self.deno_bin.clone(),
            ..self.runtime.add_to(flags)
        }
    }
}

impl RuntimeArgs {
    /// Adds these arguments to `flags`.
    fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            workers: self.workers,
            json_logs: self.json_logs,
            log: self.log.clone(),
            ..flags
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn clap_accepts_the_definition_of_the_command_line() {
        Cli::command().debug_assert();
    }

    #[test]
    fn gw_032_start_takes_a_port_for_smtp() {
        let cli = Cli::try_parse_from(["selvedge", "start", "--smtp-port", "2525"]).unwrap();

        assert_eq!(cli.flags().smtp_port, Some(2525));
    }

    #[test]
    fn gw_032_status_accepts_the_clis_output_flag() {
        let cli = Cli::try_parse_from(["selvedge", "status", "-o", "json"]).unwrap();

        assert!(matches!(
            cli.command,
            Command::Status(StatusArgs {
                output: OutputFormat::Json,
                ..
            })
        ));
    }
}
