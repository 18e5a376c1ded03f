//! Extensions that a project names and the server lacks (GW-019): which ones stop a start, and what to do about them.
//! Pure.

use std::{collections::BTreeSet, path::PathBuf};

use super::error::{MigrateError, MissingExtension};
use crate::extensions::SHIPPED;

/// A `create extension` in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionUse {
    /// The migration file that creates the extension.
    pub path: PathBuf,
    /// Line on which the statement begins.
    pub line: usize,
    /// Name of the extension.
    pub name: String,
}

/// How to handle an extension that the server does not have.
enum Missing {
    /// Dumps of hosted projects create it whether or not it is used: it is skipped, with this warning.
    Ignorable(&'static str),
    /// The extension is needed, therefore the migration fails.
    Needed {
        /// How to install the extension.
        advice: String,
        /// The Debian package that contains it, if known.
        package: Option<String>,
    },
}

impl Missing {
    fn needed(advice: impl Into<String>) -> Self {
        Self::Needed {
            advice: advice.into(),
            package: None,
        }
    }
}

fn decide_missing(name: &str, major_version: u32) -> Missing {
    let package = |suffix: &str| {
        let package = format!("postgresql-{major_version}-{suffix}");
        Missing::Needed {
            advice: format!(
                "install it for PostgreSQL {major_version} (Debian and Ubuntu: apt install {package}, from \
                 apt.postgresql.org where the distribution has none), or name another PostgreSQL with --pg-bin"
            ),
            package: Some(package),
        }
    };
    match name {
        "pg_graphql" => Missing::Ignorable("graphql_public.graphql() answers that it is not enabled"),
        "pgsodium" => Missing::Ignorable("its functions do not exist"),
        "http" => Missing::Ignorable("calls of http(), http_get() and http_post() will fail when they run"),
        "hypopg" | "index_advisor" => Missing::Ignorable("index advice is not available"),
        "pg_stat_monitor" | "plan_filter" | "safeupdate" => Missing::Ignorable("it only observes"),
        "vector" => package("pgvector"),
        "postgis"
        | "postgis_raster"
        | "postgis_sfcgal"
        | "postgis_tiger_geocoder"
        | "postgis_topology"
        | "address_standardizer" => package("postgis-3"),
        "pgrouting" => package("pgrouting"),
        "pgaudit" => package("pgaudit"),
        "rum" => package("rum"),
        "plpgsql_check" => package("plpgsql-check"),
        "pg_repack" => package("repack"),
        "wrappers" => Missing::needed(
            "no distribution, npm or PyPI package has it; it is built from source for one version of PostgreSQL, with Rust and pgrx \
             (github.com/supabase/wrappers). postgres_fdw and file_fdw come with PostgreSQL",
        ),
        _ => Missing::needed(
            "install it for this PostgreSQL, or use another one: --pg-bin DIR, or DATABASE_URL for a server of your own",
        ),
    }
}

fn is_shipped(name: &str) -> bool {
    SHIPPED.iter().any(|extension| extension.name == name)
}

/// Extensions that the original has and that a project can do without.
const IGNORABLE: [&str; 8] = [
    "pg_graphql",
    "pgsodium",
    "http",
    "hypopg",
    "index_advisor",
    "pg_stat_monitor",
    "plan_filter",
    "safeupdate",
];

/// The extensions that are not on a server and whose `create extension` is skipped, so that there is nothing to drop either. The
/// original's image creates pg_graphql in each project.
pub(super) fn list_ignorable_absent(available: &BTreeSet<String>) -> BTreeSet<String> {
    let absent = IGNORABLE
        .iter()
        .filter(|name| !is_shipped(name) && !available.contains(**name));
    absent.map(|name| (*name).to_owned()).collect()
}

/// Whether a migration that creates the extension fails where the server does not have it.
pub(crate) fn is_needed_extension(name: &str) -> bool {
    // The version only changes the advice.
    !is_shipped(name) && matches!(decide_missing(name, 0), Missing::Needed { .. })
}

/// Checks what files use against what a server has. Returns the uses that are skipped, each name once, with a warning for
/// each.
///
/// # Errors
/// [`MigrateError::MissingExtensions`] with all that are missing and needed.
pub fn check_extensions(
    uses: &[ExtensionUse],
    available: &BTreeSet<String>,
    major_version: u32,
) -> Result<Vec<(String, String)>, MigrateError> {
    let (mut skipped, mut missing) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for used in uses {
        let name = used.name.as_str();
        if is_shipped(name) || available.contains(name) || !seen.insert(name) {
            continue;
        }
        match decide_missing(name, major_version) {
            Missing::Ignorable(consequence) => skipped.push((
                used.name.clone(),
                format!(
                    "{}:{}: extension \"{name}\" is not available here and was left out: {consequence}",
                    used.path.display(),
                    used.line
                ),
            )),
            Missing::Needed { advice, package } => missing.push(MissingExtension {
                path: used.path.clone(),
                line: used.line,
                name: used.name.clone(),
                advice,
                package,
            }),
        }
    }
    if missing.is_empty() {
        Ok(skipped)
    } else {
        Err(MigrateError::MissingExtensions(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_019_all_missing_extensions_are_reported_at_once_with_the_servers_version() {
        let uses: Vec<ExtensionUse> = ["vector", "hstore", "hypopg", "vector", "postgis", "pgtap"]
            .iter()
            .zip(1..)
            .map(|(name, line)| ExtensionUse {
                path: PathBuf::from("a.sql"),
                line,
                name: (*name).to_owned(),
            })
            .collect();
        let available = BTreeSet::from(["hstore".to_owned()]);

        let error = check_extensions(&uses, &available, 17).expect_err("two are needed");

        let text = error.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(
            lines[0].starts_with("a.sql:1: extension \"vector\" is not available"),
            "{text}"
        );
        assert!(lines[0].contains("postgresql-17-pgvector"), "{text}");
        assert!(lines[1].starts_with("a.sql:5: extension \"postgis\""), "{text}");
    }
}
