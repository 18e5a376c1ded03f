//! Ways from `postgres` to a superuser that earlier versions had. None of them makes a role, or runs anything, with a superuser's rights.

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{query_sqlstate, query_value};

/// A function that makes a superuser when it runs as one.
const EVIL: &str = "
    create function public.evil() returns void language plpgsql as $$
    begin
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        create role gw_012_evil superuser;
      end if;
    end $$;
    grant execute on function public.evil() to public;";

/// Runs each statement in a transaction of its own, and passes errors by. The last one is what the attack needs, so its SQLSTATE is
/// returned, `00000` when it succeeds.
async fn attack(client: &Client, statements: &[&str]) -> String {
    let mut last = String::new();
    for statement in statements {
        last = match client.batch_execute(statement).await {
            Ok(()) => "00000".to_owned(),
            Err(error) => error.code().expect("by PostgreSQL").code().to_owned(),
        };
    }
    last
}

pub(super) async fn assert_no_superuser(client: &Client, what: &str) {
    let evil = "select string_agg(rolname, ', ') from pg_roles where rolname like 'gw\\_012\\_evil%'";
    assert_eq!(query_value(client, evil).await, "null", "{what}");
}

/// `postgres` with the function of [`EVIL`].
pub(super) async fn attacker(database: &TestDatabase) -> Client {
    let postgres = database.connect("postgres").await;
    postgres.batch_execute(EVIL).await.expect("created");
    postgres
}

#[tokio::test]
async fn gw_012_foreign_data_wrappers_run_no_function_of_a_project_and_none_without_its_checks() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create function public.validate(text[], oid) returns void language plpgsql as $$ begin perform public.evil(); end $$;
             create extension postgres_fdw schema extensions;
             create extension dblink schema extensions;
             alter extension postgres_fdw add function public.validate(text[], oid);
             select _selvedge.create_extension('file_fdw', true, 'extensions', null, false)",
        )
        .await
        .expect("postgres may");

    for (handler, validator) in [
        ("null", "'public.validate'"),
        ("'extensions.postgres_fdw_handler'", "'public.validate'"),
        ("'extensions.postgres_fdw_handler'", "null"),
        (
            "'extensions.postgres_fdw_handler'",
            "'extensions.dblink_fdw_validator'",
        ),
        ("'extensions.file_fdw_handler'", "null"),
        ("'extensions.file_fdw_handler'", "'extensions.file_fdw_validator'"),
    ] {
        let create = format!("select _selvedge.create_foreign_data_wrapper('w', {handler}, {validator})");
        assert_eq!(query_sqlstate(&postgres, &create).await, "42501", "{create}");
    }
    assert_no_superuser(&postgres, "a validator").await;
}

#[tokio::test]
async fn gw_012_http_calls_the_function_that_it_was_made_with() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create schema h; create extension http schema h; alter schema h rename to h2; create schema h;
             create function h._http_dblink(text, text) returns setof record language plpgsql as $$
             begin perform public.evil(); return; end $$;
             create function h._http_send(text) returns text language plpgsql as $$ begin perform public.evil(); return '{}'; end $$;",
        )
        .await
        .expect("postgres may");

    // Its own function runs with the rights of whoever calls it.
    assert_eq!(attack(&postgres, &["select h2._http_ask('{}')"]).await, "00000");
    assert_eq!(attack(&postgres, &["select h2._http_send('{}')"]).await, "08001");
    assert_eq!(
        attack(
            &postgres,
            &["select * from h2._http_dblink('', '') as a (b text)"]
        )
        .await,
        "42501"
    );
    assert_no_superuser(&postgres, "http").await;
}

#[tokio::test]
async fn gw_012_a_secret_of_the_vault_cannot_be_referenced() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;

    let outcome = attack(
        &postgres,
        &[
            "create type public.cast_from as enum ('a')",
            "create function public.cast_it(public.cast_from) returns uuid language plpgsql as $$
             begin perform public.evil(); return (select id from vault.secrets limit 1); end $$",
            "select vault.create_secret('x')",
            "create cast (public.cast_from as uuid) with function public.cast_it(public.cast_from) as implicit",
            "create table public.casting (x public.cast_from references vault.secrets (id))",
            "insert into public.casting values ('a')",
        ],
    )
    .await;

    assert_eq!(outcome, "42P01", "the table could not be created");
    assert_no_superuser(&postgres, "a foreign key").await;
}

#[tokio::test]
async fn gw_012_extensions_go_only_where_postgres_may_create() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create extension pg_trgm schema extensions;
             create function extensions.format(text, text, text) returns text language plpgsql as $$
             begin perform public.evil(); return ''; end $$;",
        )
        .await
        .expect("postgres may");

    for statement in [
        "select _selvedge.set_extension_schema('pg_trgm', 'pg_catalog')",
        "select _selvedge.set_extension_schema('pg_trgm', 'vault')",
        "select _selvedge.set_extension_schema('plpgsql', 'public')",
        "select _selvedge.create_extension('hstore', true, 'pg_catalog', null, false)",
        "select _selvedge.create_extension('moddatetime', true, '_selvedge', null, false)",
        "create extension hstore schema pg_catalog",
        "set session_replication_role = replica; create extension hstore schema pg_catalog",
        "reset session_replication_role; drop extension plpgsql cascade",
        "select _selvedge.drop_extension('plpgsql', true, true)",
        "alter extension plpgsql add function extensions.format(text, text, text)",
    ] {
        assert_eq!(query_sqlstate(&postgres, statement).await, "42501", "{statement}");
    }
    for schema in ["a$$b", "a\"b", "a\\b", "a'b", "@extschema@"] {
        let quoted = schema.replace('\'', "''");
        postgres
            .batch_execute(&format!("create schema \"{}\"", schema.replace('"', "\"\"")))
            .await
            .expect(schema);
        let create =
            format!("select _selvedge.create_extension('moddatetime', false, '{quoted}', null, false)");
        assert_eq!(query_sqlstate(&postgres, &create).await, "22023", "{schema}");
    }

    postgres
        .batch_execute("alter extension pg_trgm add function extensions.format(text, text, text)")
        .await
        .expect("postgres owns both");
    assert_eq!(
        query_sqlstate(
            &postgres,
            "select _selvedge.set_extension_schema('pg_trgm', 'public')"
        )
        .await,
        "42501",
        "a member of postgres is not moved by a superuser"
    );
    assert_no_superuser(&postgres, "an extension").await;
}

#[tokio::test]
async fn gw_012_what_an_extension_closes_stays_closed() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create extension dblink schema public; create extension pgstattuple schema public;
             create extension pg_walinspect schema public;
             select _selvedge.create_extension('amcheck', false, 'public', null, false);",
        )
        .await
        .expect("postgres may");

    let may = |role: &str, function: &str| {
        format!("select has_function_privilege('{role}', 'public.{function}', 'execute')")
    };
    for role in ["anon", "authenticated", "service_role"] {
        for function in [
            "dblink_connect_u(public.dblink_connection)",
            "pgstattuple(regclass)",
            "pg_get_wal_record_info(pg_lsn)",
            "bt_index_check(regclass)",
        ] {
            assert_eq!(
                query_value(&postgres, &may(role, function)).await,
                "false",
                "{role} {function}"
            );
        }
        assert_eq!(
            query_value(&postgres, &may(role, "dblink_connect(public.dblink_connection)")).await,
            "true"
        );
    }
    assert_eq!(
        query_value(
            &postgres,
            &may("postgres", "dblink_connect_u(public.dblink_connection)")
        )
        .await,
        "false"
    );
    assert_eq!(
        query_value(&postgres, &may("postgres", "bt_index_check(regclass)")).await,
        "true"
    );
    // pg_dump repeats what differs from these, as REVOKEs that a restore as postgres refuses.
    let differing = "select string_agg(p.oid::regprocedure::text, ', ') from pg_proc as p
        left join pg_init_privs as i on i.classoid = 'pg_proc'::regclass and i.objoid = p.oid
        where p.proname in ('dblink_connect_u', 'pgstattuple', 'bt_index_check') and i.initprivs is distinct from p.proacl";
    assert_eq!(query_value(&postgres, differing).await, "null");
}

/// pg_dump repeats what differs from the privileges that the extension's script has left.
#[tokio::test]
async fn gw_012_a_dump_repeats_nothing_of_what_an_upgrade_took_back_of_an_extensions_tables() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "grant references on vault.secrets to service_role;
             update pg_init_privs as i set initprivs = c.relacl from pg_class as c
             where c.oid = 'vault.secrets'::regclass and i.classoid = 'pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0",
        )
        .await
        .expect("as the script of an earlier version left it");
    let privileges = "select (i.initprivs = c.relacl) || ' ' || has_table_privilege('service_role', c.oid, 'references')
        from pg_class as c join pg_init_privs as i on i.classoid = 'pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0
        where c.oid = 'vault.secrets'::regclass";
    assert_eq!(query_value(&superuser, privileges).await, "true true");

    superuser
        .batch_execute("select _selvedge.close_tables_of_superusers()")
        .await
        .expect("closed");

    assert_eq!(query_value(&superuser, privileges).await, "true false");
}

#[tokio::test]
async fn gw_012_tables_that_decide_what_a_superuser_runs_are_closed_also_to_pg_write_all_data() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    let superuser = database.superuser().await;
    postgres
        .batch_execute("select _selvedge.create_extension('pg_cron', true, null, null, false)")
        .await
        .expect("created");
    superuser
        .batch_execute("create role gw_012_writer login in role pg_write_all_data password 'postgres'")
        .await
        .expect("created");
    let writer = database.connect("gw_012_writer").await;

    for table in [
        "_selvedge.shipped_extensions",
        "_selvedge.platform_migrations",
        "_selvedge.selvedge_installed_extensions",
        "_selvedge.selvedge_event_trigger_functions",
        "_selvedge.selvedge_project_settings",
        "vault._key_file",
    ] {
        let columns = "select count(*) from pg_attribute where attrelid = '{}'::regclass";
        assert_ne!(
            query_value(&postgres, &columns.replace("{}", table)).await,
            "0",
            "{table}"
        );
        let insert = format!("insert into {table} default values");
        let code = query_sqlstate(&writer, &insert).await;
        assert_eq!(code, "42501", "{insert}");
    }
    for statement in [
        "update _selvedge.shipped_extensions set script = 'select public.evil()'",
        "delete from _selvedge.platform_migrations",
        "insert into cron.job (schedule, command, username) values ('1 second', 'select 1', 'supabase_admin')",
    ] {
        assert_eq!(query_sqlstate(&writer, statement).await, "42501", "{statement}");
    }
    drop(writer);
    superuser
        .batch_execute("drop role gw_012_writer")
        .await
        .expect("dropped");
}

#[tokio::test]
async fn gw_012_jobs_belong_to_whoever_writes_them_also_without_ordinary_triggers() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute("select _selvedge.create_extension('pg_cron', true, null, null, false)")
        .await
        .expect("created");

    for statement in [
        "set session_replication_role = replica;
         insert into cron.job (schedule, command, username) values ('1 second', 'select public.evil()', 'supabase_admin')",
        "set session_replication_role = replica; set role supabase_auth_admin; select cron.schedule('x', '1 second', 'select 1')",
        "reset role; reset session_replication_role; grant usage on schema cron to supabase_auth_admin;
         set role supabase_auth_admin; select cron.schedule('x', '1 second', 'select 1')",
    ] {
        assert_eq!(query_sqlstate(&postgres, statement).await, "42501", "{statement}");
    }
    assert_eq!(
        query_value(
            &postgres,
            "select count(*) from cron.job where username <> 'postgres'"
        )
        .await,
        "0"
    );
}

#[tokio::test]
async fn gw_012_code_of_event_triggers_runs_as_postgres_also_in_a_session_of_a_superuser() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create table public.seen (event text, as_user name, as_session name);
             create function public.watch() returns event_trigger language plpgsql set role = 'postgres' as $$
             begin
               insert into public.seen values (tg_event, current_user, session_user);
               begin perform set_config('role', 'none', true); exception when others then null; end;
               begin perform set_config('session_authorization', 'supabase_admin', true); exception when others then null; end;
               perform public.evil();
             end $$;
             select _selvedge.create_event_trigger('watch', 'ddl_command_end', null, 'public.watch()');",
        )
        .await
        .expect("postgres may");

    // A superuser's session that a setting of the database has lowered.
    let superuser = database.superuser().await;
    superuser
        .batch_execute("create table public.a (id int); set role postgres; create table public.b (id int)")
        .await
        .expect("created");
    assert_eq!(
        query_value(
            &superuser,
            "select string_agg(as_user || ' ' || as_session, ', ') from public.seen"
        )
        .await,
        "postgres supabase_admin"
    );

    // What runs is a function of postgres, which it may alter; altered, it does not run.
    let body = query_value(
        &superuser,
        "select oid::regprocedure from pg_proc where pronamespace = '_selvedge'::regnamespace and proname ~ '_body$'",
    )
    .await;
    for (change, back) in [
        ("security invoker", "security definer"),
        (
            "set session_replication_role = 'replica'",
            "reset session_replication_role",
        ),
    ] {
        // The trigger fires at the end of this statement, too.
        assert_eq!(
            query_sqlstate(&postgres, &format!("alter function {body} {change}")).await,
            "42501",
            "{change}"
        );
        postgres
            .batch_execute(&format!(
                "alter event trigger watch disable; alter function {body} {change}; alter event trigger watch enable"
            ))
            .await
            .expect("its owner may");
        assert_eq!(
            query_sqlstate(&superuser, "create table public.c (id int)").await,
            "42501",
            "{change}"
        );
        postgres
            .batch_execute(&format!(
                "alter event trigger watch disable; alter function {body} {back}; alter event trigger watch enable"
            ))
            .await
            .expect("its owner may");
    }
    assert_eq!(
        query_sqlstate(
            &postgres,
            "select _selvedge.run_event_trigger('public.watch()'::regprocedure, 'ddl_command_end', 'x')"
        )
        .await,
        "42501",
        "only an event trigger may call it"
    );
    assert_no_superuser(&postgres, "an event trigger").await;
}

#[tokio::test]
async fn gw_012_functions_of_other_roles_and_texts_that_do_not_stand_alone_become_no_event_trigger() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "set check_function_bodies = off;
             create function public.broken() returns event_trigger language plpgsql as
               'null; exception when others then perform public.evil();';
             create function public.of_auth() returns event_trigger language plpgsql as 'begin end';
             grant create on schema public to supabase_auth_admin;
             alter function public.of_auth() owner to supabase_auth_admin;
             create function public.follows() returns event_trigger language plpgsql as 'begin end';
             select _selvedge.create_event_trigger('follows', 'ddl_command_end', null, 'public.follows()');",
        )
        .await
        .expect("postgres may");

    let create = |function: &str| {
        format!("select _selvedge.create_event_trigger('e', 'ddl_command_end', null, 'public.{function}()')")
    };
    assert_eq!(query_sqlstate(&postgres, &create("broken")).await, "42601");
    assert_eq!(query_sqlstate(&postgres, &create("of_auth")).await, "42501");
    // Whoever gets the function of a trigger cannot change what runs as postgres.
    assert_eq!(
        query_sqlstate(
            &postgres,
            "alter function public.follows() owner to supabase_auth_admin"
        )
        .await,
        "42501"
    );
    assert_no_superuser(&postgres, "an event trigger").await;
}

/// An index or a policy on a table of Auth runs its code in the session that reads it, and some at the end of the transaction, as the role that has
/// logged in: so only the owner's login and those of readers read there.
#[tokio::test]
async fn gw_012_the_consoles_own_login_reads_no_table_that_is_not_a_superusers() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    let readable =
        "select string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text) from pg_class c
        join pg_roles o on o.oid = c.relowner and not o.rolsuper
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and (
          has_table_privilege('selvedge_console_service', c.oid, 'select, insert, update, delete')
          or has_any_column_privilege('selvedge_console_service', c.oid, 'select, insert, update'))";
    let called =
        "select string_agg(p.oid::regprocedure::text, ', ' order by p.oid::regprocedure::text) from pg_proc p
        join pg_roles o on o.oid = p.proowner and not o.rolsuper
        where p.pronamespace = 'selvedge_console'::regnamespace";

    assert_eq!(query_value(&postgres, readable).await, "null");
    assert_eq!(query_value(&postgres, called).await, "null");
}

#[tokio::test]
async fn gw_012_only_roles_of_the_project_bypass_row_level_security() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for role in [
        "postgres",
        "anon",
        "authenticator",
        "selvedge_console_service",
        "supabase_admin",
        "pg_monitor",
    ] {
        let statement = format!("select _selvedge.set_bypassrls('{role}', true)");
        assert_eq!(query_sqlstate(&postgres, &statement).await, "42501", "{role}");
    }
}
