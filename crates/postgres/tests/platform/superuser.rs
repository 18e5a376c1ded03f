//! The rules by which `postgres` is never more than `postgres`, read from the catalog, so that a new function cannot be forgotten.

use std::collections::BTreeSet;

use selvedge_postgres::migrate::{PrivilegeFault, find_privilege_faults, find_role_faults};
use selvedge_testing::{TestDatabase, create_every_extension, list_definers, list_judged_definers};

use super::{list_faulty_objects, query_value};

#[tokio::test]
async fn gw_012_no_object_breaks_a_rule_also_after_every_extension_was_created() {
    for schema in ["public", "extensions"] {
        let database = TestDatabase::create().await;
        let postgres = database.connect("postgres").await;
        let created = create_every_extension(&postgres, schema).await;

        assert!(created > 30, "{created}");
        assert_eq!(
            find_privilege_faults(&postgres).await.expect("a list"),
            Vec::<PrivilegeFault>::new(),
            "{schema}"
        );
        assert_eq!(
            query_value(
                &postgres,
                "select string_agg(oid::regprocedure::text, ', ') from pg_proc
                 where pronamespace = 'pg_catalog'::regnamespace and oid >= 16384"
            )
            .await,
            "null",
            "nothing is created in pg_catalog"
        );
    }
}

#[tokio::test]
async fn gw_012_each_rule_finds_what_breaks_it() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "alter event trigger _selvedge_check_connections disable;
             create extension dblink schema public; create extension file_fdw schema public;
             create server with_a_key foreign data wrapper dblink_fdw options (host 'x', sslkey '/tmp/x:y');
             alter server with_a_key owner to postgres;
             create function public.no_path() returns void language plpgsql security definer as $$ begin end $$;
             create function _selvedge.names_public() returns void language plpgsql security definer
               set search_path = pg_catalog, pg_temp as $$ begin perform public.f(); end $$;
             create function _selvedge.names_users() returns bigint language plpgsql security definer
               set search_path = pg_catalog, pg_temp as $$ begin return (select count(*) from auth . \"users\"); end $$;
             create function public.unbound() returns int language plpgsql security definer
               set search_path = pg_catalog, pg_temp as $$ begin return 1; end $$;
             create table public.foreign_rows (id int);
             alter table public.foreign_rows owner to postgres;
             create function _selvedge.on_rows() returns trigger language plpgsql security definer
               set search_path = pg_catalog, pg_temp as $$ begin return new; end $$;
             create trigger on_rows before insert on public.foreign_rows for each row execute function _selvedge.on_rows();
             create function _selvedge.reads() returns bigint language sql security definer
               set search_path = pg_catalog, pg_temp begin atomic select count(*) from public.foreign_rows; end;
             create function storage.of_service() returns int language plpgsql security definer
               set search_path = '' as $$ begin return 1; end $$;
             alter function storage.of_service() owner to supabase_storage_admin;
             create domain public.of_postgres as uuid;
             alter domain public.of_postgres owner to postgres;
             create table public.of_superuser (id uuid primary key, other public.of_postgres[]);
             grant references on public.of_superuser to postgres;
             grant trigger on public.of_superuser to anon;
             create function public.by_postgres() returns trigger language plpgsql as $$ begin return new; end $$;
             alter function public.by_postgres() owner to postgres;
             create trigger by_postgres before insert on public.of_superuser
               for each row execute function public.by_postgres();
             create function public.is_of_postgres(uuid) returns boolean language plpgsql as $$ begin return true; end $$;
             alter function public.is_of_postgres(uuid) owner to postgres;
             create trigger on_condition before update on public.of_superuser for each row when (public.is_of_postgres(new.id))
               execute function pg_catalog.suppress_redundant_updates_trigger();
             alter default privileges in schema public grant trigger on tables to anon;
             grant execute on function public.dblink_connect_u(text) to anon;
             create function pg_catalog.by_postgres() returns int language sql as $$ select 1 $$;
             alter function pg_catalog.by_postgres() owner to postgres;",
        )
        .await
        .expect("a superuser may");
    superuser
        .batch_execute(
            "create foreign data wrapper unchecked handler public.file_fdw_handler;
             grant create on schema vault to postgres;
             do $$ begin
               execute 'grant execute on function ' || 'pg_create_logical_replication_slot'::regproc::oid::regprocedure || ' to postgres';
             end $$;
             alter table _selvedge.selvedge_installed_extensions disable trigger all;
             grant update on _selvedge.outgoing_mails to anon;
             alter event trigger selvedge_open_new_extension enable;
             alter schema graphql owner to postgres;
             update pg_extension set extowner = 'postgres'::regrole where extname = 'plpgsql';
             create function public.plain_trigger() returns event_trigger language plpgsql as $$ begin end $$;
             alter function public.plain_trigger() owner to postgres;
             create event trigger plain on ddl_command_start execute function public.plain_trigger();
             alter event trigger plain disable;",
        )
        .await
        .expect("a superuser may");

    let rules: BTreeSet<String> = find_privilege_faults(&superuser)
        .await
        .expect("a list")
        .into_iter()
        .map(|fault| fault.rule)
        .collect();

    // The one left out needs a cast that only a superuser's foreign key would use; the test of upgrades has it. That of functions which were
    // not shipped is written in Rust.
    let written = include_str!("../../src/migrate/privileges.sql");
    let all: BTreeSet<String> = written
        .lines()
        .filter_map(|line| {
            line.strip_prefix("select '")?
                .split_once("',")
                .or_else(|| line.strip_prefix("select '")?.split_once("' as"))
        })
        .map(|(rule, _)| rule.replace("''", "'"))
        .filter(|rule| !rule.starts_with("a foreign key onto"))
        .chain(["functions of the platform's own schemas are those that were shipped".to_owned()])
        .collect();
    assert_eq!(rules, all);
}

/// What the catalog writes of an object is a project's text in part: default values, bodies, conditions. Whoever runs it in a superuser's session
/// makes values of the project's types, whose checks run then.
fn find_catalog_texts(sql: &str) -> Vec<&str> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_text = |word: &&str| {
        let writes = ["def", "expr", "arguments", "arg_default", "result", "sqlbody"];
        let is_function = word.starts_with("pg_get_") && writes.iter().any(|written| word.contains(written));
        // Trees of nodes, of which every cast makes a text.
        is_function
            || [
                "adbin",
                "prosqlbody",
                "proargdefaults",
                "conbin",
                "indexprs",
                "indpred",
                "ev_action",
            ]
            .contains(word)
    };
    sql.split(|letter| !is_of_name(letter)).filter(is_text).collect()
}

#[test]
fn gw_012_no_file_of_the_platform_schema_runs_what_the_catalog_writes_of_objects() {
    let writers = [
        "pg_get_functiondef",
        "pg_get_viewdef",
        "pg_get_expr",
        "pg_get_triggerdef",
        "pg_get_ruledef",
        "pg_get_constraintdef",
        "pg_get_indexdef",
        "pg_get_partkeydef",
        "pg_get_statisticsobjdef",
        "pg_get_statisticsobjdef_expressions",
        "pg_get_partition_constraintdef",
        "pg_get_function_arguments",
        "pg_get_function_identity_arguments",
        "pg_get_function_result",
        "pg_get_function_sqlbody",
        "pg_get_function_arg_default",
        "adbin",
        "prosqlbody",
    ];
    for writer in writers {
        let sql = format!("execute pg_catalog.{writer}(a.oid)::text");
        assert_eq!(find_catalog_texts(&sql), [writer]);
    }

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sql/platform");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("files") {
        let path = entry.expect("a file").path();
        let sql = std::fs::read_to_string(&path).expect("a text").to_lowercase();
        files += 1;
        assert_eq!(find_catalog_texts(&sql), Vec::<&str>::new(), "{}", path.display());
    }
    assert!(files > 50, "{files}");
}

/// Whoever was a superuser for a while may have left something behind.
#[tokio::test]
async fn gw_012_functions_of_the_platform_are_compared_with_what_was_shipped() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let postgres = database.connect("postgres").await;
    let list = || list_faulty_objects(&postgres);
    assert_eq!(list().await, Vec::<String>::new());
    // As in a database in which earlier editions of files have run.
    for (version, digest) in [
        (
            80,
            "74b3b8c54ef5edfb3ff661564a4bc51d00fa8274ad6f17b60778421d16cc846d",
        ),
        (
            113,
            "b3996ba11e6082bce54184f00f543ad07bdd89f2307199713faef1e6591811e1",
        ),
        (
            181,
            "95fd0ce0f5c023eb899ba6f14a87dd007032ee651933551cd029052e51615a84",
        ),
        (
            193,
            "b1f0f6482295841dbdf2bcd88dfd3548f6134a7ddc48fed015afbd8d4f31a081",
        ),
    ] {
        let set = "update _selvedge.platform_migrations set sha256 = $2 where version = $1";
        let changed = superuser.execute(set, &[&version, &digest]).await;
        assert_eq!(changed.expect("a superuser may"), 1);
    }

    // A text that an earlier file had, and what a function may do besides its text.
    superuser
        .batch_execute(
            "alter function _selvedge.is_known_script(text) security definer;
             update pg_proc set prosrc = (select prosrc from pg_proc where oid = '_selvedge.refuse_change()'::regprocedure)
               where oid = '_selvedge.split_extension_script(text)'::regprocedure;
             update pg_proc set prosrc = replace(prosrc, 'begin', 'begin null;') where oid = '_selvedge.refuse_change()'::regprocedure;
             update pg_proc set prosrc = prosrc || ' ' where oid::regproc::text = 'vault.create_secret';
             create function selvedge_console.left_behind() returns text language sql begin atomic select 'x'::text; end;",
        )
        .await
        .expect("a superuser may");
    assert_eq!(
        list().await,
        [
            "_selvedge.is_known_script(text) has another language, other settings or other rights",
            "_selvedge.refuse_change() has another text",
            "_selvedge.split_extension_script(text) has another text",
            "selvedge_console.left_behind() is none of them",
            "vault.create_secret(text,text,text,uuid) has another text"
        ]
    );

    superuser
        .batch_execute("insert into _selvedge.platform_migrations (version, name, sha256) values (9999, '9999_later.sql', 'x')")
        .await
        .expect("as if a newer version had been here");
    assert_eq!(list().await, Vec::<String>::new(), "whose texts are others");
}

/// `postgres` reads all tables. Subscriptions are those of all databases of the server, so everything is rolled back.
#[tokio::test]
async fn gw_012_passwords_of_connections_that_postgres_reads_are_named() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "begin;
             create subscription gw_012_uri connection 'postgresql://rep:secret@127.0.0.1/x' publication p with (connect = false);
             create subscription gw_012_pairs connection 'host=127.0.0.1 password = secret' publication p with (connect = false);
             create subscription gw_012_file connection 'host=127.0.0.1 passfile=/x application_name=''password=''' publication p with (connect = false);
             create foreign data wrapper gw_012; create server gw_012 foreign data wrapper gw_012;
             create user mapping for supabase_admin server gw_012 options (user 'x', password 'secret');
             create user mapping for postgres server gw_012 options (user 'x', password 'secret');
             create user mapping for anon server gw_012 options (user 'x');
             set local allow_system_table_mods = on;
             create table pg_catalog.pg_dist_authinfo (nodeid int, rolename name, authinfo text);
             insert into pg_catalog.pg_dist_authinfo values (0, 'gw_012', 'password=secret'), (0, 'postgres', 'password=secret'),
               (0, 'gw_012_by_certificate', 'sslcert=/x sslkey=/y')",
        )
        .await
        .expect("a superuser may");

    let found = find_role_faults(&superuser).await.expect("a list");
    superuser.batch_execute("rollback").await.expect("as before");

    let of_test = found.iter().map(|fault| fault.object.as_str());
    let of_test: Vec<&str> = of_test.filter(|object| object.contains("gw_012")).collect();
    let in_database = format!("of the database {} has a password", database.name());
    assert_eq!(
        of_test,
        [
            format!("the subscription gw_012_pairs {in_database}"),
            format!("the subscription gw_012_uri {in_database}"),
            "the login of gw_012 between nodes of Citus has a password".to_owned(),
            "the user mapping of supabase_admin for the server gw_012 has a password".to_owned(),
        ]
    );
}

#[tokio::test]
async fn gw_012_each_definer_of_a_superuser_is_in_the_table_of_the_decisions_with_the_reason_why_it_is_safe()
{
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    create_every_extension(&postgres, "public").await;

    assert_eq!(list_definers(&postgres).await, list_judged_definers());
}

/// The roles of the table, once each.
fn list_judged_roles() -> BTreeSet<String> {
    let lines = include_str!("../../../../docs/decisions.md")
        .lines()
        .skip_while(|line| !line.starts_with("| role of the platform |"))
        .skip(2)
        .take_while(|line| line.starts_with("| `"));
    lines
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|names| names.split(", "))
        .map(|name| name.trim_matches('`').to_owned())
        .collect()
}

/// PostgreSQL 15 lets `postgres` become each of them.
#[tokio::test]
async fn gw_012_each_role_of_the_platform_is_in_the_table_of_the_decisions_with_what_postgres_gains_by_it() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let list = async |query: &str| -> BTreeSet<String> {
        let rows = postgres.query(query, &[]).await.expect("a list");
        rows.iter().map(|row| row.get(0)).collect()
    };

    let roles = list(
        "select regexp_replace(rolname, '_reader_[0-9]+$', '_reader_0') from pg_roles
         where not rolsuper and rolname !~ '^selvedge_run_' and (rolname ~ '^(selvedge|supabase)_'
           or rolname in ('anon', 'authenticated', 'service_role', 'authenticator', 'dashboard_user', 'pgbouncer'))",
    )
    .await;
    // Functions, tables and schemas of others that the role uses and postgres does not.
    let gaining = list(
        "select distinct r.rolname::text from pg_roles r
         where not r.rolsuper and r.rolname ~ '^(selvedge_[^r]|selvedge_rep|supabase_|authenticator|dashboard_user|pgbouncer)' and (
           exists (select from pg_proc p where p.proowner <> r.oid
             and has_function_privilege(r.oid, p.oid, 'execute') and not has_function_privilege('postgres', p.oid, 'execute'))
           or exists (select from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as t (privilege)
             where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relowner <> r.oid
               and has_table_privilege(r.oid, c.oid, t.privilege) and not has_table_privilege('postgres', c.oid, t.privilege))
           or exists (select from pg_namespace n, unnest(array['create', 'usage']) as t (privilege)
             where n.nspowner <> r.oid
               and has_schema_privilege(r.oid, n.oid, t.privilege) and not has_schema_privilege('postgres', n.oid, t.privilege))
         )",
    )
    .await;

    assert_eq!(list_judged_roles(), roles);
    // supabase_replication_admin is a member of the authenticator.
    let known = [
        "authenticator",
        "selvedge_console_service",
        "supabase_replication_admin",
    ];
    assert_eq!(gaining, known.map(str::to_owned).into());
}

/// A superuser's session may call these, so nobody else may replace them. Those of other owners are called by services and by `postgres`.
#[tokio::test]
async fn gw_012_functions_of_the_platforms_own_schemas_belong_to_superusers_or_to_roles_without_members() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    let others = "select string_agg(n.nspname || '.' || p.proname || ' of ' || o.rolname, ', ' order by n.nspname, p.proname)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        join pg_roles as o on o.oid = p.proowner and not o.rolsuper
        where n.nspname in ('_selvedge', 'selvedge_console', 'vault', 'cron', 'net')";

    assert_eq!(
        query_value(&postgres, others).await,
        "_selvedge.count_changed_users of selvedge_user_counts, \
         _selvedge.pg_drop_replication_slot of selvedge_replication, \
         _selvedge.pg_logical_slot_get_changes of selvedge_replication, \
         _selvedge.pg_logical_slot_peek_changes of selvedge_replication"
    );
    let members = "select count(*) from pg_auth_members
        where roleid::regrole::text in ('selvedge_replication', 'selvedge_user_counts', 'selvedge_http', 'selvedge_console_members')
        and member not in (select oid from pg_roles where rolsuper)";
    assert_eq!(query_value(&postgres, members).await, "0");
}

/// A database of another encoding stores any bytes as the setting of a role, and the session of a service can read those alone that are UTF-8.
#[tokio::test]
async fn gw_012_settings_that_are_not_utf_8_are_left_out_where_settings_of_roles_are_read() {
    let pattern_in = |sql: &'static str| {
        let start = sql.split("'hex') ~ '").nth(1).expect("a pattern");
        start.split('\'').next().expect("its end")
    };
    let pattern = pattern_in(include_str!("../../src/sql/role_settings.sql"));
    let of_rest = pattern_in(include_str!("../../../rest/src/config/sql/role_settings.sql"));
    assert_eq!(of_rest, pattern);
    let seconds: [u8; 10] = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    let tails: [&[u8]; 5] = [b"", b"\x80", b"\xbf\x80", b"\x80\x41", b"\x80\xbf\xbf"];
    let texts: Vec<Vec<u8>> = (0x01..=u8::MAX)
        .flat_map(|first| seconds.map(|second| [first, second]))
        .flat_map(|start| tails.map(|tail| [&start[..], tail].concat()))
        .collect();

    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let is_read = "select array_agg(encode(t.bytes, 'hex') ~ $2 order by t.number)
        from unnest($1::bytea[]) with ordinality as t (bytes, number)";
    let row = postgres.query_one(is_read, &[&texts, &pattern]).await;

    let found: Vec<bool> = row.expect("found").get(0);
    for (text, found) in texts.iter().zip(&found) {
        assert_eq!(*found, std::str::from_utf8(text).is_ok(), "{text:x?}");
    }
    assert_eq!(found.len(), texts.len());
}
