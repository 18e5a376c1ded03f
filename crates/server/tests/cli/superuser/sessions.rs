//! What PostgreSQL has logged of the superuser's sessions: their settings, their statements, and the tables that these have read.

use std::collections::{BTreeMap, BTreeSet};

use super::query;
use crate::support::Project;

/// Those of relations and functions `$1` in schemas `$2` that exist and belong to somebody who is no superuser.
const OF_OTHERS: &str = "
    select distinct n.nspname || '.' || o.name
    from unnest($1::text[], $2::text[]) as seen (name, schema)
    join pg_namespace as n on n.nspname = seen.schema
    join (
      select relname::text, relnamespace, relowner from pg_class
      union all
      select proname::text, pronamespace, proowner from pg_proc
    ) as o (name, namespace, owner) on o.namespace = n.oid and o.name = seen.name
    join pg_roles as r on r.oid = o.owner
    where not r.rolsuper
    order by 1";

/// Lets PostgreSQL log every statement of the superuser, and the plan of each that has one, also within functions. Returns the number of the
/// session that has done so.
pub(super) async fn log_superuser_statements(project: &Project) -> i32 {
    let superuser = project.superuser().await;
    superuser
        .batch_execute(
            "alter role supabase_admin set log_statement = 'all';
             alter role supabase_admin set session_preload_libraries = 'auto_explain';
             alter role supabase_admin set auto_explain.log_min_duration = 0;
             alter role supabase_admin set auto_explain.log_nested_statements = on;
             alter role supabase_admin set auto_explain.log_verbose = on;
             alter role supabase_admin set auto_explain.log_format = 'json'",
        )
        .await
        .expect("a superuser may");
    query(&superuser, "select pg_backend_pid()").await
}

/// Checks in PostgreSQL's log that every session of the superuser, but for that of the test, was opened by the function that pins its settings,
/// which asks for them first, and that none became another role. Before that each login asks the server who it is, by a query whose names are all
/// qualified.
pub(super) fn expect_pinned_sessions(project: &Project, own: i32) {
    let log = std::fs::read_to_string(project.path(".selvedge/postgres.log")).expect("the log of PostgreSQL");
    let mut sessions: BTreeMap<i32, Vec<String>> = BTreeMap::new();
    let mut of_superuser = None;
    for line in log.lines() {
        // `2026-12-01 10:00:00.000 UTC [4711] supabase_admin@postgres LOG:  statement: select 1`, and lines of long statements begin with a tab.
        if let Some(more) = line.strip_prefix('\t') {
            let statements = of_superuser.and_then(|pid| sessions.get_mut(&pid));
            if let Some(last) = statements.and_then(|statements| statements.last_mut()) {
                *last = format!("{last} {}", more.trim());
            }
            continue;
        }
        of_superuser = line.split_once("] supabase_admin@").and_then(|(before, rest)| {
            let pid: i32 = before.rsplit_once('[')?.1.parse().ok()?;
            let (_, statement) = rest.split_once("LOG:  ")?;
            let (kind, text) = statement.split_once(": ")?;
            (kind == "statement" || kind.starts_with("execute ")).then(|| {
                sessions.entry(pid).or_default().push(text.trim().to_lowercase());
                pid
            })
        });
    }
    sessions.remove(&own);
    assert!(sessions.len() > 1, "statements are logged: {sessions:?}");
    for statements in sessions.values() {
        let is_identity = |text: &str| {
            text.starts_with("select pg_catalog.concat(case when pg_catalog.pg_is_in_recovery()")
        };
        let Some(first) = statements.iter().find(|text| !is_identity(text)) else {
            continue;
        };
        assert!(
            first.starts_with("select pg_catalog.current_setting('search_path')"),
            "not pinned: {statements:#?}"
        );
        let is_lowered = |text: &&String| {
            text.contains("session authorization")
                || ["set role ", "set local role ", "set session role "]
                    .iter()
                    .any(|set| text.split(set).skip(1).any(|role| !role.starts_with("none")))
        };
        let lowered = statements.iter().find(is_lowered);
        assert!(lowered.is_none(), "{lowered:?}");
    }
}

/// The relations and functions that the superuser's plans read or write, as (name, schema), but for those of the session `own`.
fn list_planned(log: &str, own: i32) -> BTreeSet<(String, String)> {
    let own = format!("[{own}] supabase_admin@");
    let value = |line: &str, key: &str| {
        let rest = line.trim().strip_prefix(key)?.trim_end_matches(',');
        serde_json::from_str::<String>(rest).ok()
    };
    let mut planned = BTreeSet::new();
    let (mut is_of_superuser, mut name) = (false, None);
    for line in log.lines() {
        if !line.starts_with('\t') {
            is_of_superuser = line.contains("] supabase_admin@") && !line.contains(&own);
        } else if is_of_superuser {
            let found = value(line, "\"Relation Name\": ").or_else(|| value(line, "\"Function Name\": "));
            if let Some(found) = found {
                name = Some(found);
            } else if let Some(schema) = value(line, "\"Schema\": ") {
                // The line that follows the name's.
                planned.extend(name.take().map(|name| (name, schema)));
            }
        }
    }
    planned
}

/// Checks that no plan of a superuser's session has read or written anything but catalogs and tables of superusers: whoever owns a table may
/// attach code to it, which would run with the rights of a superuser.
pub(super) async fn expect_own_relations(project: &Project, own: i32) {
    let log = std::fs::read_to_string(project.path(".selvedge/postgres.log")).expect("the log of PostgreSQL");
    let planned = list_planned(&log, own);
    for expected in ["pg_proc", "platform_migrations"] {
        assert!(
            planned.iter().any(|(name, _)| name == expected),
            "plans are logged: {planned:?}"
        );
    }
    let (names, schemas): (Vec<&str>, Vec<&str>) = planned
        .iter()
        .map(|(name, schema)| (name.as_str(), schema.as_str()))
        .unzip();
    let rows = project
        .database()
        .await
        .query(OF_OTHERS, &[&names, &schemas])
        .await;
    let of_others: Vec<String> = rows.expect("a list").iter().map(|row| row.get(0)).collect();
    assert_eq!(of_others, Vec::<String>::new());
}
