//! `selvedge test db`: runs the project's pgTAP tests, as `supabase test db` does.
//!
//! Every `.sql` and `.pg` file of `tests/` runs on a new connection as `postgres`. A file that begins a transaction and
//! rolls it back, as pgTAP's documentation advises, leaves nothing behind; one that does not may prepare data for later
//! files.
//!
//! In: the configuration, and the files or folders to run, which must be the project's own or named by the user. Out: lines on the
//! terminal as pg_prove prints them, and an error when a test fails. TAP is parsed in `tap`, printed in `report`.

mod report;
mod tap;

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::embedded::{self, Embedded};
use selvedge_database::target::TargetDatabase;
use selvedge_postgres::psql::run_psql_file;
use selvedge_project_trust::{ReadableFiles, check_place};
use selvedge_terminal::GOOD;
use tokio_postgres::Client;
use walkdir::WalkDir;

use report::{FileReport, print_name, print_result, print_summary};
use tap::TapReport;

/// File name extensions of tests, as for `supabase test db`.
const EXTENSIONS: [&str; 2] = ["sql", "pg"];

/// The file that `selvedge test new` writes.
const TEMPLATE: &str = include_str!("template.sql");

/// Runs `selvedge test db`.
///
/// # Errors
/// When a test fails, or pgTAP cannot be installed.
pub async fn run_tests(config: &Config, paths: &[PathBuf]) -> Result<()> {
    let readable = ReadableFiles::of(config, paths);
    let files = find_tests(config, paths, &readable)?;
    let passed = match TargetDatabase::find_or_allow_start(config).await? {
        Some(database) => run_with_pgtap(async || database.connect().await, &files, &readable).await?,
        None => {
            // Starting the cluster applies pending migrations; it ends again after the tests.
            let embedded = Embedded::start(config).await?;
            let login = embedded.administrator_login();
            let passed = run_with_pgtap(async || embedded::connect(&login).await, &files, &readable).await;
            embedded.cluster.stop().await?;
            passed?
        }
    };
    if !passed {
        bail!("tests failed");
    }
    Ok(())
}

/// Creates `tests/<name>_test.sql` from a template. A test of that name is not overwritten.
pub fn create_test(config: &Config, name: &str) -> Result<()> {
    let name = name.trim();
    if name.is_empty() || name.contains(['/', '\\']) {
        bail!("the name of a test is a file name without folders: selvedge test new likes");
    }
    let folder = config.project.folder.join("tests");
    check_place(&config.project, &folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(format!("{name}_test.sql"));
    let mut file = File::create_new(&path).with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(TEMPLATE.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
    Ok(())
}

async fn run_with_pgtap(
    connect: impl AsyncFn() -> Result<Client>,
    files: &[PathBuf],
    readable: &ReadableFiles,
) -> Result<bool> {
    let started = Instant::now();
    let administrator = connect().await?;
    let had_pgtap = has_pgtap(&administrator).await?;
    administrator
        .batch_execute("create extension if not exists pgtap with schema extensions")
        .await
        .context("pgTAP cannot be created in the schema extensions")?;
    let outcome = run_files(connect, files, readable).await;
    if !had_pgtap {
        administrator
            .batch_execute("drop extension if exists pgtap cascade")
            .await?;
    }
    Ok(print_summary(&outcome?, started.elapsed()))
}

async fn has_pgtap(client: &Client) -> Result<bool> {
    let row = client
        .query_one(
            "select exists (select from pg_extension where extname = 'pgtap')",
            &[],
        )
        .await?;
    Ok(row.get(0))
}

async fn run_files(
    connect: impl AsyncFn() -> Result<Client>,
    files: &[PathBuf],
    readable: &ReadableFiles,
) -> Result<Vec<FileReport>> {
    let names: Vec<String> = files.iter().map(|path| printed_name(path)).collect();
    let longest = names.iter().map(String::len).max().unwrap_or_default();
    let mut reports = Vec::with_capacity(files.len());
    for (path, name) in files.iter().zip(names) {
        print_name(&name, longest);
        let client = connect().await?;
        let mut tap = TapReport::default();
        if let Err(error) = run_psql_file(
            &client,
            path,
            |path| readable.admits(path),
            |line| tap.read_line(line),
        )
        .await
        {
            tap.set_error(error.to_string());
        }
        print_result(&name, &tap);
        reports.push(FileReport { name, tap });
    }
    Ok(reports)
}

/// The path of a file, relative to the current folder where it is below that.
fn printed_name(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(current).unwrap_or(path).display().to_string()
}

/// The files to run, sorted: those of the given paths, or those of the project's folder `tests`.
fn find_tests(config: &Config, paths: &[PathBuf], readable: &ReadableFiles) -> Result<Vec<PathBuf>> {
    let default = [config.project.folder.join("tests")];
    let paths = if paths.is_empty() { &default } else { paths };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            add_tests_below(path, &mut files)?;
        } else if path.is_file() {
            files.push(path.clone());
        } else {
            bail!("there are no tests at {}", path.display());
        }
    }
    if files.is_empty() {
        bail!("there is no .sql or .pg file in {}", paths[0].display());
    }
    if let Some(file) = files.iter().find(|file| !readable.admits(file)) {
        bail!(
            "{} leads out of the project by a link, or holds its keys: no test was run",
            file.display()
        );
    }
    files.sort();
    Ok(files)
}

/// Whether a walk has met a link to a folder around it, or one to nothing that has not the name of a test. What cannot be read is neither.
fn is_link_without_tests(error: &walkdir::Error, is_test: impl Fn(&Path) -> bool) -> bool {
    let leads_nowhere = |path: &Path| {
        let target = path.metadata().err();
        let is_circle = |error: &std::io::Error| error.raw_os_error() == Some(nix::libc::ELOOP);
        path.is_symlink()
            && target.is_some_and(|error| error.kind() == ErrorKind::NotFound || is_circle(&error))
    };
    let path = error.path();
    error.loop_ancestor().is_some() || path.is_some_and(|path| !is_test(path) && leads_nowhere(path))
}

fn add_tests_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let is_test = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
    };
    for entry in WalkDir::new(folder).follow_links(true) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if is_link_without_tests(&error, is_test) => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
        };
        if !entry.file_type().is_dir() && is_test(entry.path()) {
            files.push(entry.into_path());
        }
    }
    Ok(())
}
