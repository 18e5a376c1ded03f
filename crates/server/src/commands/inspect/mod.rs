//! `selvedge inspect`: reports about sizes, use and locks of the database, with the columns of the Supabase CLI's reports.

use std::path::Path;

use anyhow::{Context, Result};
use chrono::Utc;
use clap::ValueEnum;
use selvedge_config::Config;
use selvedge_database::platform_schemas;
use selvedge_database::target::run_on_database;
use selvedge_terminal::GOOD;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::db::rows::{Rows, print_rows, query_rows, render_csv};
use crate::cli::{InspectArgs, InspectCommand, Report};

/// Runs `selvedge inspect`.
///
/// # Errors
/// When a query fails, or a report cannot be written.
pub(super) async fn run(config: &Config, args: &InspectArgs) -> Result<()> {
    match &args.what {
        InspectCommand::Db(args) => {
            let rows = run_on_database(config, async |client| read_report(client, args.report).await).await?;
            print_rows(&rows, args.output)
        }
        InspectCommand::Report(args) => {
            let day = Utc::now().format("%Y-%m-%d").to_string();
            let folder = args.output_dir.join(day);
            run_on_database(config, async |client| write_reports(client, &folder).await).await
        }
    }
}

/// Writes one CSV file per report.
async fn write_reports(client: &Client, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for report in Report::value_variants() {
        let rows = read_report(client, *report).await?;
        // Compat: the CLI's files have underscores where its commands have hyphens.
        let path = folder.join(format!("{}.csv", report_name(*report).replace('-', "_")));
        std::fs::write(&path, render_csv(&rows))
            .with_context(|| format!("cannot write {}", path.display()))?;
        anstream::println!("{GOOD}written{GOOD:#} {}", path.display());
    }
    Ok(())
}

async fn read_report(client: &Client, report: Report) -> Result<Rows> {
    // A setting of the session holds the list of schemas, because some reports read it more than once and some not at all.
    client
        .execute(
            "select set_config('inspect.left_out', $1::text[]::text, false)",
            &[&left_out_schemas()],
        )
        .await?;
    let sql = statement(report);
    match query_rows(client, sql).await {
        Err(error) if is_undefined_table(&error) && sql.contains("pg_stat_statements") => Err(error).context(
            "the report needs an extension that is missing here: create extension pg_stat_statements with schema extensions",
        ),
        outcome => outcome,
    }
}

fn is_undefined_table(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<tokio_postgres::Error>()
        .and_then(tokio_postgres::Error::code)
        .is_some_and(|code| *code == SqlState::UNDEFINED_TABLE)
}

/// Patterns of LIKE for the schemas that reports leave out: those of the platform and of PostgreSQL itself.
fn left_out_schemas() -> Vec<String> {
    platform_schemas()
        .chain(["information_schema", "pg_catalog", "pg_toast", "pg_temp_"])
        .map(|schema| {
            let pattern = schema.replace('_', "\\_");
            // Every session has its own schema pg_temp_N.
            if schema.ends_with('_') {
                pattern + "%"
            } else {
                pattern
            }
        })
        .collect()
}

fn report_name(report: Report) -> String {
    report
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

fn statement(report: Report) -> &'static str {
    match report {
        Report::Bloat => include_str!("sql/bloat.sql"),
        Report::Blocking => include_str!("sql/blocking.sql"),
        Report::Calls => include_str!("sql/calls.sql"),
        Report::DbStats => include_str!("sql/db_stats.sql"),
        Report::IndexStats => include_str!("sql/index_stats.sql"),
        Report::Locks => include_str!("sql/locks.sql"),
        Report::LongRunningQueries => include_str!("sql/long_running_queries.sql"),
        Report::Outliers => include_str!("sql/outliers.sql"),
        Report::ReplicationSlots => include_str!("sql/replication_slots.sql"),
        Report::RoleStats => include_str!("sql/role_stats.sql"),
        Report::TableStats => include_str!("sql/table_stats.sql"),
        Report::TrafficProfile => include_str!("sql/traffic_profile.sql"),
        Report::VacuumStats => include_str!("sql/vacuum_stats.sql"),
    }
}
