//! Changes of the schema: previews, files with their history rows, and what leaves nothing behind.

use std::path::Path;

use selvedge_console::ProjectFolder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::TestConsole;

const MIGRATIONS: &str = "/api/migrations";

/// A console of a project on a laptop, and its migrations folder.
async fn start() -> (TestConsole, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let migrations = ProjectFolder::at_start(&folder.path().join("migrations"));
    let console = TestConsole::with(|config| config.migrations_folder = Some(migrations)).await;
    (console, folder)
}

fn change(name: &str, sql: &str) -> Value {
    json!({ "name": name, "sql": sql })
}

fn preview(sql: &str) -> Value {
    json!({ "name": "preview", "sql": sql, "preview": true })
}

/// The files below the project's folder, hidden ones too, in order.
fn list_files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join("migrations")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| format!("migrations/{}", entry.expect("an entry").file_name().display()))
        .collect();
    names.sort_unstable();
    names
}

async fn read_history(console: &TestConsole) -> Vec<String> {
    let rows = "select coalesce(string_agg('migrations/' || version || '_' || name || '.sql', ',' order by version), '')
        from supabase_migrations.schema_migrations";
    let names = console.value(rows).await;
    names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn console_071_a_change_becomes_a_file_with_its_history_row_and_its_audit_entry() {
    let (console, folder) = start().await;

    let first = console
        .post(
            MIGRATIONS,
            &change("create_notes", "create table notes (id int8)"),
        )
        .await;
    let second = console
        .post(
            MIGRATIONS,
            &change("add_body", "  alter table notes add body text;\n\n"),
        )
        .await;

    let files = [&first["file"], &second["file"]].map(|file| file.as_str().expect("a path").to_owned());
    assert!(
        files[0].ends_with("_create_notes.sql") && files[0] < files[1],
        "{files:?}"
    );
    assert_eq!(list_files(folder.path()), files);
    assert_eq!(read_history(&console).await, files);
    let text = std::fs::read_to_string(folder.path().join(&files[1])).expect("the file");
    assert_eq!(text, "alter table notes add body text;\n");
    let statements =
        "select statements::text from supabase_migrations.schema_migrations where name = 'add_body'";
    assert_eq!(
        console.value(statements).await,
        "{\"alter table notes add body text\"}"
    );
    let audited =
        "select string_agg(action || ' ' || target, ',' order by id) from selvedge_console.selvedge_audit";
    let expected = files.map(|file| format!("schema.migrate {file}")).join(",");
    assert_eq!(console.value(audited).await, expected);
}

#[tokio::test]
async fn console_071_a_change_that_fails_leaves_neither_file_nor_row() {
    let (console, folder) = start().await;
    console
        .sql(
            "create table held (id int8 primary key);
             create table child (id int8 references held deferrable initially deferred)",
        )
        .await;
    let holder = console.database.connect("postgres").await;
    holder
        .batch_execute("begin; select * from held")
        .await
        .expect("a lock");

    let cases = [
        ("create table a ();\n\nselect wrong", "42703", Some(3)),
        ("create table a (); select 'open", "invalid", Some(1)),
        ("insert into child values (1)", "23503", None),
        ("alter table held add note text", "55P03", Some(1)),
        ("create table a (); commit", "invalid", Some(1)),
    ];
    for (sql, code, line) in cases {
        let (status, body) = console.refused(MIGRATIONS, &change("x", sql)).await;
        assert_eq!((status, &body["code"]), (422, &json!(code)), "{sql}: {body}");
        assert_eq!(body["line"].as_i64(), line, "{sql}: {body}");
    }

    assert_eq!(list_files(folder.path()), [] as [String; 0]);
    assert_eq!(read_history(&console).await, [] as [String; 0]);
    assert_eq!(
        console.value("select coalesce(to_regclass('a')::text, '')").await,
        ""
    );
}

#[tokio::test]
async fn console_071_statements_that_need_no_transaction_run_alone_and_a_failure_says_what_stays() {
    let (console, folder) = start().await;
    let sql = "create table held (id int8 primary key, note text);\n\
               create index concurrently held_note_idx on held (note);\n\
               comment on index held_note_idx is 'made alone';";

    let preview = json!({ "name": "index_notes", "sql": sql, "preview": true });
    let preview = console.post(MIGRATIONS, &preview).await;
    assert!(
        preview["notes"]
            .to_string()
            .contains("line 2 runs outside of a transaction"),
        "{preview}"
    );
    assert_eq!(
        console
            .value("select coalesce(to_regclass('held')::text, '')")
            .await,
        ""
    );

    console.post(MIGRATIONS, &change("index_notes", sql)).await;
    assert_eq!(list_files(folder.path()).len(), 1);
    assert_eq!(read_history(&console).await.len(), 1);
    let comment = "select obj_description('held_note_idx'::regclass)";
    assert_eq!(console.value(comment).await, "made alone");

    let failing = "create table stays ();\nvacuum held;\nselect wrong";
    let (status, body) = console.refused(MIGRATIONS, &change("fails", failing)).await;
    assert_eq!((status, body["line"].as_i64()), (422, Some(3)), "{body}");
    assert!(
        body["hint"]
            .to_string()
            .contains("before line 3 has taken effect"),
        "{body}"
    );
    assert_eq!(console.value("select to_regclass('stays')::text").await, "stays");
    assert_eq!(list_files(folder.path()).len(), 1);
}

#[tokio::test]
async fn console_071_files_that_have_not_run_and_rows_without_files_come_first() {
    let (console, folder) = start().await;
    let migrations = folder.path().join("migrations");
    std::fs::create_dir_all(&migrations).expect("a folder");
    std::fs::write(migrations.join("20200101000000_old.sql"), "select 1").expect("a file");

    let (status, body) = console.refused(MIGRATIONS, &change("x", "select 1")).await;
    assert_eq!((status, &body["code"]), (409, &json!("conflict")));
    let message = body["message"].as_str().expect("a message");
    assert!(
        message.starts_with("20200101000000_old.sql has not run"),
        "{body}"
    );

    console
        .sql(
            "create schema if not exists supabase_migrations;
             create table if not exists supabase_migrations.schema_migrations (version text primary key);
             insert into supabase_migrations.schema_migrations (version) values ('20190101000000')",
        )
        .await;
    let (status, body) = console.refused(MIGRATIONS, &change("x", "select 1")).await;
    assert_eq!(status, 409, "{body}");
}

#[tokio::test]
async fn console_072_a_preview_tells_locks_rewrites_rows_and_dependants_and_changes_nothing() {
    let (console, folder) = start().await;
    console
        .sql(
            "create table notes (id int8 primary key, n int4);
             create table likes (note int8 references notes);
             create view recent as select id from notes;
             create table \"Odd \"\"one\" (id int8);
             insert into notes select n, n from generate_series(1, 30) n",
        )
        .await;
    let try_sql = async |sql: &str| console.post(MIGRATIONS, &preview(sql)).await;

    let added = try_sql("alter table notes add body text").await;
    assert_eq!((&added["rewrites"], &added["rows"]), (&json!(false), &json!(0)));
    let lock = &added["locks"][0];
    assert_eq!(lock["relation"], "public.notes");
    assert_eq!(lock["mode"], "AccessExclusiveLock");
    assert_eq!(
        (&lock["blocks"], &lock["rows"]),
        (&json!("reading and writing wait"), &json!(30))
    );
    let names: Vec<&str> = added["dependants"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|each| each["name"].as_str())
        .collect();
    assert!(names.contains(&"public.recent"), "{added}");

    let checked = try_sql("alter table notes add check (n > 0)").await;
    assert_eq!(
        (&checked["rewrites"], &checked["rows"]),
        (&json!(false), &json!(30)),
        "{checked}"
    );
    let rewritten =
        try_sql("alter table notes alter n type int8; alter table \"Odd \"\"one\" add x int").await;
    assert_eq!(
        (&rewritten["rewrites"], &rewritten["rows"]),
        (&json!(true), &json!(30))
    );

    let dropped = try_sql("drop table notes cascade").await;
    let gone: Vec<String> = dropped["dropped"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|each| format!("{} {}", each["kind"], each["name"]).replace('"', ""))
        .collect();
    assert_eq!(
        gone,
        [
            "table public.notes",
            "table constraint likes_note_fkey on public.likes",
            "view public.recent"
        ]
    );

    let open = try_sql("create table public.open ()").await;
    assert!(
        open["notes"][0]
            .as_str()
            .expect("a note")
            .contains("row-level security"),
        "{open}"
    );
    assert_eq!(open["locks"], json!([]));
    assert_eq!(list_files(folder.path()), [] as [String; 0]);
    assert_eq!(read_history(&console).await, [] as [String; 0]);
    assert_eq!(console.value("select count(*)::text from recent").await, "30");
}

#[tokio::test]
async fn console_072_a_preview_that_takes_long_ends_after_its_time() {
    let (console, _folder) = start().await;
    console.sql("create table slow (id int8)").await;

    let long = console
        .post(MIGRATIONS, &preview("lock table slow; select pg_sleep(100)"))
        .await;

    assert_eq!((&long["rewrites"], &long["rows"]), (&Value::Null, &Value::Null));
    assert_eq!(long["locks"][0]["relation"], "public.slow");
    // The try has been ended, so its lock is free.
    console
        .sql("set lock_timeout = '5s'; alter table slow add note text")
        .await;
}

#[tokio::test]
async fn console_073_without_schema_changes_postgresql_refuses_every_change_of_the_schema() {
    let console = TestConsole::with(|config| config.schema_changes = false).await;
    console
        .sql("create table notes (id int8); create type mood as enum ('calm'); create function f() returns int return 1")
        .await;
    let schema = "select md5(string_agg(t, ',' order by t)) from (
          select c.oid || relname || relrowsecurity || coalesce(relacl::text, '') as t from pg_class c
            join pg_namespace n on n.oid = relnamespace where nspname !~ '^pg_'
          union all select attrelid || attname from pg_attribute join pg_class c on c.oid = attrelid
            join pg_namespace n on n.oid = relnamespace where nspname !~ '^pg_'
          union all select oid || proname || prosrc from pg_proc
          union all select oid || nspname || coalesce(nspacl::text, '') from pg_namespace where nspname !~ '^pg_(temp|toast)'
          union all select oid || polname from pg_policy
          union all select oid || enumlabel from pg_enum) as everything (t)";
    let before = console.value(schema).await;

    for sql in [
        "create table x ()",
        "create schema x",
        "alter table notes add note text",
        "alter table notes disable row level security",
        "drop table notes",
        "create index on notes (id)",
        "create policy p on notes using (true)",
        "alter type mood add value 'loud'",
        "create or replace function f() returns int return 2",
        "create view x as select 1",
        "create extension citext",
        "set role postgres",
        "set session authorization postgres",
        "grant all on notes to anon",
        "do $$ begin execute 'drop table public.notes'; end $$",
    ] {
        for subject in [json!({ "kind": "admin" }), json!({ "kind": "service_role" })] {
            let body = json!({ "id": sql, "text": sql, "subject": subject });
            let answer = console.send("/api/sql/runs", &body).await;
            let text = answer.text().await.expect("a body");
            let is_refused = text.contains("\"code\":\"42501\"");
            // PostgreSQL only warns when a role grants a privilege that it may not grant, and then grants nothing.
            assert!(
                is_refused || sql.starts_with("grant"),
                "{sql} as {subject}: {text}"
            );
        }
    }

    assert_eq!(console.value(schema).await, before);
    for body in [change("x", "create table x ()"), preview("create table x ()")] {
        assert_eq!(console.refused(MIGRATIONS, &body).await.0, 403);
    }
}

#[tokio::test]
async fn console_170_viewers_and_consoles_without_a_folder_write_no_migrations() {
    let viewers = TestConsole::start_for_viewers().await;
    let served = TestConsole::start().await;

    for console in [viewers, served] {
        let (status, body) = console.refused(MIGRATIONS, &change("x", "select 1")).await;
        assert_eq!((status, &body["code"]), (403, &json!("forbidden")), "{body}");
    }
}

#[tokio::test]
async fn console_071_no_file_is_written_behind_a_link_that_has_replaced_the_folder() {
    let (console, folder) = start().await;
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("migrations")).expect("linked");

    let (status, _) = console
        .refused(MIGRATIONS, &change("late", "create table late (id int)"))
        .await;

    assert_eq!(status, 409);
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
}
