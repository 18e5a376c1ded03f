//! `db reset` of a running project leaves a database that is as that of a fresh project, catalog by catalog, whatever migrations have done.

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
"#;

async fn read(project: &Project, query: &str) -> Vec<String> {
    let database = project.superuser().await;
    database
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await
        .expect("set");
    let rows = database
        .query(&format!("select q::text from ({query}) as q"), &[])
        .await;
    rows.expect("rows").iter().map(|row| row.get(0)).collect()
}

#[actix_web::test]
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
    assert!(!project.path(".selvedge/fresh").exists());
}
