//! The project's schema: pg_dump reads it under the source's snapshot, and the target runs the adapted statements.

use std::path::Path;

use anyhow::{Context, Result};
use selvedge_postgres::migrate::{run_statements, split_statements};
use tokio_postgres::Client;

use super::roles::list_roles;
use super::source::Source;
use crate::commands::db::keep_project_statements;
use crate::config::Config;
use crate::database::client_program::ClientProgram;
use crate::output;

/// The file name in error messages about these statements.
const NAME: &str = "schema of the source";

/// The statements of a dump, in the three parts in which the import runs them.
pub(super) struct SchemaDump {
    /// Statements that create schemas; they run before the extensions, which may be in one of the schemas.
    pub(super) schemas: String,
    /// Types, functions, tables and views.
    pub(super) before_rows: String,
    /// Indexes, constraints, triggers and policies.
    pub(super) after_rows: String,
}

impl SchemaDump {
    /// Dumps the source's schema without what belongs to the platform or to roles that the target does not have.
    ///
    /// # Errors
    /// When pg_dump fails, for example because it is older than the source's PostgreSQL.
    pub(super) async fn read(config: &Config, source: &Source, target: &Client) -> Result<Self> {
        let own = list_roles(target).await?;
        let mut missing_roles = list_roles(&source.client).await?;
        missing_roles.retain(|role| !own.contains(role));
        let excluded = list_excluded(source).await?;
        let dump = |section: &str| -> Result<Vec<String>> {
            let text = run_pg_dump(config, source, &excluded, section)?;
            adapt_statements(&keep_project_statements(&text)?, &source.schemas, &missing_roles)
        };
        let (schemas, before): (Vec<String>, Vec<String>) = dump("pre-data")?
            .into_iter()
            .partition(|statement| is_about_schema(statement));
        let join = |statements: Vec<String>| statements.join(";\n\n");
        Ok(Self {
            schemas: join(schemas),
            before_rows: join(before),
            after_rows: join(dump("post-data")?),
        })
    }
}

/// Runs statements of the dump in the import's transaction.
pub(super) async fn run(target: &Client, statements: &str) -> Result<()> {
    run_statements(target, Path::new(NAME), statements, |line| {
        output::print_warnings(&[line])
    })
    .await?;
    Ok(())
}

/// Lists the source's schemas that do not belong to the project.
async fn list_excluded(source: &Source) -> Result<Vec<String>> {
    let rows = source
        .client
        .query(
            "select nspname::text from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
               and nspname <> all ($1::text[])",
            &[&source.schemas],
        )
        .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

fn run_pg_dump(config: &Config, source: &Source, excluded: &[String], section: &str) -> Result<String> {
    let mut program = ClientProgram::find(config, "pg_dump")?;
    program
        .args([
            "--quote-all-identifiers",
            "--no-security-labels",
            "--no-subscriptions",
            "--no-tablespaces",
        ])
        .args([
            format!("--section={section}"),
            format!("--snapshot={}", source.snapshot),
        ])
        // Quoted, because pg_dump takes an unquoted name for a pattern.
        .args(
            excluded
                .iter()
                .map(|schema| format!("--exclude-schema=\"{schema}\"")),
        );
    program.run(&source.login).context(
        "pg_dump cannot read the source. It has to be of the source's version or a newer one: install that version's \
         client programs, and put them first on PATH",
    )
}

/// Splits a dump into statements, drops those that the target cannot run, and replaces the owner `supabase_admin` by `postgres`.
fn adapt_statements(text: &str, schemas: &[String], missing_roles: &[String]) -> Result<Vec<String>> {
    let statements = split_statements(text).context("the dump cannot be read")?;
    let adapted = statements
        .iter()
        .map(|statement| statement.text.trim())
        .filter(|statement| !is_left_out(statement, schemas, missing_roles))
        .map(|statement| statement.replace(" OWNER TO \"supabase_admin\"", " OWNER TO \"postgres\""));
    Ok(adapted.collect())
}

fn is_left_out(statement: &str, schemas: &[String], missing_roles: &[String]) -> bool {
    // Extensions exist already. Newer versions of pg_dump write `SET transaction_timeout`, which older servers refuse.
    statement.starts_with("CREATE EXTENSION ")
        || statement.starts_with("SET transaction_timeout")
        // PostgreSQL allows only superusers to own a foreign data wrapper.
        || (statement.starts_with("ALTER FOREIGN DATA WRAPPER ") && statement.contains(" OWNER TO "))
        || are_privileges_left_out(statement, schemas, missing_roles)
}

/// Whether a GRANT, REVOKE or ALTER DEFAULT PRIVILEGES names a role that the target does not have, or an object of the platform.
fn are_privileges_left_out(statement: &str, schemas: &[String], missing_roles: &[String]) -> bool {
    let (start, is_default) = match statement.split_once(' ') {
        Some(("GRANT" | "REVOKE", _)) => (" ON ", false),
        Some(("ALTER", rest)) if rest.starts_with("DEFAULT PRIVILEGES ") => (" IN ", true),
        _ => return false,
    };
    if missing_roles
        .iter()
        .any(|role| statement.contains(&format!("\"{role}\"")))
    {
        return true;
    }
    // The first quoted name is a schema in `FUNCTION "schema"."name"(…)` and `SCHEMA "schema"`, but not in `FOREIGN SERVER
    // "name"`.
    let object = statement
        .split_once(start)
        .and_then(|(_, object)| object.split_once('"'));
    let Some((schema, rest)) = object.and_then(|(_, name)| name.split_once('"')) else {
        return false;
    };
    let is_schema = is_default || statement.contains(" ON SCHEMA ") || rest.starts_with('.');
    is_schema && !schemas.iter().any(|own| own == schema)
}

/// Whether a statement creates or changes a schema, or is one of the settings at the start of a dump.
fn is_about_schema(statement: &str) -> bool {
    [
        "CREATE SCHEMA ",
        "ALTER SCHEMA ",
        "SET ",
        "SELECT pg_catalog.set_config(",
    ]
    .iter()
    .any(|start| statement.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapt_statements_drops_what_the_target_cannot_run() {
        let dump = "SET transaction_timeout = 0;\nCREATE EXTENSION \"vector\";\n\
                    ALTER TABLE \"public\".\"a\" OWNER TO \"supabase_admin\";\n\
                    GRANT ALL ON TABLE \"public\".\"a\" TO \"supabase_privileged_role\";\n\
                    GRANT ALL ON TABLE \"public\".\"a\" TO \"anon\";\n\
                    GRANT ALL ON FUNCTION \"cron\".\"alter_job\"(bigint) TO \"postgres\";\n\
                    GRANT USAGE ON SCHEMA \"cron\" TO \"postgres\";\n\
                    GRANT ALL ON FOREIGN SERVER \"other\" TO \"postgres\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"storage\" GRANT ALL ON TABLES TO \"anon\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\";\n";
        let missing = ["supabase_privileged_role".to_owned()];

        assert_eq!(
            adapt_statements(dump, &["public".to_owned()], &missing).unwrap(),
            [
                "ALTER TABLE \"public\".\"a\" OWNER TO \"postgres\"",
                "GRANT ALL ON TABLE \"public\".\"a\" TO \"anon\"",
                "GRANT ALL ON FOREIGN SERVER \"other\" TO \"postgres\"",
                "ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\"",
            ]
        );
    }
}
