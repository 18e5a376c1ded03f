//! One file per command of the command line.

mod adopt;
mod apply;
mod background;
mod cluster;
mod console;
mod console_user;
mod database_login;
mod db;
mod development;
mod extension;
mod functions;
mod generate;
mod handover;
mod init;
mod inspect;
mod instance_values;
mod keeper;
mod keys;
mod link;
mod link_cli;
mod logging;
mod migrate;
mod reset;
mod rest;
mod restart;
mod restart_patience;
mod run_as;
mod seed;
mod serve;
mod setup;
mod shutdown;
mod sso;
mod stack;
mod start;
mod status;
mod stop;
mod summary;
mod sweep;
mod tenants;
mod trust;

use anyhow::Result;
use selvedge_config::{Config, Loaded};
use selvedge_database::consent::agree_to_delete_project;
use selvedge_database::embedded;
use selvedge_database::home::refuse_in_home;
use selvedge_database::instance::probe::check_ready;
use selvedge_project_trust as project_trust;
use selvedge_project_trust::Use;
use selvedge_terminal::print_warnings;

use crate::cli::{
    Cli, ClusterAction, Command, DbAction, FunctionsAction, MigrateAction, SeedArgs, SeedWhat, TestSuite,
};

/// Loads the configuration and runs the command that the arguments name.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    match &cli.command {
        // `selvedge rest` has no project: its settings are PostgREST's.
        Command::Rest(args) => return rest::run(args).await,
        // `selvedge init` has none yet, and a `config.toml` that cannot be read must not stop `--force`.
        Command::Init(args) => return init::run(cli.project.as_deref(), args),
        // It reads the configuration as the server will, which is neither this user nor in this folder.
        Command::Setup(args) => return setup::run(&cli, args).await,
        Command::AsServer(args) => {
            return setup::as_server::run(cli.project.as_deref(), &args.words).await;
        }
        _ => {}
    }
    let Loaded { config, warnings } = Config::load(&cli.flags())?;
    let access = enter_project(&cli.command, &config)?;
    print_warnings(match &cli.command {
        command if serves_requests(command) => &warnings,
        // With `--detach` the process in the background prints the warnings, and a readiness probe runs every few seconds.
        Command::Start(_) | Command::Serve(_) => &[],
        // The other commands are called often, and scripts read their output, so they do not repeat the rest.
        _ => &config.refused_keys,
    });
    let data_dir = config.selvedge.data_dir.clone();
    let outcome = run_in_project(cli, config, &access).await;
    if access.has_made_folder {
        project_trust::remove_unused(&data_dir);
    }
    outcome
}

/// Runs the command that the arguments name in a project that may be used.
async fn run_in_project(cli: Cli, config: Config, access: &ProjectAccess) -> Result<()> {
    match cli.command {
        Command::Start(args) if args.detach => background::start_detached(config, &args).await,
        Command::Start(_) => start::run(config, |_| ()).await,
        Command::Serve(args) if args.ready => check_ready(&config).await,
        Command::Serve(args) => serve::run(config, &args).await,
        Command::Restart(args) => restart::run(&config, &args).await,
        Command::Cluster(args) => cluster::run(config, args.action).await,
        Command::Rest(args) => rest::run(&args).await,
        Command::Init(args) => init::run(cli.project.as_deref(), &args),
        Command::Setup(ref args) => setup::run(&cli, args).await,
        Command::AsServer(ref args) => setup::as_server::run(cli.project.as_deref(), &args.words).await,
        Command::Stop(args) => stop::run(&config, &args).await,
        Command::Status(args) => status::run(config, &args),
        Command::Doctor(args) => selvedge_doctor::run(config, args.output).await,
        Command::Migrate(args) => migrate::run(&config, args.action).await,
        Command::Tenants(args) => tenants::run(&config, args.action).await,
        Command::Test(args) => run_tests(&config, args.suite).await,
        Command::Reset(args) => reset::run(config, args.yes || access.may_delete, true).await,
        Command::Db(args) => db::run(config, args.action).await,
        Command::Gen(args) => generate::run(&config, &args).await,
        Command::Inspect(args) => inspect::run(&config, &args).await,
        Command::Seed(SeedArgs {
            what: SeedWhat::Buckets,
        }) => seed::seed_buckets(&config).await,
        Command::Keys(args) => keys::run(&config, &args),
        Command::Functions(args) => functions::run(config, args.action).await,
        Command::Link(args) => link::link(&config, &args).await,
        Command::Unlink => link::unlink(&config),
        Command::LinkCli => link_cli::run(&config),
        Command::Extension(args) => extension::run(&config, &args).await,
        Command::Console(args) => console_user::run(&config, args).await,
        Command::Database(args) => database_login::run(&config, args).await,
        Command::Sso(args) => sso::run(config, &args).await,
        Command::Sweep(args) => sweep::run(&config, &args).await,
        Command::Storage(args) => adopt::run(&config, &args.action).await,
        Command::Backup(args) => selvedge_backup::create_backup(&config, &args.file).await,
        Command::Restore(args) => {
            selvedge_backup::restore_backup(&config, &args.file, args.yes.as_deref()).await
        }
        Command::Import(args) => selvedge_import::import_project(&config, &args.options()).await,
        Command::Stack(args) => stack::run(config, args).await,
        Command::Trust(args) => trust::run(&config, &args),
    }
}

/// What is known of the project before its command runs.
#[derive(Debug, Default)]
struct ProjectAccess {
    /// Whether somebody has agreed that database and objects are deleted.
    may_delete: bool,
    /// Whether the data folder was made for this command.
    has_made_folder: bool,
}

/// Refuses a data folder, and programs, that may have come with the project, before anything in that folder is read.
fn check_project(config: &Config, command: &Command) -> Result<ProjectAccess> {
    match command {
        // These neither read the data folder nor run programs.
        Command::Trust(_) | Command::Link(_) | Command::Unlink | Command::LinkCli => {
            Ok(ProjectAccess::default())
        }
        // They are in a file that may be outside of the project.
        Command::Keys(_) => {
            project_trust::check_outside(config)?;
            Ok(ProjectAccess::default())
        }
        _ => {
            if changes_data(command) {
                project_trust::refuse_data_of_others(config)?;
            }
            let access = check_data_folder(config, command)?;
            if only_looks(command) {
                return Ok(access);
            }
            config.check_settings_in_files().inspect_err(|_| {
                if access.has_made_folder {
                    project_trust::remove_unused(&config.selvedge.data_dir);
                }
            })?;
            Ok(access)
        }
    }
}

/// Whether a command may change rows and objects of the project's own database.
fn changes_data(command: &Command) -> bool {
    match command {
        Command::Stop(args) => args.no_backup,
        _ => !only_looks(command),
    }
}

/// Refuses a data folder that may have come with the project. A reset deletes it.
fn check_data_folder(config: &Config, command: &Command) -> Result<ProjectAccess> {
    match command {
        Command::Reset(args) if project_trust::is_foreign(config)? => {
            reset::refuse_objects_of_others(config)?;
            // What leads out of the project is asked about afterwards: trust before would make the folder this user's own, unread.
            if project_trust::has_own_files_alone(config) {
                embedded::check_files_before_reset(config)?;
            }
            agree_to_delete_project(config, args.yes)?;
            project_trust::delete_foreign(config)?;
            Ok(ProjectAccess {
                may_delete: true,
                has_made_folder: project_trust::check(config, Use::Work)?,
            })
        }
        _ => {
            let usage = if only_looks(command) { Use::Look } else { Use::Work };
            Ok(ProjectAccess {
                may_delete: false,
                has_made_folder: project_trust::check(config, usage)?,
            })
        }
    }
}

/// Whether a command leaves a project alone that has no data folder.
fn only_looks(command: &Command) -> bool {
    match command {
        Command::Stop(_) | Command::Restart(_) | Command::Status(_) | Command::Doctor(_) => true,
        Command::Serve(args) => args.ready,
        _ => false,
    }
}

async fn run_tests(config: &Config, suite: TestSuite) -> Result<()> {
    match suite {
        TestSuite::Db(args) => selvedge_pgtap::run_tests(config, &args.paths).await,
        TestSuite::New { name, .. } => selvedge_pgtap::create_test(config, &name),
    }
}

/// Goes on as the project's owner, and checks that the project may be used. `serve` does that itself by [`enter_served_project`], after it has
/// opened its ports and read its keys, for which root's rights may be needed.
fn enter_project(command: &Command, config: &Config) -> Result<ProjectAccess> {
    refuse_for_production(command, config)?;
    match command {
        Command::Serve(args) if !args.ready => Ok(ProjectAccess::default()),
        _ => {
            run_as::become_owner(config)?;
            check_project(config, command)
        }
    }
}

/// Refuses commands for development in the home of a production database, whose rows and objects they would delete or replace.
fn refuse_for_production(command: &Command, config: &Config) -> Result<()> {
    const DELETES: &str = "deletes its rows and objects";
    const STARTS: &str = "runs a project for development: with keys that everybody knows, and migrations applied without a question";
    // A database on another server is not the home's.
    let is_own = config.selvedge.database_url.is_none();
    match command {
        Command::Start(_) => refuse_in_home(config, "start", STARTS),
        Command::Functions(args) if matches!(args.action, FunctionsAction::Serve(_)) => {
            refuse_in_home(config, "functions serve", STARTS)
        }
        Command::Stop(args) if args.no_backup => refuse_in_home(config, "stop --no-backup", DELETES),
        Command::Reset(_) => refuse_in_home(config, "reset", DELETES),
        Command::Db(args) => match &args.action {
            DbAction::Start(_) => refuse_in_home(config, "db start", STARTS),
            DbAction::Reset(_) if is_own => refuse_in_home(config, "db reset", DELETES),
            _ => Ok(()),
        },
        Command::Migrate(args) if is_own && matches!(args.action, MigrateAction::Down(_)) => refuse_in_home(
            config,
            "migrate down",
            "makes the database again without its rows",
        ),
        Command::Import(_) if is_own => refuse_in_home(
            config,
            "import",
            "replaces its rows and objects by those of another project",
        ),
        Command::Seed(_) if is_own => refuse_in_home(
            config,
            "seed",
            "overwrites objects by those of the project's folder",
        ),
        _ => Ok(()),
    }
}

/// Goes on as the owner of a project that is served, and checks that it may be used.
fn enter_served_project(config: &Config) -> Result<()> {
    run_as::become_owner(config)?;
    let usage = match config.selvedge.database_url {
        Some(_) => Use::Serve,
        None => Use::Work,
    };
    project_trust::check(config, usage)?;
    config.check_settings_in_files()?;
    Ok(())
}

/// Whether a command runs as a server.
fn serves_requests(command: &Command) -> bool {
    match command {
        Command::Start(args) => !args.detach,
        Command::Serve(args) => !args.ready,
        Command::Cluster(args) => matches!(args.action, ClusterAction::Run(_)),
        Command::Functions(args) => matches!(args.action, FunctionsAction::Serve(_)),
        _ => false,
    }
}
