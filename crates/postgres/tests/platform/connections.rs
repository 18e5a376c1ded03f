//! Options of connections that name files, by which libpq inside of PostgreSQL reads, writes or loads what its caller names.

use selvedge_postgres::migrate::ExtensionGuard;
use selvedge_testing::TestDatabase;
use tokio_postgres::{Client, NoTls};

use super::escalation::{assert_no_superuser, attacker};
use super::{query_sqlstate, query_value};

/// No library: the refusal comes before libpq looks at it.
const HOSTILE: &str = "host=127.0.0.1 port=9 user=a password=b sslmode=require sslkey=/tmp/gw_012_evil.so:x";

/// What each way to libpq answers in a session, `42501` being the refusal.
async fn assert_refused(client: &Client, statements: &[String]) {
    for statement in statements {
        assert_eq!(query_sqlstate(client, statement).await, "42501", "{statement}");
    }
}

fn calls_of_dblink(schema: &str, connection: &str) -> Vec<String> {
    vec![
        format!("select {schema}.dblink_connect('{connection}')"),
        format!("select {schema}.dblink_connect('name', '{connection}')"),
        format!("select * from {schema}.dblink('{connection}', 'select 1') as t (a int)"),
        format!("select * from {schema}.dblink('{connection}'::text, 'select 1'::text, false) as t (a int)"),
        format!("select {schema}.dblink_exec('{connection}', 'select 1')"),
        format!("select {schema}.dblink_exec('{connection}', 'select 1', false)"),
    ]
}

#[tokio::test]
async fn gw_012_texts_of_connections_are_read_as_libpq_reads_them() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for (connection, refused) in [
        ("", None),
        ("a name", None),
        (
            "host=a port=1,2 dbname = 'b c' password='it\\'s' options='-c search_path=a,b --statement-timeout=1s -ctimezone=UTC'",
            None,
        ),
        ("password=a\\ sslkey=x user=b", None),
        ("sslmode=verify-full sslrootcert=system", None),
        ("sslrootcert='system'", None),
        (
            "postgresql://u:p@h:1,i:2/d?sslmode=require&application_name=a%20b&",
            None,
        ),
        ("postgres://u:a?b@h/sslkey=x", None),
        ("postgresql:///?host=/tmp", None),
        ("host=a options=reference=a-b", None),
        (
            "postgresql://h/d?options=-c%20search_path%3Da&sslmode=require",
            None,
        ),
        ("sslkey=a:b", Some("sslkey")),
        ("host=a\nsslkey\t=\n'a:b'", Some("sslkey")),
        ("password='x'sslkey=y", Some("sslkey")),
        ("password=x\\\\ sslkey=y", Some("sslkey")),
        ("host=a sslrootcert=/x", Some("sslrootcert")),
        ("service=a", Some("service")),
        ("options='-c session_preload_libraries=/x.so'", Some("options")),
        ("options=--session-preload-libraries=/x.so", Some("options")),
        (
            "options='-c search_path=a -c local_preload_libraries=x'",
            Some("options"),
        ),
        (
            "options='-c search_path=a\\ -csession_preload_libraries=x'",
            Some("options"),
        ),
        ("options='-e'", Some("options")),
        (
            "postgresql://h/d?options=-c%20session_preload_libraries%3Dx",
            Some("options"),
        ),
        ("postgresql://h/d?options=-c%09search_path%3Dx", Some("options")),
        ("replication=database", Some("replication")),
        ("postgresql://h/d?host=a&sslcert=b", Some("sslcert")),
        ("postgresql://h?passfile=b", Some("passfile")),
        ("postgresql://h?ssl%6bey=b", Some("ssl%6bey")),
        ("postgresql://u?a@h?sslkey=b", Some("sslkey")),
        ("postgresql://[a?dbname=]/?sslkey=b", Some("")),
        // Some systems take these letters for blanks.
        ("password=x\u{a0}sslkey=y", Some("")),
        ("password=\u{e0}sslkey=y", Some("")),
        ("password='x sslkey=y", Some("")),
        ("a b=c", Some("")),
    ] {
        let found = postgres
            .query_one("select _selvedge.find_refused_option($1)", &[&connection])
            .await
            .expect("read");
        assert_eq!(found.get::<_, Option<&str>>(0), refused, "{connection:?}");
    }
}

#[tokio::test]
async fn gw_012_no_option_of_a_connection_names_a_file() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create extension dblink schema extensions; create extension postgres_fdw schema extensions;
             select _selvedge.create_foreign_data_wrapper('plain', null, null);
             create server fdw foreign data wrapper postgres_fdw options (host 'x', fetch_size '10', sslrootcert 'system');
             create server plain foreign data wrapper plain options (host 'x', anything '1');
             create user mapping for postgres server fdw options (user 'x', password 'y');",
        )
        .await
        .expect("postgres may");

    assert_refused(&postgres, &calls_of_dblink("extensions", HOSTILE)).await;
    assert_refused(
        &postgres,
        &[
            "create server a foreign data wrapper postgres_fdw options (sslkey '/x:y')".to_owned(),
            "create server a foreign data wrapper dblink_fdw options (sslcert '/x')".to_owned(),
            "create server a foreign data wrapper plain options (sslkey '/x:y')".to_owned(),
            "alter server fdw options (add sslcrl '/x')".to_owned(),
            "alter server fdw options (set sslrootcert '/x')".to_owned(),
            "alter server plain options (add passfile '/x')".to_owned(),
            "alter server plain options (add options '-c session_preload_libraries=/x')".to_owned(),
            "alter server fdw options (add options '-c session_preload_libraries=/x')".to_owned(),
            "create server \"host='/x' port=1 dbname=http\" foreign data wrapper dblink_fdw options (host 'x')".to_owned(),
            "alter server fdw rename to \"postgresql://x\"".to_owned(),
            "create user mapping for supabase_admin server fdw options (user 'x')".to_owned(),
            "create user mapping for postgres server plain options (sslkey '/x:y')".to_owned(),
            "create user mapping for public server plain options (servicefile '/x')".to_owned(),
            "do $$ begin create server a foreign data wrapper plain options (sslkey '/x:y');
               perform extensions.dblink_connect('a'); end $$"
                .to_owned(),
            "set session_replication_role = replica; create server a foreign data wrapper plain options (sslkey '/x:y')"
                .to_owned(),
            "alter extension dblink drop domain extensions.dblink_connection".to_owned(),
        ],
    )
    .await;
    // Functions that are made anew take the domain at once.
    postgres
        .batch_execute("drop extension dblink; create schema other")
        .await
        .expect("postgres may");
    let within = format!(
        "do $$ begin create extension dblink schema other; perform other.dblink_connect('{HOSTILE}'); end $$"
    );
    assert_refused(&postgres, &[within]).await;
    let names = "select string_agg(srvname, ' ' order by srvname) from pg_foreign_server";
    assert_eq!(query_value(&postgres, names).await, "fdw plain");
}

/// Event triggers fire in the order of their names, and this one comes first.
#[tokio::test]
async fn gw_012_code_of_a_project_meets_no_connection_before_it_is_looked_at() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    let body = format!(
        "begin
           perform extensions.dblink_connect('{HOSTILE}');
           insert into public.seen values ('connected');
         exception when others then insert into public.seen values (sqlstate); end"
    );
    postgres
        .batch_execute(&format!(
            "create table public.seen (outcome text);
             create function public.early() returns event_trigger language plpgsql as $f${body}$f$;
             select _selvedge.create_event_trigger('  early', 'ddl_command_end', array['CREATE EXTENSION'], 'public.early()');
             create extension dblink schema extensions"
        ))
        .await
        .expect("postgres may");
    let seen = "select string_agg(outcome, ' ') from public.seen";
    assert_eq!(query_value(&postgres, seen).await, "42501");
}

#[tokio::test]
async fn gw_012_ordinary_connections_of_dblink_work_in_every_form() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute("create extension dblink schema extensions")
        .await
        .expect("a superuser may");
    let connection = format!("'{}'", database.url("supabase_admin"));
    superuser
        .batch_execute(&format!("select extensions.dblink_connect('kept', {connection}); select extensions.dblink_connect({connection})"))
        .await
        .expect("connected");

    for call in [
        format!("dblink({connection}, 'select 7')"),
        format!("dblink({connection}, 'select 7', true)"),
        "dblink('kept', 'select 7')".to_owned(),
        "dblink('kept'::text, 'select 7')".to_owned(),
        "dblink('kept', 'select 7'::text, true)".to_owned(),
        "dblink('select 7')".to_owned(),
        "dblink('select 7 where ''a=b'' <> ''''', true)".to_owned(),
        "dblink('select 7'::text, false)".to_owned(),
    ] {
        let query = format!("select a from extensions.{call} as t (a int)");
        assert_eq!(query_value(&superuser, &query).await, "7", "{call}");
    }
    for call in [
        "dblink_exec('set work_mem = ''1MB''')",
        "dblink_exec('kept', 'set work_mem = ''1MB''')",
        "dblink_exec('set work_mem = ''1MB''', true)",
        "dblink_exec('kept'::text, 'set work_mem = ''1MB''', true)",
    ] {
        assert_eq!(
            query_value(&superuser, &format!("extensions.{call}")).await,
            "SET",
            "{call}"
        );
    }
    let postgres = database.connect("postgres").await;
    let stored = "create view public.remote as select * from extensions.dblink('dbname=nowhere password=x', 'select 1') as t (a int)";
    postgres.batch_execute(stored).await.expect("postgres may");
    assert_eq!(
        query_sqlstate(&postgres, "select * from public.remote").await,
        "08001"
    );
}

#[tokio::test]
async fn gw_012_a_subscription_connects_only_as_it_was_looked_at() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    let version: u32 = query_value(&postgres, "current_setting('server_version_num')")
        .await
        .parse()
        .expect("a number");

    let mut refused = vec![
        format!("create subscription gw_012 connection '{HOSTILE}' publication p"),
        format!("create subscription gw_012 connection '{HOSTILE}' publication p with (connect = false)"),
        "create subscription gw_012 connection E'password=x' publication p with (connect = false)".to_owned(),
        "do $$ begin create subscription gw_012 connection 'password=x' publication p with (connect = false); end $$".to_owned(),
        "create subscription gw_012 connection 'password=x' publication p with (connect = false); select 1".to_owned(),
    ];
    if version >= 160_000 {
        postgres
            .batch_execute("create subscription gw_012_kept connection 'host=127.0.0.1 port=9 password=x' publication p with (connect = false)")
            .await
            .expect("postgres may");
        refused.push(format!("alter subscription gw_012_kept connection '{HOSTILE}'"));
    }
    assert_refused(&postgres, &refused).await;
    if version >= 160_000 {
        postgres
            .batch_execute(
                "alter subscription gw_012_kept connection 'host=127.0.0.1 port=8 password=x';
                 alter subscription gw_012_kept set (slot_name = none); drop subscription gw_012_kept",
            )
            .await
            .expect("postgres may");
    }
}

/// What was made before these options were refused.
#[tokio::test]
async fn gw_012_connections_of_earlier_days_lose_their_files() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute("alter event trigger _selvedge_check_connections disable")
        .await
        .expect("a superuser may");
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(&format!(
            "create extension dblink schema extensions; create extension postgres_fdw schema extensions;
             create type extensions.dblink_connection as (a int);
             create function extensions.dblink_of_stored_calls(text, text) returns int language sql as 'select 1';
             create server fdw foreign data wrapper postgres_fdw options (host 'x', sslcert '/x', sslkey '/x:y');
             create server other foreign data wrapper dblink_fdw options (host 'x');
             create user mapping for postgres server other options (user 'x', password 'y');
             create user mapping for supabase_admin server other options (user 'x');
             create server \"host=x\" foreign data wrapper dblink_fdw options (host 'x', sslkey '/x:y');
             create user mapping for supabase_admin server \"host=x\" options (user 'x');
             create view public.stored as select * from extensions.dblink('{HOSTILE}', 'select 1') as t (a int)"
        ))
        .await
        .expect("postgres may");
    assert_ne!(
        query_sqlstate(&postgres, "select * from public.stored").await,
        "42501"
    );
    superuser
        .batch_execute(
            "revoke execute on function extensions.dblink(text, text) from public;
             grant execute on function extensions.dblink(text, text) to anon;
             alter event trigger _selvedge_check_connections enable always;
             select _selvedge.mend_connections(); select _selvedge.mend_connections()",
        )
        .await
        .expect("mended");

    assert_eq!(
        query_sqlstate(&postgres, "select * from public.stored").await,
        "42501"
    );
    assert_refused(&postgres, &calls_of_dblink("extensions", HOSTILE)).await;
    let options =
        "select string_agg(array_to_string(srvoptions, ','), ' ' order by srvname) from pg_foreign_server";
    assert_eq!(query_value(&postgres, options).await, "host=x host=x host=x");
    let misled = "select (select count(*) from pg_foreign_server where srvname ~ '=') + (select count(*) from pg_user_mapping as m
        join pg_roles as r on r.oid = m.umuser and r.rolsuper)";
    assert_eq!(query_value(&superuser, misled).await, "0");
    let open = "select string_agg(r, ' ') from unnest(array['anon', 'authenticated', 'postgres']) as r
        where has_function_privilege(r, (
          select oid from pg_proc where proname = 'dblink' and pronargs = 2 and proargtypes[1] = 'text'::regtype
        ), 'execute')";
    assert_eq!(query_value(&superuser, open).await, "anon postgres");
    let closed = "select count(*) from pg_proc where proname ~ '^dblink_of_stored_calls_' and has_function_privilege('anon', oid, 'execute')";
    assert_eq!(query_value(&superuser, closed).await, "0");
    postgres
        .batch_execute("drop extension dblink cascade; create extension dblink schema extensions")
        .await
        .expect("postgres may");
    assert_no_superuser(&postgres, "connections").await;
}

#[tokio::test]
async fn gw_012_databases_beside_the_project_refuse_the_same_options() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let guard = ExtensionGuard::read(&superuser).await.expect("read");
    let name = format!("{}_beside", database.name());
    let create = format!("create database {name} template template0 owner postgres");
    superuser.batch_execute(&create).await.expect("a superuser may");
    let session = async |role: &str| {
        let mut config = database.config(role);
        let (client, connection) = config.dbname(&name).connect(NoTls).await.expect("a login");
        tokio::spawn(connection);
        client
    };
    let beside = session("supabase_admin").await;
    beside
        .batch_execute("create extension dblink; create extension postgres_fdw; grant usage on foreign data wrapper postgres_fdw to postgres")
        .await
        .expect("a superuser may");
    let postgres = session("postgres").await;
    postgres
        .batch_execute(
            "create server before foreign data wrapper postgres_fdw options (host 'x', sslcert '/x')",
        )
        .await
        .expect("postgres could");
    guard.install(&beside).await.expect("installed");
    guard.install(&beside).await.expect("installed again");

    assert_refused(&postgres, &calls_of_dblink("public", HOSTILE)).await;
    assert_refused(
        &postgres,
        &[
            "create server a foreign data wrapper postgres_fdw options (sslkey '/x:y')".to_owned(),
            format!("create subscription gw_012 connection '{HOSTILE}' publication p"),
        ],
    )
    .await;
    let options = "select array_to_string(srvoptions, ',') from pg_foreign_server";
    assert_eq!(query_value(&postgres, options).await, "host=x");
    drop((postgres, beside));
    let remove = format!("drop database {name} with (force)");
    superuser.batch_execute(&remove).await.expect("a superuser may");
}
