//! `selvedge db lint`: what the extension plpgsql_check finds wrong in the project's functions.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::platform_schemas;
use selvedge_database::target::run_on_database;
use selvedge_terminal::{GOOD, print_text};
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::cli::{LintArgs, LintLevel};

/// Functions in plpgsql but no trigger functions: those can only be checked with the table of a trigger.
const CHECK_FUNCTIONS: &str = "
    select n.nspname || '.' || p.proname, plpgsql_check_function(p.oid, format := 'json')
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
    where l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype and p.prorettype <> 'event_trigger'::regtype
      and case when $1::text[] = '{}' then n.nspname <> all ($2::text[]) and n.nspname not like 'pg\\_%'
          else n.nspname = any ($1) end
    order by 1";

/// Runs `selvedge db lint`.
///
/// # Errors
/// When plpgsql_check is missing, or an issue has at least the level of `--fail-on`.
pub(super) async fn run(config: &Config, args: &LintArgs) -> Result<()> {
    let found = run_on_database(config, async |client| check_functions(client, &args.schema).await).await?;
    let found = filter_issues(found, args.level);
    if found.is_empty() {
        anstream::eprintln!("{GOOD}no schema errors found{GOOD:#}");
        return Ok(());
    }
    print_text(&format!("{}\n", serde_json::to_string_pretty(&found)?))?;
    if let Some(level) = args.fail_on.level()
        && found
            .iter()
            .flat_map(list_issues)
            .any(|issue| issue_level(issue) >= Some(level))
    {
        bail!("there are issues of the level that --fail-on names");
    }
    Ok(())
}

/// Returns one object per function: its name and its issues.
async fn check_functions(client: &mut Client, schemas: &[String]) -> Result<Vec<Value>> {
    let left_out: Vec<&str> = platform_schemas().chain(["information_schema"]).collect();
    // Rolled back at the end, so that the database has no extension more than before.
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("create extension if not exists plpgsql_check with schema extensions")
        .await
        .context(
            "functions are checked by PostgreSQL's extension plpgsql_check, which cannot be created here; on Debian and \
             Ubuntu it is in the package postgresql-VERSION-plpgsql-check",
        )?;
    transaction
        .batch_execute("set local search_path to public, extensions")
        .await?;
    let rows = transaction.query(CHECK_FUNCTIONS, &[&schemas, &left_out]).await?;
    let mut found = Vec::new();
    for row in rows {
        let (function, report): (String, String) = (row.get(0), row.get(1));
        let report: Value = serde_json::from_str(&report).context("plpgsql_check's report is no JSON")?;
        let issues = report.get("issues").cloned().unwrap_or_default();
        found.push(json!({ "function": function, "issues": issues }));
    }
    transaction.rollback().await?;
    Ok(found)
}

/// Returns the issues in the report of a function.
fn list_issues(function: &Value) -> impl Iterator<Item = &Value> {
    function["issues"].as_array().into_iter().flatten()
}

/// `None` for levels that are neither errors nor warnings, as advice about performance.
fn issue_level(issue: &Value) -> Option<LintLevel> {
    let level = issue["level"].as_str()?;
    if level.starts_with("error") {
        Some(LintLevel::Error)
    } else if level.starts_with("warning") {
        Some(LintLevel::Warning)
    } else {
        None
    }
}

/// Keeps issues of the level and above, and functions that have one.
fn filter_issues(functions: Vec<Value>, level: LintLevel) -> Vec<Value> {
    functions
        .into_iter()
        .filter_map(|function| {
            let kept: Vec<Value> = list_issues(&function)
                .filter(|issue| issue_level(issue) >= Some(level))
                .cloned()
                .collect();
            (!kept.is_empty()).then(|| json!({ "function": function["function"], "issues": kept }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_032_lint_keeps_issues_of_the_level_and_above() {
        let found = vec![
            json!({ "function": "public.a", "issues": [
                { "level": "error", "message": "relation \"nothing\" does not exist", "sqlState": "42P01" },
                { "level": "warning extra", "message": "never read variable \"x\"" },
            ]}),
            json!({ "function": "public.b", "issues": [{ "level": "performance", "message": "slow" }] }),
            json!({ "function": "public.c", "issues": [] }),
        ];

        let errors = filter_issues(found.clone(), LintLevel::Error);
        let warnings = filter_issues(found, LintLevel::Warning);

        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0]["issues"].as_array().map(Vec::len), Some(1));
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0]["issues"].as_array().map(Vec::len), Some(2));
    }
}
