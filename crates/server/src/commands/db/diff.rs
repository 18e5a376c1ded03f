//! `selvedge db diff`: the statements that lead from the project's migrations to the database.
//!
//! The migrations are applied to a shadow database, a cluster of its own that is deleted afterwards. The comparison is
//! made by the Supabase CLI of the project (npm `supabase`), whose library for it, pg-delta, is kept by Supabase and needs no
//! Docker when both databases are given.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use chrono::Utc;
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::create_migration;

use crate::cli::DiffArgs;
use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::database::target::TargetDatabase;
use crate::instance;
use crate::output::GOOD;

pub(super) async fn run(config: &Config, args: &DiffArgs) -> Result<()> {
    let cli = find_cli(&config.project.folder)?;
    let target = match TargetDatabase::find(config)? {
        Some(TargetDatabase::Running(holder)) => instance::database_url(holder.database_port),
        Some(TargetDatabase::External(database)) => database.url().to_owned(),
        None => bail!(
            "{} is not running\n  start it with:  selvedge start",
            config.project.id
        ),
    };
    let statements = compare_with_shadow(config, args, &cli, &target).await?;
    if statements.trim().is_empty() {
        anstream::eprintln!("{GOOD}no difference{GOOD:#}");
        return Ok(());
    }
    match &args.file {
        None => print!("{statements}"),
        Some(name) => {
            let time = Utc::now().format("%Y%m%d%H%M%S").to_string();
            let path = create_migration(&embedded::migrations_folder(config), &time, name)?;
            std::fs::write(&path, statements).with_context(|| format!("cannot write {}", path.display()))?;
            anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
        }
    }
    Ok(())
}

async fn compare_with_shadow(config: &Config, args: &DiffArgs, cli: &Path, target: &str) -> Result<String> {
    let folder = config.selvedge.data_dir.join("shadow");
    let mut shadow_config = config.clone();
    shadow_config.selvedge.data_dir.clone_from(&folder);
    shadow_config.selvedge.database_url = None;
    shadow_config.db.port = free_port()?;
    shadow_config.db.seed.enabled = false;
    // What an interrupted comparison has left behind is neither complete nor current.
    remove_shadow(&folder)?;
    let shadow = Embedded::start(&shadow_config).await?;
    let source = instance::database_url(shadow.cluster.port());
    let outcome = run_comparison(cli, args, &source, target, &folder);
    shadow.cluster.stop().await?;
    remove_shadow(&folder)?;
    outcome
}

fn remove_shadow(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    // The cluster's files are not always in this folder: started as root, they are in one of PostgreSQL's user.
    Cluster::delete_data(folder)?;
    std::fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))
}

fn run_comparison(cli: &Path, args: &DiffArgs, source: &str, target: &str, folder: &Path) -> Result<String> {
    let file = folder.join("diff.sql");
    let mut command = Command::new(cli);
    command
        .args(["db", "diff", "--from", source, "--to", target, "--output"])
        .arg(&file)
        .arg("--workdir")
        .arg(folder);
    if !args.schema.is_empty() {
        command.args(["--schema", &args.schema.join(",")]);
    }
    // Without these it looks for a newer version of itself and sends usage statistics.
    command
        .env("SUPABASE_TELEMETRY_DISABLED", "1")
        .env("DO_NOT_TRACK", "1");
    let output = command
        .output()
        .with_context(|| format!("{} cannot be run", cli.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    match std::fs::read_to_string(&file) {
        Ok(statements) => Ok(statements),
        // Two equal databases leave no file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).context("the differences cannot be read"),
    }
}

/// The stock CLI in the `node_modules` of the project or of a folder above it.
fn find_cli(project: &Path) -> Result<PathBuf> {
    project
        .ancestors()
        .map(|folder| folder.join("node_modules/supabase/dist/supabase.js"))
        .find(|program| program.is_file())
        .and_then(|program| Some(program.ancestors().nth(3)?.join(".bin/supabase")))
        .filter(|program| program.is_file())
        .context(
            "db diff compares with the library of the Supabase CLI: install it in the project with  npm i -D supabase",
        )
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}
