//! `selvedge sweep`: stored bytes without an object go, objects without bytes are named. Safe while the project runs.

use anyhow::{Context, Result, bail};
use selvedge_postgres::Logins;
use selvedge_postgres::cluster::{Cluster, DATABASE};
use selvedge_storage::{SweepOptions, SweepReport};

use crate::cli::SweepArgs;
use crate::config::Config;
use crate::external::ExternalDatabase;
use crate::output::{DIM, GOOD, WARN};
use crate::services;
use crate::status::DATABASE_PASSWORD;

pub(super) async fn run(config: &Config, args: &SweepArgs) -> Result<()> {
    let storage = services::open_store(config, logins(config)?).await?;
    let options = SweepOptions {
        older_than: args.older_than,
        remove_blobs: !args.dry_run,
        remove_rows: args.remove_objects && !args.dry_run,
    };
    let report = selvedge_storage::sweep(&storage, &options)
        .await
        .context("the store of objects could not be swept")?;
    match report {
        Some(report) => print(&report, &options),
        None => anstream::println!("another sweep is running"),
    }
    Ok(())
}

/// The database of `--database-url` or `DATABASE_URL`; else the running instance's.
fn logins(config: &Config) -> Result<Logins> {
    if let Some(url) = &config.own.database_url {
        return Ok(ExternalDatabase::parse(url)?.logins());
    }
    let Some(holder) = Cluster::find_running(&config.own.data_dir)? else {
        bail!("the project is not running: start it with `selvedge start`, or set DATABASE_URL");
    };
    let login = |role: &str| {
        let mut login = tokio_postgres::Config::new();
        login
            .host("127.0.0.1")
            .port(holder.database_port)
            .user(role)
            .password(DATABASE_PASSWORD)
            .dbname(DATABASE);
        login
    };
    Ok(Logins::new(
        login("authenticator"),
        login("supabase_auth_admin"),
        login("supabase_storage_admin"),
    ))
}

fn print(report: &SweepReport, options: &SweepOptions) {
    let removed = if options.remove_blobs { "removed" } else { "found" };
    anstream::println!("{GOOD}swept{GOOD:#} {} stored objects", report.blobs);
    anstream::println!(
        "  {removed} {} without an object {DIM}({} bytes){DIM:#}, {} unfinished writes",
        report.orphans,
        report.orphan_bytes,
        report.unfinished
    );
    if report.without_version > 0 {
        anstream::println!(
            "  {} objects were made by SQL and never had bytes",
            report.without_version
        );
    }
    if report.lost > 0 {
        let removed = if options.remove_rows { ", removed" } else { "" };
        anstream::println!(
            "  {WARN}{} objects have lost their bytes{removed}{WARN:#}",
            report.lost
        );
        for name in &report.lost_names {
            anstream::println!("    {name}");
        }
    }
}
