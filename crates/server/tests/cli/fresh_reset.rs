//! `db reset` leaves a database that is as that of a fresh project, catalog by catalog, whatever migrations have done: that of a running
//! project, and one on another server, where roles and settings are not the project's.

use std::process::Output;

use selvedge_testing::apply_earlier_platform;

use crate::plain_server::PlainServer;
use crate::support::Project;

/// Everything of the catalogs that a reset compares.
const STATE: &str = include_str!("../../../postgres/src/migrate/database_state.sql");

/// Some of it again, in other words: rights as they are stored, roles, and what queues hold.
const RIGHTS: &str = "
    select 'relation ' || oid::regclass || coalesce(array(select unnest(relacl)::text order by 1)::text, '') from pg_class where oid >= 16384
      and relnamespace::regnamespace::text in ('auth', 'storage', 'extensions', 'public', 'vault', 'graphql_public', '_selvedge')
    union all
    select 'function ' || oid::regprocedure || coalesce(array(select unnest(proacl)::text order by 1)::text, '') from pg_proc where oid >= 16384
    union all
    select 'member ' || member::regrole || ' of ' || roleid::regrole || admin_option from pg_auth_members
    union all
    select 'setting ' || setrole::regrole || setconfig::text from pg_db_role_setting
    union all
    select 'published ' || pubname || tablename from pg_publication_tables where pubname = 'supabase_realtime'
    union all
    select 'messages ' || count(*) from realtime.messages
    union all
    select 'index ' || indexrelid::regclass from pg_index where indrelid::regclass::text like 'auth.%'
    union all
    select 'trigger ' || tgname from pg_trigger where not tgisinternal
    union all
    select 'schema ' || nspname || coalesce(array(select unnest(nspacl)::text order by 1)::text, '') from pg_namespace where nspname !~ '^pg_'
    union all
    select 'policy ' || polname from pg_policy
    order by 1";

/// Changes of every kind of thing that `postgres` may change.
const MESS: &str = r#"
    create table public.t (a int primary key, b int);
    grant select on auth.users to anon;
    revoke select on storage.objects from anon;
    grant all on all tables in schema auth to service_role;
    grant all on schema public to anon;
    alter default privileges revoke execute on functions from public;
    alter default privileges in schema public grant execute on functions to public;
    alter role anon set statement_timeout = '1h';
    alter role authenticator set pgrst.db_pre_request = 'public.x';
    alter role authenticator connection limit 50;
    alter database postgres set statement_timeout = '5min';
    alter database postgres connection limit 90;
    comment on database postgres is 'mine';
    revoke connect on database postgres from public;
    grant connect on database postgres to anon, authenticator, postgres, supabase_auth_admin, supabase_storage_admin;
    grant service_role to anon;
    create role own_role;
    grant anon to own_role;
    grant own_role to authenticator;
    drop publication supabase_realtime;
    create publication supabase_realtime for table public.t with (publish = 'insert');
    create function public.f() returns trigger language plpgsql as $$begin return new; end$$;
    create trigger tt after insert on auth.users for each row execute function public.f();
    create index on auth.users (email, phone);
    create policy p on storage.objects for select using (true);
    create extension hstore schema extensions;
    drop extension pg_net;
    create extension pgmq;
    create extension pg_cron;
    insert into realtime.messages (topic, extension, payload) values ('x', 'broadcast', '{}');
    comment on schema public is 'mine';
    comment on table auth.users is 'mine';
    create type extensions.mood as enum ('a');
    create domain extensions.d as int check (value > 0);
    create aggregate extensions.mysum (int) (sfunc = int4pl, stype = int);
    create schema private;
    alter default privileges in schema private grant all on tables to anon;
    set role supabase_auth_admin;
    alter table auth.users add column mine text;
    alter table auth.users alter column phone set default 'x';
    alter table auth.users drop constraint users_phone_key;
    create view auth.v as select 1 as a;
    create rule rr as on insert to auth.audit_log_entries do also nothing;
    create function auth.own() returns int language sql as 'select 1';
    comment on column auth.users.id is 'x';
    reset role;
    set role supabase_storage_admin;
    alter table storage.objects disable row level security;
    alter table storage.buckets alter column public set default true;
    reset role;
    drop function storage.filename(text) cascade;
    reassign owned by supabase_auth_admin to postgres;
"#;

async fn read(project: &Project, query: &str) -> Vec<String> {
    read_lines(&project.superuser().await, query).await
}

async fn read_lines(database: &tokio_postgres::Client, query: &str) -> Vec<String> {
    database
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await
        .expect("set");
    let rows = database
        .query(&format!("select q::text from ({query}) as q"), &[])
        .await;
    rows.expect("rows").iter().map(|row| row.get(0)).collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_leaves_the_catalogs_of_a_fresh_project() {
    let project = Project::new();
    let _running = project.start().await;
    // The statements in it name objects by their numbers.
    let state = format!("select s.rank, s.part, s.value from ({STATE}) as s");
    let fresh = read(&project, &state).await;
    let rights = read(&project, RIGHTS).await;
    let history = |lines: &[String]| -> Vec<String> {
        // The history of migrations is made with the first one, and is empty afterwards.
        let of_history = |line: &&String| !line.contains("supabase_migrations");
        lines.iter().filter(of_history).cloned().collect()
    };
    project.write("migrations/20260101000000_mess.sql", MESS);
    project.run_and_expect_success(&["migration", "up"]);
    project.run_and_expect_success(&[
        "db",
        "query",
        "select pgmq.create('jobs'), pgmq.send('jobs', '{}'), cron.schedule('x', '* * * * *', 'select 1')",
    ]);
    assert_ne!(read(&project, RIGHTS).await, rights);
    let issued = project.superuser().await.batch_execute(ISSUE_TOKEN).await;
    issued.expect("as Storage does");

    std::fs::remove_file(project.path("migrations/20260101000000_mess.sql")).expect("removed");
    let reset = project.run(&["db", "reset"]);
    let printed = String::from_utf8_lossy(&reset.stderr);
    assert!(reset.status.success(), "{printed}");
    assert!(!printed.contains("not as in a fresh project"), "{printed}");

    assert_eq!(history(&read(&project, RIGHTS).await), history(&rights));
    let now = history(&read(&project, &state).await);
    let fresh = history(&fresh);
    let changed: Vec<&String> = now.iter().filter(|line| !fresh.contains(line)).collect();
    assert!(changed.is_empty(), "{changed:#?}");
    assert_eq!(now.len(), fresh.len());
    assert_eq!(read(&project, TOKENS).await, ["(store,{token})"]);
    assert!(!project.path(".selvedge/fresh").exists());
}

/// What the database has written into its mark in a bucket. Without it the database would take the mark for one of a copy.
const ISSUE_TOKEN: &str =
    "insert into _selvedge.selvedge_object_stores (store, tokens) values ('store', array['token'])";
const TOKENS: &str = "select store, tokens from _selvedge.selvedge_object_stores";

/// A reset cannot make tables and columns while the project runs.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_names_what_the_project_has_dropped_of_the_platform_and_makes_all_else() {
    const FOUND: &str =
        "select concat_ws(' ', to_regprocedure('storage.extension(text)'), to_regclass('public.notes'))";
    let project = Project::new();
    let _running = project.start().await;
    let dropping = "drop table auth.flow_state cascade; alter table storage.buckets drop column allowed_mime_types cascade;
        drop function storage.filename(text) cascade";
    let dropped = project.database().await.batch_execute(dropping).await;
    dropped.expect("postgres may");
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int)",
    );

    let reset = project.run(&["db", "reset"]);

    let printed = String::from_utf8_lossy(&reset.stderr);
    assert!(reset.status.success(), "{printed}");
    for part in ["auth.flow_state", "selvedge stop, selvedge reset"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let found = project.database().await.query_one(FOUND, &[]).await;
    assert_eq!(
        found.expect("a row").get::<_, String>(0),
        "storage.extension(text) notes"
    );
}

/// What belongs to the server: roles, their memberships, and the database itself.
const OF_THE_SERVER: [&str; 6] = [
    "alter role",
    "alter database",
    "comment on database",
    "create role",
    "grant anon to",
    "grant own_role",
];

/// The objects of a database, without the history of migrations, which is made with the first one.
const OBJECTS: &str = "select s.rank, s.part, s.value from (STATE) as s where s.rank >= 20 and s.part not like '%supabase_migrations%'";

fn run_at(project: &Project, url: &str, arguments: &[&str]) -> Output {
    let mut command = project.command(arguments);
    command
        .env("DATABASE_URL", url)
        .output()
        .expect("the binary runs")
}

fn run_well_at(project: &Project, url: &str, arguments: &[&str]) -> String {
    let output = run_at(project, url, arguments);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {printed}");
    printed
}

/// A database on another server, whose administrator has a schema of their own in it, and what it consists of.
async fn make_external(project: &Project) -> (PlainServer, tokio_postgres::Client, Vec<String>) {
    let server = PlainServer::start().await;
    server.migrate_up(project);
    let superuser = server.superuser().await;
    let own = "create schema monitoring create table monitoring.samples (at timestamptz); insert into monitoring.samples values (now())";
    superuser.batch_execute(own).await.expect("made");
    let fresh = read_lines(&superuser, &OBJECTS.replace("STATE", STATE)).await;
    (server, superuser, fresh)
}

/// Rows that the services write, in tables of several owners.
const WRITE_ROWS: &str = "insert into realtime.messages (topic, extension, payload) values ('x', 'broadcast', '{}');
    insert into supabase_functions.hooks (hook_table_id, hook_name) values (1, 'x'); select net.http_get('http://127.0.0.1:9/')";

async fn assert_no_rows(database: &tokio_postgres::Client) {
    let counts = "select concat_ws(' ', (select count(*) from realtime.messages), (select count(*) from supabase_functions.hooks),
        (select count(*) from net.http_request_queue))";
    let row = database.query_one(counts, &[]).await.expect("a row");
    assert_eq!(row.get::<_, String>(0), "0 0 0");
}

fn assert_equal(now: &[String], fresh: &[String]) {
    let more: Vec<&String> = now.iter().filter(|line| !fresh.contains(line)).collect();
    let less: Vec<&String> = fresh.iter().filter(|line| !now.contains(line)).collect();
    assert!(
        more.is_empty() && less.is_empty(),
        "{more:#?} instead of {less:#?}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_of_an_external_database_leaves_the_objects_of_a_fresh_one() {
    let project = Project::new();
    let (server, superuser, fresh) = make_external(&project).await;
    superuser
        .batch_execute(ISSUE_TOKEN)
        .await
        .expect("as Storage does");
    let is_of_server = |line: &&str| {
        OF_THE_SERVER
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    let mess: Vec<&str> = MESS
        .lines()
        .filter(|line| {
            !is_of_server(line)
                && !line.contains("connect on database")
                && !line.contains("service_role to anon")
        })
        .collect();
    project.write("migrations/20260101000000_mess.sql", &mess.join("\n"));
    run_well_at(&project, &server.url(), &["migration", "up"]);
    run_well_at(
        &project,
        &server.url(),
        &[
            "db",
            "query",
            "select pgmq.create('jobs'), cron.schedule('x', '* * * * *', 'select 1')",
        ],
    );
    assert_ne!(
        read_lines(&superuser, &OBJECTS.replace("STATE", STATE)).await,
        fresh
    );

    std::fs::remove_file(project.path("migrations/20260101000000_mess.sql")).expect("removed");
    let printed = run_well_at(&project, &server.url(), &["db", "reset", "--yes"]);

    assert!(!printed.contains("not as in a fresh project"), "{printed}");
    assert_equal(
        &read_lines(&superuser, &OBJECTS.replace("STATE", STATE)).await,
        &fresh,
    );
    assert_eq!(read_lines(&superuser, TOKENS).await, ["(store,{token})"]);
    let kept = superuser
        .query_one("select count(*) from monitoring.samples", &[])
        .await;
    assert_eq!(
        kept.expect("a row").get::<_, i64>(0),
        1,
        "it is the administrator's"
    );
    assert!(!project.path(".selvedge/fresh").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_by_postgres_removes_what_it_may_and_refuses_what_would_stay() {
    let project = Project::new();
    let (server, superuser, fresh) = make_external(&project).await;
    let url = server.url_of("postgres", "of-postgres");
    let mess = "create table public.t (a int); set role supabase_auth_admin; alter table auth.users add column mine text;
        create view auth.v as select 1 as a; create or replace function auth.uid() returns uuid language sql stable as 'select null::uuid';
        reset role; create policy p on storage.objects using (true); drop extension pg_net;";
    project.write("migrations/20260101000000_mess.sql", mess);
    run_well_at(&project, &url, &["migration", "up"]);
    std::fs::remove_file(project.path("migrations/20260101000000_mess.sql")).expect("removed");

    let printed = run_well_at(&project, &url, &["db", "reset", "--yes"]);

    assert!(!printed.contains("not as in a fresh project"), "{printed}");
    assert_equal(
        &read_lines(&superuser, &OBJECTS.replace("STATE", STATE)).await,
        &fresh,
    );

    let rights = "create table public.t (a int); grant select on auth.users to anon;";
    project.write("migrations/20260101000000_rights.sql", rights);
    run_well_at(&project, &url, &["migration", "up"]);
    let before = read_lines(&superuser, STATE).await;
    let refused = run_at(&project, &url, &["db", "reset", "--yes"]);
    let printed = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success()
            && printed.contains("rights on table auth.users")
            && printed.contains("nothing was changed"),
        "{printed}"
    );
    assert_eq!(read_lines(&superuser, STATE).await, before);
    std::fs::remove_file(project.path("migrations/20260101000000_rights.sql")).expect("removed");
    superuser.batch_execute(WRITE_ROWS).await.expect("written");
    refuse_while_somebody_reads(&project, &server, &superuser).await;
    run_well_at(&project, &server.url(), &["db", "reset", "--yes"]);
    assert_equal(
        &read_lines(&superuser, &OBJECTS.replace("STATE", STATE)).await,
        &fresh,
    );
    assert_no_rows(&superuser).await;
}

/// Somebody's open transaction on what is emptied last, by a superuser's URL in a transaction of its own, keeps everything from being emptied.
async fn refuse_while_somebody_reads(
    project: &Project,
    server: &PlainServer,
    superuser: &tokio_postgres::Client,
) {
    let before = read_lines(superuser, STATE).await;
    let reader = server.superuser().await;
    let reads =
        "set application_name = 'of a reader'; begin; select from realtime.messages, net.http_request_queue";
    reader.batch_execute(reads).await.expect("read");
    for url in [server.url(), server.url_of("postgres", "of-postgres")] {
        let refused = run_at(project, &url, &["db", "reset", "--yes"]);
        let printed = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && printed.contains("Nothing was changed"),
            "{printed}"
        );
        assert!(!printed.contains("is empty now"), "{printed}");
    }
    reader.batch_execute("rollback").await.expect("ended");
    assert_eq!(read_lines(superuser, STATE).await, before);
    let messages = superuser
        .query_one("select count(*) from realtime.messages", &[])
        .await;
    assert_eq!(messages.expect("a row").get::<_, i64>(0), 1);
}

/// What an earlier version has made and this one makes otherwise is nothing that a project has added.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_by_postgres_is_not_refused_in_a_database_that_an_earlier_version_has_made() {
    let project = Project::new();
    let server = PlainServer::start().await;
    let superuser = server.superuser().await;
    // As the texts of its extensions are those of today.
    superuser
        .batch_execute("set check_function_bodies = off")
        .await
        .expect("set");
    apply_earlier_platform(&superuser).await;
    server.migrate_up(&project);

    superuser.batch_execute(WRITE_ROWS).await.expect("written");
    let url = server.url_of("postgres", "of-postgres");
    let printed = run_well_at(&project, &url, &["db", "reset", "--yes"]);

    assert!(!printed.contains("not as in a fresh project"), "{printed}");
    assert_no_rows(&superuser).await;
}
