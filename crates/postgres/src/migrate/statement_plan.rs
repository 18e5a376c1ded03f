//! Decides how the statements of a project's files are sent that PostgreSQL reserves for superusers and Supabase does not.
//!
//! In the embedded cluster `postgres` creates extensions by itself (see `cluster::program_tree`), and statements about them
//! are sent as written. On other servers PostgreSQL reserves many extensions: there the statements become calls of
//! functions of the platform schema, which have more rights and run the scripts of shipped extensions. Event triggers and
//! the like become calls everywhere.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use tokio_postgres::Client;

use super::{
    dblink_grant::name_domain,
    do_block::rewrite_do_block,
    error::MigrateError,
    extension::ExtensionStatement,
    migration_file::read_file,
    missing_extension::{ExtensionUse, check_extensions, list_ignorable_absent},
    run::{BATCH_BYTES, Script},
    statement_reader::first_word,
    superuser_statement::find_substitute,
};
use crate::extensions::SHIPPED;

/// How statements are sent to one server.
#[derive(Debug)]
pub(crate) struct StatementPlan {
    major_version: u32,
    /// Extensions that are not created: they exist already, or the project can do without them.
    skipped: BTreeSet<String>,
    /// Extensions that the server lacks and a project can do without. `drop extension` of one is left out, because PostgreSQL would refuse
    /// it.
    absent: BTreeSet<String>,
    /// Extensions that are created by functions of the platform schema: PostgreSQL reserves them for superusers, or lacks
    /// the files of a shipped one.
    by_platform: BTreeSet<String>,
    /// Most text of one message. With Citus it is 0, so that statements are sent one by one: for some statements Citus sends the
    /// text of the whole message to its other nodes.
    pub(crate) batch_bytes: usize,
}

impl StatementPlan {
    /// The statement that is sent for `statement`. There is one also for those that are skipped, because completions are
    /// counted to find the statement that failed.
    pub(crate) fn plan(&self, statement: &str) -> String {
        let planned = match first_word(statement).to_ascii_lowercase().as_str() {
            "create" | "alter" | "drop" | "comment" => self.plan_single(statement),
            "grant" | "revoke" => name_domain(statement),
            "do" => rewrite_do_block(statement, |inner| self.plan_in_plpgsql(inner)),
            _ => None,
        };
        planned.unwrap_or_else(|| statement.to_owned())
    }

    fn plan_single(&self, statement: &str) -> Option<String> {
        match ExtensionStatement::parse(statement) {
            Some(extension) => self
                .plan_extension(&extension)
                .map(|query| format!("select {query}")),
            None => find_substitute(statement, self.major_version).map(|found| found.to_statement()),
        }
    }

    fn plan_in_plpgsql(&self, statement: &str) -> Option<String> {
        match ExtensionStatement::parse(statement) {
            Some(extension) => self
                .plan_extension(&extension)
                .map(|query| format!("perform {query}")),
            None => find_substitute(statement, self.major_version).map(|found| found.to_plpgsql()),
        }
    }

    /// Returns the SELECT that replaces the statement.
    fn plan_extension(&self, extension: &ExtensionStatement) -> Option<String> {
        if let ExtensionStatement::Create { name, .. } = extension
            && self.skipped.contains(name)
        {
            return Some("null".to_owned());
        }
        if let ExtensionStatement::Drop { names, .. } = extension
            && names.iter().all(|name| self.absent.contains(name))
        {
            return Some("null".to_owned());
        }
        extension
            .names()
            .iter()
            .any(|name| self.by_platform.contains(*name))
            .then(|| extension.to_query())
    }
}

/// Finds the extensions that files create. Files that cannot be split are passed over: running them reports why.
///
/// # Errors
/// When a file cannot be read.
pub fn find_extension_uses(files: &[PathBuf]) -> Result<Vec<ExtensionUse>, MigrateError> {
    let mut uses = Vec::new();
    for path in files {
        let text = read_file(path)?;
        if let Ok(script) = Script::parse(path, &text) {
            uses.extend(created_extensions(&script));
        }
    }
    Ok(uses)
}

fn created_extensions(script: &Script<'_>) -> Vec<ExtensionUse> {
    let path: &Path = script.path;
    script
        .statements
        .iter()
        .filter_map(|statement| match ExtensionStatement::parse(statement.text)? {
            ExtensionStatement::Create { name, .. } => Some(ExtensionUse {
                path: path.to_owned(),
                line: statement.line,
                name,
            }),
            ExtensionStatement::Drop { .. } => None,
        })
        .collect()
}

/// Checks the extensions that `scripts` create (GW-019), before any of them runs, and decides how statements are sent. A
/// missing extension that a project can do without is a warning.
///
/// # Errors
/// [`MigrateError::MissingExtensions`] when there are missing ones that the project needs.
pub(crate) async fn plan_statements(
    client: &Client,
    scripts: &[Script<'_>],
    warn: &mut impl FnMut(String),
) -> Result<StatementPlan, MigrateError> {
    let server = ServerExtensions::read(client).await?;
    let uses: Vec<ExtensionUse> = scripts.iter().flat_map(created_extensions).collect();
    let mut plan = StatementPlan {
        major_version: server.major_version,
        absent: list_ignorable_absent(&server.available),
        skipped: server.installed_by_script,
        by_platform: server.reserved,
        batch_bytes: if server.has_citus { 0 } else { BATCH_BYTES },
    };
    for (name, warning) in check_extensions(&uses, &server.available, server.major_version)? {
        warn(warning);
        plan.skipped.insert(name);
    }
    // PostgreSQL refuses another schema than that of the control file, which projects name all the same; the function of
    // the platform passes it over.
    let has_own_schema = |control: &str| control.lines().any(|line| line.starts_with("schema"));
    plan.by_platform.extend(
        SHIPPED
            .iter()
            .filter(|shipped| !server.available.contains(shipped.name) || has_own_schema(shipped.control))
            .map(|shipped| shipped.name.to_owned()),
    );
    Ok(plan)
}

/// The extensions that are installed or available on the server.
struct ServerExtensions {
    major_version: u32,
    has_citus: bool,
    available: BTreeSet<String>,
    /// Those of `available` that only superusers may create.
    reserved: BTreeSet<String>,
    /// Shipped extensions whose scripts were run on this database, by itself or before the server had their files.
    installed_by_script: BTreeSet<String>,
}

impl ServerExtensions {
    async fn read(client: &Client) -> Result<Self, MigrateError> {
        let server = client
            .query_one(
                "select current_setting('server_version_num')::int / 10000,
                   exists (select from pg_catalog.pg_extension where extname = 'citus')",
                &[],
            )
            .await?;
        let version: i32 = server.get(0);
        let known = client
            .query(
                "select name::text, not bool_or(trusted or not superuser)
                 from pg_available_extension_versions group by name",
                &[],
            )
            .await?;
        // By the name that databases of every version have (sql/platform/0231_table_names.sql).
        let installed = client
            .query("select name from _selvedge.installed_extensions", &[])
            .await?;
        Ok(Self {
            installed_by_script: installed.iter().map(|row| row.get(0)).collect(),
            major_version: version.unsigned_abs(),
            has_citus: server.get(1),
            available: known.iter().map(|row| row.get(0)).collect(),
            reserved: known
                .iter()
                .filter(|row| row.get(1))
                .map(|row| row.get(0))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_only_what_the_server_reserves_is_rewritten() {
        let plan = StatementPlan {
            major_version: 15,
            skipped: BTreeSet::from(["http".to_owned()]),
            absent: BTreeSet::from(["pg_graphql".to_owned(), "http".to_owned()]),
            by_platform: BTreeSet::from(["dblink".to_owned()]),
            batch_bytes: BATCH_BYTES,
        };
        let cases = [
            ("create extension http", "select null"),
            ("drop extension pg_graphql cascade", "select null"),
            (
                "do $$ begin drop extension pg_graphql; end $$",
                "do $$ begin perform null; end $$",
            ),
            (
                "drop extension pg_graphql, citext",
                "drop extension pg_graphql, citext",
            ),
            ("create extension citext", "create extension citext"),
            (
                "drop extension if exists pg_net",
                "drop extension if exists pg_net",
            ),
            (
                "drop extension citext, dblink",
                "select _selvedge.drop_extension(name, false, false) from unnest(array['citext', 'dblink']) as name",
            ),
            (
                "-- why\ncreate extension dblink schema extensions",
                "select _selvedge.create_extension('dblink', false, 'extensions', null, false)",
            ),
            (
                "do $$ begin create extension dblink schema extensions; create extension citext; end $$",
                "do $$ begin perform _selvedge.create_extension('dblink', false, 'extensions', null, false); \
                 create extension citext; end $$",
            ),
            (
                "grant execute on function dblink_connect(text) to anon",
                "grant execute on function dblink_connect(dblink_connection) to anon",
            ),
            (
                "insert into t values ('create extension http')",
                "insert into t values ('create extension http')",
            ),
        ];

        for (statement, sent) in cases {
            assert_eq!(plan.plan(statement), sent);
        }
    }
}
