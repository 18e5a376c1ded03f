//! Statements in migrations that PostgreSQL reserves for superusers and Supabase's image does not.

use super::Project;

const EVENT_TRIGGER: &str = "
    create function public.enable_rls() returns event_trigger
      language plpgsql security definer set search_path = pg_catalog as $$
    declare
      command record;
    begin
      for command in select * from pg_event_trigger_ddl_commands() where command_tag = 'CREATE TABLE' loop
        if command.schema_name = 'public' then
          execute format('alter table %s enable row level security', command.object_identity);
        end if;
      end loop;
    end
    $$;
    create event trigger ensure_rls on ddl_command_end when tag in ('CREATE TABLE') execute function public.enable_rls();";

#[tokio::test]
async fn gw_018_event_triggers_of_projects_run_and_follow_their_function() {
    let project = Project::new(&[
        ("migrations/1_trigger.sql", EVENT_TRIGGER),
        ("migrations/2_table.sql", "create table a (id int);"),
    ])
    .await;
    project.migrate().await.expect("applies");
    let secured =
        |table: &str| format!("select relrowsecurity from pg_class where oid = 'public.{table}'::regclass");
    assert_eq!(project.query_value(&secured("a")).await, "true");
    assert_eq!(
        project
            .query_value("select evtowner::regrole from pg_event_trigger where evtname = 'ensure_rls'")
            .await,
        "postgres"
    );

    let postgres = &project.client;
    postgres
        .batch_execute(
            "create or replace function public.enable_rls() returns event_trigger language plpgsql as $$
             begin raise notice 'replaced'; end $$;
             create table b (id int); comment on event trigger ensure_rls is 'ours';",
        )
        .await
        .expect("postgres may");
    assert_eq!(project.query_value(&secured("b")).await, "false");
    postgres
        .batch_execute("drop function public.enable_rls()")
        .await
        .expect_err("its trigger needs it");
    postgres
        .batch_execute(
            "alter event trigger ensure_rls disable; drop event trigger ensure_rls; drop function public.enable_rls() cascade;
             create table c (id int)",
        )
        .await
        .expect("postgres owns them");
}

#[tokio::test]
async fn gw_018_event_triggers_of_projects_do_not_run_for_superusers() {
    let project = Project::new(&[(
        "migrations/1_trigger.sql",
        "create function public.become_superuser() returns event_trigger language plpgsql as $$
         begin
           perform set_config('test.user', current_user::text, false);
           execute 'alter role postgres superuser';
         end $$;
         create event trigger attack on ddl_command_end execute procedure become_superuser();
         alter event trigger attack disable;",
    )])
    .await;
    project.migrate().await.expect("applies");

    let superuser = project.database.superuser().await;
    superuser
        .batch_execute("alter event trigger attack enable; create table public.by_superuser (id int)")
        .await
        .expect("the trigger is passed by");
    // The script of a trusted extension runs as the bootstrap superuser, and its statements fire event triggers.
    project
        .client
        .batch_execute("create extension dblink")
        .await
        .expect_err("the statement itself is one of postgres");
    superuser
        .batch_execute("alter event trigger attack disable")
        .await
        .expect("a superuser may");

    assert_eq!(
        project
            .query_value("select rolsuper from pg_roles where rolname = 'postgres'")
            .await,
        "false"
    );
}

#[tokio::test]
async fn gw_018_publications_of_all_tables_and_foreign_data_wrappers_belong_to_postgres() {
    let project = Project::new(&[(
        "migrations/1_all.sql",
        "create publication everything for all tables with (publish = 'insert, update');
         create foreign data wrapper empty_wrapper;
         create extension postgres_fdw with schema extensions;
         create foreign data wrapper mine handler extensions.postgres_fdw_handler
           validator extensions.postgres_fdw_validator;
         do $$ begin
           if not exists (select from pg_publication where pubname = 'more') then
             create publication more for all tables;
           end if;
           execute 'create publication third for all tables';
         end $$;",
    )])
    .await;

    project.migrate().await.expect("applies");

    assert_eq!(
        project
            .query_value(
                "select string_agg(concat_ws(' ', pubname, pubowner::regrole, puballtables, pubinsert, pubdelete), ', '
                 order by pubname) from pg_publication where pubname in ('everything', 'more', 'third')"
            )
            .await,
        "everything postgres t t f, more postgres t t t, third postgres t t t"
    );
    project
        .client
        .batch_execute(
            "create server s foreign data wrapper mine options (host 'x'); drop server s;
             grant usage on foreign data wrapper mine to service_role;
             alter publication more set (publish = 'insert');
             drop foreign data wrapper mine; drop foreign data wrapper empty_wrapper;
             drop publication everything, more, third;",
        )
        .await
        .expect("postgres owns them");
}

#[tokio::test]
async fn gw_018_publications_of_schemas_belong_to_postgres_and_those_of_others_stay_as_they_are() {
    let project = Project::new(&[(
        "migrations/1_schemas.sql",
        "create table public.items (id int primary key);
         create publication app for tables in schema public with (publish = 'insert');
         create schema more;
         create schema third;
         alter publication app add tables in schema more;
         do $$ begin
           create publication replaced for tables in schema public, more;
           alter publication replaced set tables in schema third;
         end $$;",
    )])
    .await;

    project.migrate().await.expect("applies");

    assert_eq!(
        project
            .query_value(
                "select string_agg(concat_ws(' ', p.pubname, p.pubowner::regrole, p.pubinsert, p.pubdelete, n.nspname), ', '
                 order by p.pubname, n.nspname)
                 from pg_publication p join pg_publication_namespace s on s.pnpubid = p.oid
                 join pg_namespace n on n.oid = s.pnnspid"
            )
            .await,
        "app postgres t f more, app postgres t f public, replaced postgres t t third"
    );
    project
        .client
        .batch_execute(
            "select _selvedge.alter_schemas_of_publication('app', 'add', array['third']);
             alter publication app drop tables in schema more; drop publication app, replaced",
        )
        .await
        .expect("postgres owns them");
    for refused in [
        "select _selvedge.alter_schemas_of_publication('supabase_realtime_messages_publication', 'add', array['public'])",
        "select _selvedge.alter_schemas_of_publication('app; drop table x', 'add', array['public'])",
        "select _selvedge.alter_schemas_of_publication('app', 'drop', array['public'])",
    ] {
        project.client.batch_execute(refused).await.expect_err(refused);
    }
}

#[tokio::test]
async fn gw_018_roles_of_projects_may_bypass_row_level_security_and_those_of_the_platform_not() {
    let project = Project::new(&[(
        "migrations/1_roles.sql",
        "do $$ begin
           if not exists (select from pg_roles where rolname = 'gw_018_reader') then
             create role gw_018_reader nologin bypassrls noinherit;
           end if;
         end $$;
         create role gw_018_writer with login bypassrls password 'x';
         alter role gw_018_writer nobypassrls;",
    )])
    .await;
    project.migrate().await.expect("applies");
    let attributes = project
        .query_value(
            "select string_agg(concat_ws(' ', rolname, rolbypassrls, rolcanlogin, rolinherit), ', ' order by rolname)
             from pg_roles where rolname like 'gw_018_%'",
        )
        .await;
    project.write(
        "migrations/2_attack.sql",
        "alter role supabase_auth_admin bypassrls;",
    );
    let attack = project.migrate().await.expect_err("reserved").to_string();
    project
        .client
        .batch_execute("drop role gw_018_reader, gw_018_writer")
        .await
        .expect("their creator may");

    assert_eq!(attributes, "gw_018_reader t f f, gw_018_writer f t t");
    assert!(attack.contains("42501"), "{attack}");
}
