//! `selvedge db dump`: the project's schema, rows or roles as SQL, made by pg_dump.
//!
//! pg_dump is asked to leave the platform's schemas out. What it still writes about the platform (its publications, event
//! triggers and default privileges) is removed here, so that the text can run as a migration of another project. What it leaves out is
//! added: policies and triggers on the platform's tables, and that nobody gets rights by the default privileges of a new project.

use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::additions::{list_additions, write_additions};
use selvedge_database::client_program::ClientProgram;
use selvedge_database::dump_statements::{keep_project_statements, without_commands};
use selvedge_database::target::TargetDatabase;
use selvedge_database::{HISTORY_SCHEMA, PLATFORM_SCHEMAS};
use selvedge_postgres::migrate::replace_file;
use selvedge_terminal::{GOOD, print_text};
use tokio_postgres::Config as Login;

use crate::cli::DumpArgs;

/// Runs `selvedge db dump`.
///
/// # Errors
/// When pg_dump is missing or fails, or the file cannot be written.
pub(super) async fn run(config: &Config, args: &DumpArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    let text = dump_database(config, &database, args).await?;
    match &args.file {
        None => print_text(&text)?,
        Some(file) => {
            replace_file(file, &text)?;
            anstream::eprintln!("{GOOD}written{GOOD:#} {}", file.display());
        }
    }
    Ok(())
}

/// The project's schema as statements of a migration; only these schemas if any are named.
pub(super) async fn dump_schema(
    config: &Config,
    database: &TargetDatabase,
    schemas: &[String],
) -> Result<String> {
    let args = DumpArgs {
        schema: schemas.to_vec(),
        ..DumpArgs::default()
    };
    dump_database(config, database, &args).await
}

async fn dump_database(config: &Config, database: &TargetDatabase, args: &DumpArgs) -> Result<String> {
    let additions = match has_additions(args) {
        true => list_additions(&database.connect().await?).await?,
        false => Vec::new(),
    };
    let text = database
        .with_login(|login| dump_login(config, login, args))
        .await?;
    Ok(text + &write_additions(&additions))
}

/// Whether a dump with these arguments is of the whole schema, which the project's additions to the platform's tables belong to.
fn has_additions(args: &DumpArgs) -> bool {
    args.schema.is_empty() && !args.data_only && !args.role_only
}

/// The dump of the database to which `login` leads, which has the rights of `postgres`: indexes, rules and policies of the project run
/// code of it while pg_dump reads.
pub(super) fn dump_login(config: &Config, login: &Login, args: &DumpArgs) -> Result<String> {
    if args.role_only {
        let mut program = ClientProgram::find(config, "pg_dumpall")?;
        // Only superusers can read passwords.
        program.args(["--roles-only", "--no-role-passwords", "--quote-all-identifiers"]);
        return Ok(keep_project_roles(&program.run(login)?));
    }
    let mut program = ClientProgram::find(config, "pg_dump")?;
    program.args(["--quote-all-identifiers"]);
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
    let has_public = args.schema.is_empty() || args.schema.iter().any(|schema| schema == "public");
    keep_project_statements(&program.run(login)?, has_public)
}

fn keep_project_roles(dump: &str) -> String {
    let is_platform = selvedge_postgres::migrate::is_platform_role;
    let is_of_project = |line: &&str| {
        let mut names = line.split('"').skip(1).step_by(2);
        let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        match line.split_once(' ') {
            Some(("CREATE", rest)) => rest.starts_with("ROLE") && !is_platform(first),
            // What the project has set for a role of the API is the project's as well.
            Some(("ALTER", rest)) if rest.starts_with("ROLE") && line.contains("\" SET ") => {
                !is_platform(first)
                    || matches!(first, "anon" | "authenticated" | "service_role" | "authenticator")
            }
            Some(("ALTER", rest)) => rest.starts_with("ROLE") && !is_platform(first),
            // The granted role and its member: one of them is the project's.
            Some(("GRANT", _)) => !is_platform(first) || !is_platform(second),
            _ => false,
        }
    };
    // `postgres` may not even say of a role that it is none of these.
    let without_reserved = |line: &str| match line.starts_with("ALTER ROLE ") && line.contains("\" WITH ") {
        true => line.replace(" NOSUPERUSER", "").replace(" NOREPLICATION", ""),
        false => line.to_owned(),
    };
    dump.lines()
        .filter(is_of_project)
        .map(|line| without_reserved(line) + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_projects_roles_are_dumped() {
        let dump = "CREATE ROLE \"anon\";\nALTER ROLE \"anon\" WITH NOLOGIN;\nCREATE ROLE \"editor\";\nALTER ROLE \"editor\" WITH NOSUPERUSER NOLOGIN;\n-- x\n\
             ALTER ROLE \"anon\" SET \"statement_timeout\" TO '3s';\nGRANT \"editor\" TO \"anon\" GRANTED BY \"postgres\";\n\
             GRANT \"anon\" TO \"authenticator\";\n";

        assert_eq!(
            keep_project_roles(dump),
            "CREATE ROLE \"editor\";\nALTER ROLE \"editor\" WITH NOLOGIN;\n\
             ALTER ROLE \"anon\" SET \"statement_timeout\" TO '3s';\nGRANT \"editor\" TO \"anon\" GRANTED BY \"postgres\";\n"
        );
    }
}
