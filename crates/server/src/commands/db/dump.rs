//! `selvedge db dump`: the project's schema, rows or roles as SQL, made by pg_dump.
//!
//! pg_dump is asked to leave the platform's schemas out. What it still writes about the platform (its publications, event
//! triggers and default privileges) is removed here, so that the text can run as a migration of another project.

use anyhow::{Context, Result, bail};
use selvedge_postgres::migrate::split_statements;
use tokio_postgres::Config as Login;

use crate::cli::DumpArgs;
use crate::config::Config;
use crate::database::client_program::ClientProgram;
use crate::database::target::TargetDatabase;
use crate::database::{HISTORY_SCHEMA, PLATFORM_SCHEMAS, embedded};
use crate::output::GOOD;

/// Runs `selvedge db dump`.
///
/// # Errors
/// When pg_dump is missing or fails, or the file cannot be written.
pub(super) async fn run(config: &Config, args: &DumpArgs) -> Result<()> {
    let Some(database) = TargetDatabase::find(config)? else {
        bail!(
            "{} is not running\n  start it with:  selvedge start",
            config.project.id
        );
    };
    let text = dump_login(config, &login_of(&database), args)?;
    match &args.file {
        None => print!("{text}"),
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
            anstream::eprintln!("{GOOD}written{GOOD:#} {}", file.display());
        }
    }
    Ok(())
}

/// The project's schema as statements of a migration; only these schemas if any are named.
pub(super) fn dump_schema(config: &Config, database: &TargetDatabase, schemas: &[String]) -> Result<String> {
    let args = DumpArgs {
        schema: schemas.to_vec(),
        ..DumpArgs::default()
    };
    dump_login(config, &login_of(database), &args)
}

fn login_of(database: &TargetDatabase) -> Login {
    match database {
        TargetDatabase::Running(holder) => embedded::login_to_running(holder, "postgres"),
        TargetDatabase::External(database) => database.login().clone(),
    }
}

/// The dump of the database to which `login` leads.
pub(super) fn dump_login(config: &Config, login: &Login, args: &DumpArgs) -> Result<String> {
    if args.role_only {
        let mut program = ClientProgram::find(config, "pg_dumpall")?;
        // Only superusers can read passwords.
        program.args(["--roles-only", "--no-role-passwords", "--quote-all-identifiers"]);
        return Ok(keep_project_roles(&program.run(login)?));
    }
    let mut program = ClientProgram::find(config, "pg_dump")?;
    program.args(["--quote-all-identifiers", "--role=postgres"]);
    program.args([if args.data_only {
        "--data-only"
    } else {
        "--schema-only"
    }]);
    if args.schema.is_empty() {
        // Users, buckets and the list of objects belong to the data of a project.
        let kept = |schema: &&str| !(args.data_only && matches!(*schema, "auth" | "storage"));
        let left_out = PLATFORM_SCHEMAS
            .iter()
            .copied()
            .filter(kept)
            .chain([HISTORY_SCHEMA]);
        program.args(left_out.map(|schema| format!("--exclude-schema={schema}")));
        program.args(["auth", "storage"].map(|schema| format!("--exclude-table-data={schema}.*migrations")));
    } else {
        program.args(args.schema.iter().map(|schema| format!("--schema={schema}")));
    }
    if args.data_only {
        // Seeds cannot hold rows in the form of COPY.
        program.args(["--column-inserts", "--rows-per-insert=1000"]);
        // Rows are loaded in any order, so that tables may refer to each other.
        let head = "set session_replication_role = replica;\n";
        return Ok(format!("{head}{}", without_commands(&program.run(login)?)));
    }
    keep_project_statements(&program.run(login)?)
}

/// Leaves out the two commands of psql that newer versions of pg_dump put around a dump.
fn without_commands(dump: &str) -> String {
    dump.lines()
        .filter(|line| !line.starts_with("\\restrict ") && !line.starts_with("\\unrestrict "))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Leaves out statements about the platform, and commands of psql.
pub(in crate::commands) fn keep_project_statements(dump: &str) -> Result<String> {
    let text = without_commands(dump);
    let statements = split_statements(&text).context("the dump cannot be read")?;
    let kept = statements
        .iter()
        .map(|statement| statement.text)
        .filter(|statement| !is_of_platform(without_comments(statement)));
    Ok(kept
        .map(|statement| format!("{};\n\n", without_comments(statement)))
        .collect())
}

/// The statement after the comment lines that pg_dump writes before each.
fn without_comments(statement: &str) -> &str {
    let mut rest = statement.trim();
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, after)| after.trim_start());
    }
    rest
}

fn is_of_platform(statement: &str) -> bool {
    let starts = [
        "ALTER DEFAULT PRIVILEGES FOR ROLE \"supabase_admin\"",
        "CREATE PUBLICATION \"supabase_realtime",
        "ALTER PUBLICATION \"supabase_realtime\" OWNER",
        "ALTER PUBLICATION \"supabase_realtime_messages",
        "CREATE EVENT TRIGGER",
        "ALTER EVENT TRIGGER",
        "COMMENT ON EXTENSION",
        "COMMENT ON SCHEMA \"public\"",
        "GRANT USAGE ON SCHEMA \"public\"",
        "GRANT ALL ON FUNCTION \"extensions\".",
        "GRANT ALL ON FUNCTION \"pg_catalog\".",
        "GRANT ALL ON TABLE \"extensions\".",
    ];
    // The levels of the console get rights on every table, which other databases do not have as roles.
    let is_grant = statement.starts_with("GRANT ") || statement.starts_with("ALTER DEFAULT PRIVILEGES ");
    let is_of_console = is_grant && statement.contains(" TO \"selvedge_console_");
    statement.is_empty() || is_of_console || starts.iter().any(|start| statement.starts_with(start))
}

fn keep_project_roles(dump: &str) -> String {
    let is_of_project = |line: &&str| {
        let role = line.split('"').nth(1).unwrap_or_default();
        (line.starts_with("CREATE ROLE") || line.starts_with("ALTER ROLE") || line.starts_with("GRANT"))
            && !selvedge_postgres::migrate::is_platform_role(role)
    };
    dump.lines()
        .filter(is_of_project)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_the_platform_and_commands_of_psql_are_left_out_of_a_dump() {
        let dump = "\\restrict abc\n--\n-- Name: notes\n--\n\nCREATE TABLE \"public\".\"notes\" (\n    \"id\" integer\n);\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"supabase_admin\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\";\n";

        assert_eq!(
            keep_project_statements(dump).unwrap(),
            "CREATE TABLE \"public\".\"notes\" (\n    \"id\" integer\n);\n\n"
        );
    }

    #[test]
    fn only_the_projects_roles_are_dumped() {
        let dump =
            "CREATE ROLE \"anon\";\nCREATE ROLE \"editor\";\nALTER ROLE \"editor\" WITH NOLOGIN;\n-- x\n";

        assert_eq!(
            keep_project_roles(dump),
            "CREATE ROLE \"editor\";\nALTER ROLE \"editor\" WITH NOLOGIN;\n"
        );
    }
}
