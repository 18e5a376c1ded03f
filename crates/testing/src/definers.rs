//! The functions that run with a superuser's rights, in a database and in the table of docs/decisions.md.

use std::collections::BTreeSet;

use selvedge_postgres::SHIPPED;
use tokio_postgres::Client;

/// Those of contrib are written in C and closed to everybody, see the rules of `privileges.sql`.
const DEFINERS: &str = "
    select n.nspname || '.' || p.proname
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join pg_roles o on o.oid = p.proowner and o.rolsuper
    join pg_language l on l.oid = p.prolang
    where p.prosecdef and l.lanname <> 'c'";

/// What a start makes in every database but the project's.
const IN_OTHER_DATABASES: &str = "pg_catalog.";

/// Another name of a package that has its own.
const SECOND_NAME: &str = "basejump@supabase_test_helpers";

/// Creates in `schema` every extension that PostgreSQL has or the server brings along, as far as `postgres` may. Returns their number.
///
/// # Panics
/// When one fails for another reason than a missing right.
pub async fn create_every_extension(postgres: &Client, schema: &str) -> usize {
    let available = "select name::text from pg_available_extensions where installed_version is null";
    let rows = postgres.query(available, &[]).await.expect("a list");
    let mut names: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    names.extend(SHIPPED.iter().map(|extension| extension.name));
    names.remove(SECOND_NAME);
    let mut created = 0;
    for name in names {
        let create = format!("select _selvedge.create_extension('{name}', true, '{schema}', null, true)");
        match postgres.batch_execute(&create).await {
            Ok(()) => created += 1,
            Err(error) => assert_eq!(
                error.code().map(|code| code.code().to_owned()).as_deref(),
                Some("42501"),
                "{name}: {error:?}"
            ),
        }
    }
    created
}

/// The names, with their schemas, of the functions of a database that run with a superuser's rights, whoever calls them.
///
/// # Panics
/// When the query fails.
pub async fn list_definers(client: &Client) -> BTreeSet<String> {
    let rows = client.query(DEFINERS, &[]).await.expect("a list");
    rows.iter()
        // The schema of this extension is chosen by whoever creates it.
        .map(|row| row.get::<_, String>(0).replace("public._http", "http._http"))
        .collect()
}

/// The functions of a project's database that have a verdict in the table of docs/decisions.md.
#[must_use]
pub fn list_judged_definers() -> BTreeSet<String> {
    list_judged()
        .filter(|name| !name.starts_with(IN_OTHER_DATABASES))
        .collect()
}

/// The same of the other databases of a cluster.
#[must_use]
pub fn list_judged_definers_of_other_databases() -> BTreeSet<String> {
    list_judged()
        .filter(|name| name.starts_with(IN_OTHER_DATABASES))
        .collect()
}

fn list_judged() -> impl Iterator<Item = String> {
    include_str!("../../../docs/decisions.md")
        .lines()
        .filter_map(|line| {
            let (name, verdict) = line.strip_prefix("| `")?.split_once("` |")?;
            verdict.contains("safe because").then(|| name.to_owned())
        })
}
