//! `selvedge db query`: runs SQL and prints the rows of its last statement.

use std::io::Read as _;

use anyhow::{Context, Result};
use selvedge_config::Config;
use selvedge_database::target::run_on_database;

use super::rows::{print_rows, query_rows};
use crate::cli::QueryArgs;

/// Runs `selvedge db query`.
///
/// # Errors
/// When the SQL cannot be read, or PostgreSQL refuses a statement.
pub(super) async fn run(config: &Config, args: &QueryArgs) -> Result<()> {
    let sql = read_sql(args)?;
    let rows = run_on_database(config, async |client| query_rows(client, &sql).await).await?;
    print_rows(&rows, args.output)
}

fn read_sql(args: &QueryArgs) -> Result<String> {
    if let Some(sql) = &args.sql {
        return Ok(sql.clone());
    }
    if let Some(file) = &args.file {
        return std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
    }
    let mut sql = String::new();
    std::io::stdin()
        .read_to_string(&mut sql)
        .context("cannot read standard input")?;
    Ok(sql)
}
