//! Which statements of pg_dump's text are the project's, and which are about the platform.

use anyhow::{Context, Result};
use selvedge_postgres::migrate::{join_statements, split_statements};

/// Leaves out the two commands of psql that newer versions of pg_dump put around a dump: the first and the last line that is
/// neither empty nor a comment. Lines between them may be parts of values.
pub fn without_commands(dump: &str) -> String {
    let lines: Vec<&str> = dump.split_inclusive('\n').collect();
    let counts = |line: &&str| !line.trim().is_empty() && !line.starts_with("--");
    let first = lines.iter().position(&counts);
    let last = lines.iter().rposition(counts);
    let is_command = |index: usize, line: &str| {
        (Some(index) == first && line.starts_with("\\restrict "))
            || (Some(index) == last && line.starts_with("\\unrestrict "))
    };
    lines
        .iter()
        .enumerate()
        .filter(|(index, line)| !is_command(*index, line))
        .map(|(_, line)| *line)
        .collect()
}

/// Leaves out statements about the platform, and commands of psql. With schema public, the text begins by taking away what a new project
/// gives to the API's roles: pg_dump writes the rights that there are, and no REVOKE of those that only the default privileges of the other
/// database would give. Its own statements about default privileges, which are the last ones, give these back.
pub fn keep_project_statements(dump: &str, has_public: bool) -> Result<String> {
    let mut rights = String::new();
    if has_public {
        rights += WITHOUT_DEFAULT_RIGHTS;
        for role in API_ROLES {
            let use_of_public = format!("GRANT USAGE ON SCHEMA \"public\" TO \"{role}\"");
            let has_it = |line: &str| line.trim_end_matches(';') == use_of_public;
            if !dump.lines().any(has_it) {
                rights += &format!("REVOKE USAGE ON SCHEMA \"public\" FROM \"{role}\";\n\n");
            }
        }
    }
    let kept = keep_statements(dump, |statement| {
        !is_of_platform(statement) && !is_use_of_public(statement)
    })?;
    Ok(rights + &kept)
}

/// Roles to which a new project gives rights on everything that `postgres` makes in schema public.
const API_ROLES: [&str; 3] = ["anon", "authenticated", "service_role"];

const WITHOUT_DEFAULT_RIGHTS: &str = "\
ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" REVOKE ALL ON TABLES FROM \"postgres\", \"anon\", \"authenticated\", \"service_role\";

ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" REVOKE ALL ON SEQUENCES FROM \"postgres\", \"anon\", \"authenticated\", \"service_role\";

ALTER DEFAULT PRIVILEGES FOR ROLE \"postgres\" IN SCHEMA \"public\" REVOKE ALL ON FUNCTIONS FROM \"postgres\", \"anon\", \"authenticated\", \"service_role\";

";

/// As [`keep_project_statements`], for an import, which takes from the source who may use schema public.
pub fn keep_imported_statements(dump: &str) -> Result<String> {
    keep_statements(dump, |statement| !is_of_platform(statement))
}

fn keep_statements(dump: &str, is_kept: impl Fn(&str) -> bool) -> Result<String> {
    let text = without_commands(dump);
    let statements = split_statements(&text).context("the dump cannot be read")?;
    let kept: Vec<&str> = statements
        .iter()
        .map(|statement| without_comments(statement.text))
        .filter(|statement| is_kept(statement))
        .collect();
    Ok(join_statements(&kept))
}

/// The statement after the comment lines that pg_dump writes before each.
pub fn without_comments(statement: &str) -> &str {
    let mut rest = statement.trim();
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, after)| after.trim_start());
    }
    rest
}

/// The roles to which the platform gives the use of schema public.
const OWN_GRANTEES: [&str; 5] = [
    "PUBLIC",
    "\"postgres\"",
    "\"anon\"",
    "\"authenticated\"",
    "\"service_role\"",
];

fn is_of_platform(statement: &str) -> bool {
    let starts = [
        "ALTER DEFAULT PRIVILEGES FOR ROLE \"supabase_admin\"",
        "CREATE PUBLICATION \"supabase_realtime",
        "ALTER PUBLICATION \"supabase_realtime\" OWNER",
        "ALTER PUBLICATION \"supabase_realtime_messages",
        "CREATE EVENT TRIGGER",
        "ALTER EVENT TRIGGER",
        "COMMENT ON EXTENSION",
        "COMMENT ON SCHEMA \"public\" IS 'standard public schema'",
    ];
    statement.is_empty()
        || is_right_of_console(statement)
        || is_right_on_extension(statement)
        || starts.iter().any(|start| statement.starts_with(start))
}

/// Whether a statement is about the rights of the console's logins, which other databases do not have. Every project gives them theirs.
pub fn is_right_of_console(statement: &str) -> bool {
    let starts = ["grant ", "revoke ", "alter default privileges "];
    let lower = statement.trim_start().to_ascii_lowercase();
    starts.iter().any(|start| lower.starts_with(start))
        && [" to ", " from "].iter().any(|word| {
            let grantee = lower.rsplit_once(word).map(|(_, grantee)| grantee);
            grantee.is_some_and(|name| name.trim_start_matches('"').starts_with("selvedge_console_"))
        })
}

/// Whether a statement is about the rights on an object of an extension, which every project gets with the extension.
fn is_right_on_extension(statement: &str) -> bool {
    let is_right = statement.starts_with("GRANT ") || statement.starts_with("REVOKE ");
    // The kind of the object is one word, as in `ON TABLE "extensions"."pg_stat_statements" TO`.
    let object = statement
        .split_once(" ON ")
        .and_then(|(_, object)| object.split_once(' '))
        .map(|(_, name)| name);
    is_right
        && object
            .is_some_and(|name| name.starts_with("\"extensions\".") || name.starts_with("\"pg_catalog\"."))
}

/// Whether a statement gives the use of schema public to a role that has it in every new project.
fn is_use_of_public(statement: &str) -> bool {
    statement.starts_with("GRANT USAGE ON SCHEMA \"public\" TO ")
        && OWN_GRANTEES
            .iter()
            .any(|role| statement.ends_with(&format!(" TO {role}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_the_platform_and_commands_of_psql_are_left_out_of_a_dump() {
        let dump = "\\restrict abc\n--\n-- Name: notes\n--\n\nCREATE TABLE \"public\".\"notes\" (\n    \"id\" integer\n);\n\
                    ALTER DEFAULT PRIVILEGES FOR ROLE \"supabase_admin\" IN SCHEMA \"public\" GRANT ALL ON TABLES TO \"anon\";\n";

        assert_eq!(
            keep_project_statements(dump, false).unwrap(),
            "CREATE TABLE \"public\".\"notes\" (\n    \"id\" integer\n);\n\n"
        );
    }

    #[test]
    fn rights_on_objects_of_extensions_are_left_out_of_a_dump() {
        let dump = "GRANT SELECT,INSERT ON TABLE \"extensions\".\"pg_stat_statements\" TO \"postgres\" WITH GRANT OPTION;\n\
                    REVOKE ALL ON FUNCTION \"pg_catalog\".\"lo_export\"(\"oid\", \"text\") FROM PUBLIC;\n\
                    GRANT SELECT ON TABLE \"public\".\"notes\" TO \"anon\";\n";

        assert_eq!(
            keep_project_statements(dump, false).unwrap(),
            "GRANT SELECT ON TABLE \"public\".\"notes\" TO \"anon\";\n\n"
        );
    }

    #[test]
    fn a_dump_of_public_takes_away_what_a_new_project_gives_by_itself() {
        let dump = "GRANT USAGE ON SCHEMA \"public\" TO \"anon\";\nGRANT USAGE ON SCHEMA \"public\" TO \"service_role\";\n\
                    COMMENT ON SCHEMA \"public\" IS 'standard public schema';\n\
                    COMMENT ON SCHEMA \"public\" IS 'mine';\n\
                    GRANT SELECT ON TABLE \"public\".\"t\" TO \"selvedge_console_reader\";\n";

        let text = keep_project_statements(dump, true).unwrap();

        let own = text.strip_prefix(WITHOUT_DEFAULT_RIGHTS).expect("the head");
        assert_eq!(
            own,
            "REVOKE USAGE ON SCHEMA \"public\" FROM \"authenticated\";\n\nCOMMENT ON SCHEMA \"public\" IS 'mine';\n\n"
        );
    }

    #[test]
    fn rights_of_the_console_are_known_by_their_grantee() {
        for own in [
            "GRANT SELECT ON TABLE \"public\".\"t\" TO \"selvedge_console_reader\"",
            "grant select on public.t to selvedge_console_operator",
            "alter default privileges for role postgres revoke select on tables from selvedge_console_reader",
        ] {
            assert!(is_right_of_console(own), "{own}");
        }
        for others in [
            "grant select on public.selvedge_console_t to anon",
            "create table public.t (a text default ' to selvedge_console_reader')",
        ] {
            assert!(!is_right_of_console(others), "{others}");
        }
    }

    #[test]
    fn lines_of_values_are_no_commands_of_psql() {
        let dump = "--\n-- dump\n--\n\n\\restrict abc\n\nINSERT INTO t VALUES ('a\n\\restrict b\n\\unrestrict c\n');\n\n\\unrestrict abc\n\n";

        assert_eq!(
            without_commands(dump),
            "--\n-- dump\n--\n\n\nINSERT INTO t VALUES ('a\n\\restrict b\n\\unrestrict c\n');\n\n\n"
        );
    }

    #[test]
    fn the_use_of_public_by_a_role_of_the_project_is_dumped() {
        let dump = "GRANT USAGE ON SCHEMA \"public\" TO \"anon\";\nGRANT USAGE ON SCHEMA \"public\" TO \"own_role\";\n";

        assert_eq!(
            keep_project_statements(dump, false).unwrap(),
            "GRANT USAGE ON SCHEMA \"public\" TO \"own_role\";\n\n"
        );
    }
}
