//! Rights in the platform's schemas, compared with those in a database of Supabase's image.

use std::collections::BTreeSet;

use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

/// The image's rights that we do not grant, each with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "setting authenticator session_preload_libraries=safeupdate",
        "the module safeupdate is not part of PostgreSQL; REST itself refuses writes without a filter where it must",
    ),
    (
        "setting postgres search_path=\"\\$user\"/public/extensions",
        "the backslash is an error of quoting in the image; see ADDED",
    ),
    (
        "setting supabase_auth_admin idle_in_transaction_session_timeout=60000",
        "written as 60s here",
    ),
    (
        "default storage supabase_storage_admin tables anon all",
        "TRUNCATE passes row-level security by, so the API roles do not have it",
    ),
    (
        "default storage supabase_storage_admin tables authenticated all",
        "TRUNCATE passes row-level security by, so the API roles do not have it",
    ),
];

/// Our rights that the image does not grant, each with the reason. A line may end with `*`.
const ADDED: &[(&str, &str)] = &[
    (
        "member postgres supabase_auth_admin*",
        "stands for policies and triggers on the tables of Auth, which an extension of the image (supautils) permits",
    ),
    ("member postgres supabase_storage_admin*", "the same for Storage"),
    (
        "member postgres supabase_realtime_admin*",
        "the same for Realtime",
    ),
    (
        "member supabase_replication_admin *",
        "the realtime service logs in as this role; the original logs in as a superuser",
    ),
    (
        "member selvedge_http pg_read_all_settings",
        "the role, which nobody is, reads where the socket of the extension http is",
    ),
    (
        "setting postgres search_path=\"$user\"/public/extensions",
        "the quoting that was meant",
    ),
    (
        "setting supabase_auth_admin idle_in_transaction_session_timeout=60s",
        "written as 60000 in the image",
    ),
    (
        "setting supabase_read_only_user default_transaction_read_only=on",
        "a role of that name should not write by a slip either",
    ),
    (
        "schema realtime usage *",
        "granted by the migrations of the realtime service, which are part of the platform here",
    ),
    ("schema realtime create supabase_realtime_admin", "likewise"),
    (
        "default storage supabase_storage_admin tables anon delete/insert/*",
        "all but TRUNCATE",
    ),
    (
        "default storage supabase_storage_admin tables authenticated delete/insert/*",
        "all but TRUNCATE",
    ),
    (
        "default - postgres postgres all",
        "the owner's own rights, which are listed once the console's logins get some by default, too",
    ),
    ("default - postgres sequences postgres all", "likewise"),
    ("default - postgres tables postgres all", "likewise"),
];

/// The lines of `image_rights.txt` that hold for this version of PostgreSQL, with lists written out.
fn recorded_rights(major_version: u32) -> BTreeSet<String> {
    include_str!("image_rights.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| match line.split_once(' ') {
            Some(("15", rest)) => (major_version == 15).then_some(rest),
            Some(("16+", rest)) => (major_version >= 16).then_some(rest),
            _ => Some(line),
        })
        .flat_map(|line| {
            line.split(' ').fold(vec![String::new()], |starts, word| {
                let add = |start: &String| {
                    word.split(',')
                        .map(|element| format!("{start} {element}").trim_start().to_owned())
                        .collect::<Vec<_>>()
                };
                starts.iter().flat_map(add).collect()
            })
        })
        .collect()
}

/// Nobody may reference a table of a superuser, or create triggers on it, which the image's default privileges allow: foreign keys are checked
/// and triggers run with rights that are not the project's. Writes both forms alike.
fn without_references_and_triggers(line: String) -> String {
    if !line.starts_with("default ") || !line.contains(" supabase_admin tables ") {
        return line;
    }
    [
        "all",
        "delete/insert/select/truncate/update",
        "delete/insert/maintain/select/truncate/update",
    ]
    .iter()
    .find_map(|privileges| {
        let words: Vec<&str> = line.split(' ').collect();
        let place = words.iter().position(|word| word == privileges)?;
        Some(
            [&words[..place], &["rows"], &words[place + 1..]]
                .concat()
                .join(" "),
        )
    })
    .unwrap_or(line)
}

fn is_listed(line: &str, list: &[(&str, &str)]) -> bool {
    list.iter().any(|(listed, _)| match listed.strip_suffix('*') {
        Some(start) => line.starts_with(start),
        None => line == *listed,
    })
}

#[tokio::test]
async fn gw_013_rights_are_those_of_supabases_image_except_for_the_listed_differences() {
    let database = TestDatabase::create().await;
    let client = database.superuser().await;
    let version: u32 = query_value(&client, "current_setting('server_version_num')::int / 10000")
        .await
        .parse()
        .expect("a number");
    let ours: BTreeSet<String> = client
        .query(include_str!("rights.sql"), &[])
        .await
        .expect("a list")
        .iter()
        .map(|row| row.get(0))
        // Roles and their settings belong to the whole cluster, so those of other tests are seen here, too.
        .filter(|line: &String| !line.contains("gw_") && !line.contains(" pgrst."))
        // The logins of the console, which the original does not have; tests of the console examine them.
        .filter(|line: &String| !line.contains("selvedge_console_"))
        .map(without_references_and_triggers)
        .collect();
    let recorded: BTreeSet<String> = recorded_rights(version)
        .into_iter()
        .map(without_references_and_triggers)
        .collect();

    let missing: Vec<&String> = recorded
        .difference(&ours)
        .filter(|line| !is_listed(line, LEFT_OUT))
        .collect();
    let added: Vec<&String> = ours
        .difference(&recorded)
        .filter(|line| !is_listed(line, ADDED))
        .collect();
    let outdated: Vec<&str> = LEFT_OUT
        .iter()
        .map(|(line, _)| *line)
        .filter(|line| ours.contains(*line) || !recorded.contains(*line))
        .collect();

    assert!(missing.is_empty(), "the image grants, we do not: {missing:#?}");
    assert!(added.is_empty(), "we grant, the image does not: {added:#?}");
    assert!(
        outdated.is_empty(),
        "listed as left out, but is not: {outdated:#?}"
    );
}

#[tokio::test]
async fn gw_013_functions_that_an_extension_keeps_from_everybody_stay_closed_to_api_roles() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for role in ["anon", "authenticated", "service_role"] {
        let client = api(&database, role, "{}").await;
        assert_eq!(
            query_sqlstate(&client, "select extensions.pg_stat_statements_reset()").await,
            "42501",
            "{role}"
        );
        assert_eq!(
            query_value(&client, "extensions.uuid_generate_v4() is not null").await,
            "true",
            "{role}"
        );
    }
    postgres
        .batch_execute(
            "grant execute on function extensions.uuid_generate_v4() to anon;
             grant select on extensions.pg_stat_statements to service_role;",
        )
        .await
        .expect("postgres may pass on what it may do");
}

#[tokio::test]
async fn gw_024_postgres_maintains_the_tables_of_database_webhooks() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "select setval('supabase_functions.hooks_id_seq', 7);
             insert into supabase_functions.hooks (hook_table_id, hook_name) values (1, 'a');
             set role supabase_functions_admin; reset role;",
        )
        .await
        .expect("postgres may");

    assert_eq!(
        query_value(&postgres, "select max(id) from supabase_functions.hooks").await,
        "8"
    );
}

#[tokio::test]
async fn gw_016_postgres_sets_parameters_of_the_database_as_at_supabase() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let name = database.name();

    postgres
        .batch_execute(&format!(
            "alter database {name} set log_min_duration_statement = '1s';
             alter database {name} set auto_explain.log_min_duration = '1s';
             alter database {name} set pgrst.db_max_rows = '10';
             alter database {name} set timezone = 'Europe/Berlin';
             alter database {name} set pgaudit.log = 'ddl';"
        ))
        .await
        .expect("postgres may");
    assert_eq!(
        query_sqlstate(
            &postgres,
            &format!("alter database {name} set session_preload_libraries = 'x'")
        )
        .await,
        "42501"
    );
}

#[tokio::test]
async fn gw_034_nothing_that_signs_tokens_is_in_settings_that_every_role_may_read() {
    let database = TestDatabase::create().await;
    let anon = api(&database, "anon", "{}").await;

    assert_eq!(
        query_value(
            &anon,
            "select count(*) from pg_db_role_setting where setconfig::text ~* '(secret|password|private)'"
        )
        .await,
        "0"
    );
}
