//! The project's schema: pg_dump reads it under the source's snapshot, and the target runs the adapted statements.

pub(crate) mod extensions;
pub(crate) mod owners;
pub(crate) mod platform;
pub(crate) mod rights;
pub(crate) mod roles;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use selvedge_config::Config;
use selvedge_database::client_program::ClientProgram;
use selvedge_database::dump_statements::keep_imported_statements;
use selvedge_postgres::migrate::{join_statements, run_statements, split_statements};
use selvedge_terminal::print_warnings;
use tokio_postgres::Client;

use crate::report::Report;
use crate::source::Source;
use roles::list_roles;

/// The file name in error messages about these statements.
const NAME: &str = "schema of the source";

/// The statements of a dump, in the three parts in which the import runs them.
pub(crate) struct SchemaDump {
    /// Statements that create schemas; they run before the extensions, which may be in one of the schemas.
    pub(crate) schemas: String,
    /// Types, functions, tables and views.
    pub(crate) before_rows: String,
    /// Indexes, constraints, triggers and policies.
    pub(crate) after_rows: String,
    /// The roles that get objects.
    pub(crate) owners: BTreeSet<String>,
}

/// What decides which statements of a dump the target runs.
struct Adaption<'a> {
    /// The project's schemas.
    schemas: &'a [String],
    /// Roles of the source that the target does not have.
    missing: Vec<String>,
    /// Roles of the target that may be given objects.
    owners: Vec<String>,
    /// Schema and name of objects of extensions, whose rights are those that the target gives.
    of_extensions: BTreeSet<(String, String)>,
    /// Whether the target has the privilege MAINTAIN, as PostgreSQL does from version 17 on.
    has_maintain: bool,
}

const HAS_MAINTAIN: &str = "select current_setting('server_version_num')::int >= 170000";

/// Functions and relations of extensions that share their name with none of the project.
const OF_EXTENSIONS: &str = "
    with objects as (
      select 'pg_proc'::regclass as class, oid, pronamespace as namespace, proname as name from pg_proc
      union all
      select 'pg_class'::regclass, oid, relnamespace, relname from pg_class
    )
    select n.nspname::text, o.name::text
    from objects as o join pg_namespace as n on n.oid = o.namespace
    where n.nspname = any ($1::text[])
    group by 1, 2
    having bool_and(exists (
      select from pg_depend as d where d.classid = o.class and d.objid = o.oid and d.deptype = 'e'
    ))";

impl SchemaDump {
    /// Dumps the source's schema without what belongs to the platform or to roles that the target does not have.
    ///
    /// # Errors
    /// When pg_dump fails, for example because it is older than the source's PostgreSQL.
    pub(crate) async fn read(
        config: &Config,
        source: &Source,
        target: &Client,
        owners: Vec<String>,
        report: &mut Report,
    ) -> Result<Self> {
        let own = list_roles(target).await?;
        let mut missing = list_roles(&source.client).await?;
        missing.retain(|role| !own.contains(role));
        let of_extensions = source.client.query(OF_EXTENSIONS, &[&source.schemas]).await?;
        let adaption = Adaption {
            schemas: &source.schemas,
            missing,
            owners,
            of_extensions: of_extensions.iter().map(|row| (row.get(0), row.get(1))).collect(),
            has_maintain: target.query_one(HAS_MAINTAIN, &[]).await?.get(0),
        };
        let excluded = list_excluded(source).await?;
        let mut dump = |section: &str| -> Result<Vec<String>> {
            let text = run_pg_dump(config, source, &excluded, section)?;
            adapt_statements(&keep_imported_statements(&text)?, &adaption, report)
        };
        let (schemas, before): (Vec<String>, Vec<String>) = dump("pre-data")?
            .into_iter()
            .partition(|statement| is_about_schema(statement));
        let after = dump("post-data")?;
        let owned = before
            .iter()
            .chain(&after)
            .filter_map(|statement| split_owner(statement));
        Ok(Self {
            owners: owned.map(|(_, owner)| owner).collect(),
            schemas: join_statements(&schemas),
            before_rows: join_statements(&before),
            after_rows: join_statements(&after),
        })
    }
}

/// Runs statements of the dump in the import's transaction.
pub(crate) async fn run(target: &Client, statements: &str) -> Result<()> {
    run_statements(target, Path::new(NAME), statements, |line| {
        print_warnings(&[line])
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
        "pg_dump cannot read the source. One of the source's version or a newer one has to be on this machine: install that \
         version's client programs, and put them on PATH",
    )
}

/// A statement of the dump for the target, or why it is left out.
enum Adapted {
    Kept(String),
    /// It is the platform's, or has no meaning here.
    OfPlatform,
    /// It names a role that the target does not have.
    OfMissingRole(String),
    /// The statement names no privilege but MAINTAIN, so nothing of it is left.
    OfMissingPrivilege,
    /// It makes `postgres` the owner, instead of a role that the target does not have, or that owns nothing there.
    OfMissingOwner {
        statement: String,
        role: String,
    },
}

/// Splits a dump into statements, drops those that the target cannot run, and replaces the owner `supabase_admin` by `postgres`.
fn adapt_statements(text: &str, adaption: &Adaption<'_>, report: &mut Report) -> Result<Vec<String>> {
    let statements = split_statements(text).context("the dump cannot be read")?;
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements {
        match adapt_statement(statement.text.trim(), adaption) {
            Adapted::Kept(statement) => kept.push(statement),
            Adapted::OfPlatform => {}
            Adapted::OfMissingOwner { statement, role } => {
                report.leave_out(format!(
                    "the owner {role}, who can own nothing here, so that postgres does: {statement}"
                ));
                kept.push(statement);
            }
            Adapted::OfMissingRole(role) => report.leave_out(format!(
                "a right of role {role}, which is not here: {}",
                statement.text.trim()
            )),
            Adapted::OfMissingPrivilege => report.leave_out(format!(
                "a right that PostgreSQL has from version 17 on: {}",
                statement.text.trim()
            )),
        }
    }
    Ok(kept)
}

fn adapt_statement(statement: &str, adaption: &Adaption<'_>) -> Adapted {
    // Extensions exist already. Newer versions of pg_dump write `SET transaction_timeout`, which older servers refuse. Rights that
    // somebody else than the owner has granted are granted by the owner here.
    let is_left_out = statement.starts_with("CREATE EXTENSION ")
        || statement.starts_with("SET transaction_timeout")
        || statement.starts_with("SET SESSION AUTHORIZATION ")
        || statement.starts_with("RESET SESSION AUTHORIZATION")
        // PostgreSQL allows only superusers to own a foreign data wrapper.
        || (statement.starts_with("ALTER FOREIGN DATA WRAPPER ") && statement.contains(" OWNER TO "))
        // Nor may anybody else be given a publication of all tables. Each belongs to `postgres` at the end.
        || (statement.starts_with("ALTER PUBLICATION ") && statement.contains(" OWNER TO "));
    if is_left_out {
        return Adapted::OfPlatform;
    }
    if let Some(role) = find_missing_role(statement, adaption) {
        return Adapted::OfMissingRole(role);
    }
    if is_right_on_platform(statement, adaption.schemas) || is_right_on_extension(statement, adaption) {
        return Adapted::OfPlatform;
    }
    if is_about_rights(statement) && !adaption.has_maintain {
        return without_maintain(statement).map_or(Adapted::OfMissingPrivilege, Adapted::Kept);
    }
    match split_owner(statement) {
        Some((start, owner)) if owner == "supabase_admin" => {
            Adapted::Kept(format!("{start} OWNER TO \"postgres\""))
        }
        Some((start, owner)) if !adaption.owners.contains(&owner) => Adapted::OfMissingOwner {
            statement: format!("{start} OWNER TO \"postgres\""),
            role: owner,
        },
        _ => Adapted::Kept(statement.to_owned()),
    }
}

/// The parts of `ALTER … OWNER TO "role"`. Only at the end of an ALTER, because the same words may stand in the body of a
/// function.
fn split_owner(statement: &str) -> Option<(&str, String)> {
    let before = " OWNER TO ";
    let (start, owner) = statement
        .rfind(before)
        .map(|position| (&statement[..position], &statement[position + before.len()..]))?;
    let words = read_words(owner);
    let [word] = words.as_slice() else {
        return None;
    };
    let is_alter = start.starts_with("ALTER ") && owner.ends_with('"');
    Some((start, word.strip_prefix('"')?.to_owned())).filter(|_| is_alter)
}

/// The role that a GRANT, REVOKE or ALTER DEFAULT PRIVILEGES is about, if the target does not have it: the grantee at the end,
/// or the role whose default privileges they are. Objects may have the name of a role; they do not count.
fn find_missing_role(statement: &str, adaption: &Adaption<'_>) -> Option<String> {
    if !is_about_rights(statement) {
        return None;
    }
    let is_default = statement.starts_with("ALTER DEFAULT PRIVILEGES ");
    let words = read_words(statement);
    let after = |position: usize| words.get(position + 1).cloned();
    let named = |position: usize| Some(after(position)?.strip_prefix('"')?.to_owned());
    // Default privileges are changed by those who are members of the role.
    let of_role = words
        .iter()
        .position(|word| word == "ROLE")
        .filter(|_| is_default);
    if let Some(role) = of_role
        .and_then(named)
        .filter(|role| !adaption.owners.contains(role))
    {
        return Some(role);
    }
    // The dump quotes all names, so these words are keywords.
    let to = words.iter().rposition(|word| word == "TO" || word == "FROM");
    to.and_then(named).filter(|role| adaption.missing.contains(role))
}

/// Whether a statement gives or takes rights.
fn is_about_rights(statement: &str) -> bool {
    ["GRANT ", "REVOKE ", "ALTER DEFAULT PRIVILEGES "]
        .iter()
        .any(|start| statement.starts_with(start))
}

/// A statement about rights without the privilege MAINTAIN, which pg_dump writes of servers that have it wherever a role has not all
/// privileges; `None` if it names no other privilege.
fn without_maintain(statement: &str) -> Option<String> {
    // Names are quoted, so every other part lies outside of them; a doubled quote in a name makes an empty part.
    let adapt = |(index, part): (usize, &str)| match index % 2 {
        0 => part.replace("MAINTAIN,", "").replace(",MAINTAIN", ""),
        _ => part.to_owned(),
    };
    let parts: Vec<String> = statement.split('"').enumerate().map(adapt).collect();
    let has_no_other = parts.iter().step_by(2).any(|part| part.contains("MAINTAIN"));
    (!has_no_other).then(|| parts.join("\""))
}

/// The words of a statement; a quoted name is one word that begins with a quote and has none at its end.
fn read_words(statement: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = statement;
    while let Some(start) = rest.find(|char: char| char == '"' || char.is_ascii_alphabetic()) {
        rest = &rest[start..];
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::from("\"");
            rest = quoted;
            while let Some(end) = rest.find('"') {
                name += &rest[..end];
                rest = &rest[end + 1..];
                let Some(after) = rest.strip_prefix('"') else {
                    break;
                };
                name.push('"');
                rest = after;
            }
            words.push(name);
        } else {
            let end = rest
                .find(|char: char| !char.is_ascii_alphabetic())
                .unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    words
}

/// Whether a GRANT, REVOKE or ALTER DEFAULT PRIVILEGES is about an object of the platform.
fn is_right_on_platform(statement: &str, schemas: &[String]) -> bool {
    let (start, is_default) = match statement.split_once(' ') {
        Some(("GRANT" | "REVOKE", _)) => (" ON ", false),
        Some(("ALTER", rest)) if rest.starts_with("DEFAULT PRIVILEGES ") => (" IN ", true),
        _ => return false,
    };
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

/// Whether a GRANT or REVOKE is about an object of an extension, which belongs to a superuser here, or about a foreign-data wrapper of one
/// that `postgres` may use.
fn is_right_on_extension(statement: &str, adaption: &Adaption<'_>) -> bool {
    if !statement.starts_with("GRANT ") && !statement.starts_with("REVOKE ") {
        return false;
    }
    if statement.contains(" ON FOREIGN DATA WRAPPER ") {
        return statement.contains(" TO \"postgres\"") || statement.contains(" FROM \"postgres\"");
    }
    let words = read_words(statement);
    let object = words.iter().skip_while(|word| *word != "ON");
    let mut names = object.filter_map(|word| word.strip_prefix('"').map(str::to_owned));
    match (names.next(), names.next()) {
        (Some(schema), Some(name)) => adaption.of_extensions.contains(&(schema, name)),
        _ => false,
    }
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
                    ALTER TABLE \"public\".\"b\" OWNER TO \"old \"\"owner\"\"\";\n\
                    GRANT ALL ON TABLE \"public\".\"a\" TO \"supabase_privileged_role\";\n\
                    GRANT ALL ON TABLE \"public\".\"a\" TO \"anon\";\n\
                    GRANT ALL ON FUNCTION \"cron\".\"alter_job\"(bigint) TO \"postgres\";\n\
                    GRANT USAGE ON SCHEMA \"cron\" TO \"postgres\";\n\
                    GRANT ALL ON FOREIGN SERVER \"other\" TO \"postgres\";\n\
                    GRANT ALL ON FOREIGN DATA WRAPPER \"w\" TO \"postgres\" WITH GRANT OPTION;\n\
                    GRANT ALL ON FUNCTION \"public\".\"dblink\"(\"text\") TO \"anon\";\n\
                    ALTER PUBLICATION \"all_of_it\" OWNER TO \"postgres\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"storage\" GRANT ALL ON TABLES TO \"anon\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\";\n";
        let schemas = ["public".to_owned()];
        let adaption = Adaption {
            schemas: &schemas,
            missing: vec!["supabase_privileged_role".to_owned(), "old \"owner\"".to_owned()],
            owners: vec!["postgres".to_owned()],
            of_extensions: [("public".to_owned(), "dblink".to_owned())].into(),
            has_maintain: true,
        };
        let mut report = Report::default();

        assert_eq!(
            adapt_statements(dump, &adaption, &mut report).unwrap(),
            [
                "ALTER TABLE \"public\".\"a\" OWNER TO \"postgres\"",
                "ALTER TABLE \"public\".\"b\" OWNER TO \"postgres\"",
                "GRANT ALL ON TABLE \"public\".\"a\" TO \"anon\"",
                "GRANT ALL ON FOREIGN SERVER \"other\" TO \"postgres\"",
                "ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\"",
            ]
        );
    }

    #[test]
    fn an_object_with_the_name_of_a_missing_role_keeps_its_rights() {
        let dump = "REVOKE ALL ON FUNCTION \"public\".\"app9\"(\"x\" integer) FROM PUBLIC;\n\
                    REVOKE ALL ON FUNCTION \"app9\".\"f\"() FROM \"anon\";\n\
                    GRANT SELECT ON TABLE \"public\".\"t\" TO \"app9\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"app9\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"app9\" REVOKE ALL ON TABLES FROM \"anon\";\n\
                    CREATE FUNCTION \"public\".\"g\"() RETURNS \"text\" LANGUAGE \"sql\" AS $$ select ' OWNER TO \"supabase_admin\"' $$;\n";
        let schemas = ["public".to_owned(), "app9".to_owned()];
        let mut report = Report::default();

        let adaption = Adaption {
            schemas: &schemas,
            missing: vec!["app9".to_owned()],
            owners: vec!["postgres".to_owned()],
            of_extensions: BTreeSet::new(),
            has_maintain: true,
        };
        let kept = adapt_statements(dump, &adaption, &mut report).unwrap();

        assert_eq!(kept.len(), 4, "{kept:?}");
        assert!(kept[0].contains("\"app9\"(") && kept[1].contains("\"app9\".\"f\""));
        assert!(kept[2].contains("IN SCHEMA \"app9\"") && kept[3].contains("OWNER TO \"supabase_admin\""));
    }

    #[test]
    fn a_privilege_that_the_target_does_not_have_is_left_out_of_its_list() {
        let dump = "GRANT SELECT,MAINTAIN,UPDATE ON TABLE \"public\".\"a MAINTAIN, b\" TO \"anon\";\n\
                    GRANT MAINTAIN,UPDATE ON TABLE \"public\".\"a\"\"MAINTAIN,\" TO \"anon\" WITH GRANT OPTION;\n\
                    GRANT MAINTAIN ON TABLE \"public\".\"a\" TO \"anon\";\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT INSERT,MAINTAIN ON TABLES TO \"anon\";\n\
                    CREATE FUNCTION \"public\".\"g\"() RETURNS \"text\" LANGUAGE \"sql\" AS $$ select 'MAINTAIN,' $$;\n";
        let adapt = |has_maintain: bool| {
            let adaption = Adaption {
                schemas: &["public".to_owned()],
                missing: Vec::new(),
                owners: vec!["postgres".to_owned()],
                of_extensions: BTreeSet::new(),
                has_maintain,
            };
            adapt_statements(dump, &adaption, &mut Report::default()).unwrap()
        };

        let kept = adapt(false);
        assert_eq!(
            kept[..3],
            [
                "GRANT SELECT,UPDATE ON TABLE \"public\".\"a MAINTAIN, b\" TO \"anon\"",
                "GRANT UPDATE ON TABLE \"public\".\"a\"\"MAINTAIN,\" TO \"anon\" WITH GRANT OPTION",
                "ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" GRANT INSERT ON TABLES TO \"anon\"",
            ]
        );
        assert!(kept.len() == 4 && kept[3].contains("'MAINTAIN,'"), "{kept:?}");
        assert_eq!(adapt(true).len(), 5);
    }
}
