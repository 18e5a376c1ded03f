//! `selvedge db diff`: the statements that lead from the project's migrations to the database.
//!
//! The migrations are applied to a shadow database. The comparison is made by the Supabase CLI of the project (npm
//! `supabase`), whose library for it, pg-delta, is kept by Supabase and needs no Docker when both databases are given.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use chrono::Utc;
use selvedge_postgres::migrate::{create_migration, replace_file};

use super::shadow::Shadow;
use crate::cli::DiffArgs;
use crate::config::Config;
use crate::database::target::TargetDatabase;
use crate::database::{EMBEDDED_PASSWORD, embedded};
use crate::output::{GOOD, print_text};

/// Runs `selvedge db diff`.
///
/// # Errors
/// When the project does not run, a migration fails in the shadow database, or the Supabase CLI, whose library compares the
/// schemas, is not installed.
pub(super) async fn run(config: &Config, args: &DiffArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    let statements = find_statements(config, &database, &args.schema).await?;
    if statements.trim().is_empty() {
        anstream::eprintln!("{GOOD}no difference{GOOD:#}");
        return Ok(());
    }
    match &args.file {
        None => print_text(&statements)?,
        Some(name) => {
            save_migration(config, name, &statements)?;
        }
    }
    Ok(())
}

/// The statements that lead from the project's migrations to the database; only for these schemas if any are named.
pub(super) async fn find_statements(
    config: &Config,
    database: &TargetDatabase,
    schemas: &[String],
) -> Result<String> {
    let cli = find_cli(&config.project.folder)?;
    let target = match database {
        TargetDatabase::Running(running) => running
            .url_for("postgres", EMBEDDED_PASSWORD)
            .context("the library that compares the schemas needs a TCP port of the running instance")?,
        TargetDatabase::External(database) => database.url().to_owned(),
    };
    let shadow = Shadow::start(config).await?;
    let outcome = run_comparison(&cli, schemas, &shadow.url(), &target, shadow.folder());
    shadow.remove().await?;
    outcome
}

/// Writes a new migration with these statements.
pub(super) fn save_migration(config: &Config, name: &str, statements: &str) -> Result<PathBuf> {
    let folder = embedded::migrations_folder(config);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let time = Utc::now().format("%Y%m%d%H%M%S").to_string();
    let path = create_migration(&folder, &time, name)?;
    replace_file(&path, statements)?;
    anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
    Ok(path)
}

fn run_comparison(
    cli: &Path,
    schemas: &[String],
    source: &str,
    target: &str,
    folder: &Path,
) -> Result<String> {
    let file = folder.join("diff.sql");
    let mut command = Command::new(cli);
    command
        .args(["db", "diff", "--from", source, "--to", target, "--output"])
        .arg(&file)
        .arg("--workdir")
        .arg(folder);
    if !schemas.is_empty() {
        command.args(["--schema", &schemas.join(",")]);
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
        // When the databases are equal, the CLI writes no file.
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
