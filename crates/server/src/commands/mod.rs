//! One file per command of the command line.

mod apply;
mod background;
mod backup;
mod consent;
mod console;
mod console_user;
mod db;
mod development;
mod doctor;
mod extension;
mod functions;
mod generate;
mod import;
mod init;
mod inspect;
mod keys;
mod link;
mod link_cli;
mod logging;
mod migrate;
mod probe;
mod prompt;
mod reset;
mod rest;
mod run_as;
mod seed;
mod serve;
mod shutdown;
mod sso;
mod stack;
mod start;
mod status;
mod stop;
mod summary;
mod sweep;
mod tenants;
mod test_db;

use anyhow::Result;

use crate::cli::{Cli, Command, FunctionsAction, SeedArgs, SeedWhat, TestSuite};
use crate::config::{Config, Loaded};
use crate::output;

/// Loads the configuration and runs the command that the arguments name.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    match &cli.command {
        // `selvedge rest` has no project: its settings are PostgREST's.
        Command::Rest(args) => return rest::run(args).await,
        // `selvedge init` has none yet, and a `config.toml` that cannot be read must not stop `--force`.
        Command::Init(args) => return init::run(cli.project.as_deref(), args),
        _ => {}
    }
    let Loaded { config, warnings } = Config::load(&cli.flags())?;
    run_as::become_owner(&config.selvedge.data_dir)?;
    // The other commands are called often, and scripts read their output, so they do not repeat the warnings.
    if serves_requests(&cli.command) {
        output::print_warnings(&warnings);
    }
    match cli.command {
        Command::Start(args) if args.detach => background::start_detached(config).await,
        Command::Start(_) => start::run(config, |_| ()).await,
        Command::Serve(args) if args.ready => probe::check_ready(&config).await,
        Command::Serve(_) => serve::run(config).await,
        Command::Rest(args) => rest::run(&args).await,
        Command::Init(args) => init::run(cli.project.as_deref(), &args),
        Command::Stop(args) => stop::run(&config, &args).await,
        Command::Status(args) => status::run(config, &args),
        Command::Doctor(args) => doctor::run(config, args.output).await,
        Command::Migrate(args) => migrate::run(&config, args.action).await,
        Command::Tenants(args) => tenants::run(&config, args.action).await,
        Command::Test(args) => run_tests(&config, args.suite).await,
        Command::Reset(args) => reset::run(config, args.yes, true).await,
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
        Command::Sso(args) => sso::run(config, &args).await,
        Command::Sweep(args) => sweep::run(&config, &args).await,
        Command::Backup(args) => backup::create(&config, &args).await,
        Command::Restore(args) => backup::restore(&config, &args).await,
        Command::Import(args) => import::run(&config, &args).await,
        Command::Stack(args) => stack::run(config, args).await,
    }
}

async fn run_tests(config: &Config, suite: TestSuite) -> Result<()> {
    match suite {
        TestSuite::Db(args) => test_db::run(config, &args).await,
        TestSuite::New { name, .. } => test_db::create_test(config, &name),
    }
}

/// Whether a command runs as a server.
fn serves_requests(command: &Command) -> bool {
    match command {
        Command::Start(_) => true,
        Command::Serve(args) => !args.ready,
        Command::Functions(args) => matches!(args.action, FunctionsAction::Serve(_)),
        _ => false,
    }
}
