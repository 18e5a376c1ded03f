//! Sessions with more rights than `postgres`, and the login that is made for a run.

use selvedge_postgres::migrate::{MigrateError, apply_platform, refuse_newer_platform};
use selvedge_postgres::{PrivilegedLogin, RunLogin, finish_run_logins};
use selvedge_testing::TestDatabase;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};

async fn show(client: &Client, expression: &str) -> String {
    let row = client
        .query_one(&format!("select ({expression})::text"), &[])
        .await;
    row.expect("a value").get(0)
}

#[tokio::test]
async fn settings_of_the_database_do_not_reach_a_privileged_session() {
    let database = TestDatabase::create().await;
    let owner = database.connect("postgres").await;
    for setting in [
        "role = 'postgres'",
        "session_authorization = 'postgres'",
        "search_path = public, pg_catalog",
        "session_replication_role = replica",
        "statement_timeout = 1",
        "lock_timeout = 1",
        "default_transaction_read_only = on",
        "default_transaction_isolation = 'serializable'",
        "check_function_bodies = off",
        "standard_conforming_strings = off",
        "exit_on_error = on",
        "password_encryption = md5",
    ] {
        let set = format!(
            "begin read write; alter database {} set {setting}; commit",
            database.name()
        );
        owner.batch_execute(&set).await.expect(setting);
    }

    let session = PrivilegedLogin::new(database.config("supabase_admin"))
        .connect()
        .await;
    let session = session.expect("a session");

    assert!(session.is_superuser());
    for (expression, expected) in [
        ("current_user", "supabase_admin"),
        ("session_user", "supabase_admin"),
        ("current_setting('search_path')", "pg_catalog,pg_temp"),
        ("current_setting('session_replication_role')", "origin"),
        ("current_setting('statement_timeout')", "0"),
        ("current_setting('lock_timeout')", "0"),
        ("current_setting('default_transaction_read_only')", "off"),
        (
            "current_setting('default_transaction_isolation')",
            "read committed",
        ),
        ("current_setting('check_function_bodies')", "on"),
        ("current_setting('standard_conforming_strings')", "on"),
        ("current_setting('exit_on_error')", "off"),
        ("current_setting('password_encryption')", "scram-sha-256"),
        ("coalesce(current_setting('event_triggers', true), 'off')", "off"),
    ] {
        assert_eq!(show(&session, expression).await, expected, "{expression}");
    }
    // Settings of the program's user come first, and those of the session last.
    let login = PrivilegedLogin::new(database.config("postgres")).connect().await;
    assert!(!login.expect("anybody may").is_superuser());
}

#[tokio::test]
async fn the_login_of_a_run_has_the_rights_of_postgres_and_no_more() {
    let database = TestDatabase::create().await;
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let config = database.config("supabase_admin");
    let session = superuser.connect().await.expect("a session");
    let run = RunLogin::create(session, &config).await.expect("a role");
    let name = run.config().get_user().expect("a name").to_owned();

    let client = run.open_session().await.expect("a login");

    assert_eq!(show(&client, "current_user").await, "postgres");
    assert_eq!(show(&client, "session_user").await, name);
    assert!(
        show(&client, "current_setting('search_path')")
            .await
            .contains("extensions")
    );
    for statement in [
        "set role supabase_admin",
        "set session authorization supabase_admin",
        "set session authorization postgres",
        "set role none; alter role postgres superuser",
        "set role none; create role attacker superuser",
        // Back to the user who logged in, which is the run itself.
        "set session authorization default; create role attacker superuser",
        "set session authorization default; set session authorization supabase_admin",
        "reset session authorization; set role supabase_admin",
    ] {
        let refused = client.batch_execute(statement).await;
        assert_eq!(
            refused.expect_err(statement).code().map(|code| code.code()),
            Some("42501"),
            "{statement}"
        );
        client
            .batch_execute("reset role")
            .await
            .expect("back to postgres");
        assert_eq!(show(&client, "current_user").await, "postgres");
    }
    client
        .batch_execute(
            "set role anon; reset role; create table public.made (); create role of_the_run;
             set role none; create table public.by_the_run_itself (); reset role;
             set session authorization default; create table public.by_default (); reset role",
        )
        .await
        .expect("what postgres may");
    drop(client);
    finish_run_logins().await;

    let owner = database.connect("postgres").await;
    let left = format!("exists (select from pg_roles where rolname = '{name}')");
    assert_eq!(show(&owner, &left).await, "false");
    let owners = "select string_agg(relowner::regrole::text, ',') from pg_class
        where relname in ('made', 'by_the_run_itself', 'by_default')";
    assert_eq!(show(&owner, owners).await, "postgres,postgres,postgres");
    owner
        .batch_execute("drop role of_the_run")
        .await
        .expect("dropped");
}

#[tokio::test]
async fn the_platform_is_not_applied_on_what_others_have_prepared() {
    let database = TestDatabase::create().await;
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let session = superuser.connect().await.expect("a session");
    apply_platform(&session).await.expect("as shipped");
    // The schema and its tables belong to the superuser; another owner could change what is applied or run.
    session
        .batch_execute("alter table _selvedge.shipped_extensions owner to postgres")
        .await
        .expect("altered");

    let refused = apply_platform(&session).await.expect_err("refused");

    let MigrateError::NotOwned(problems) = refused else {
        panic!("{refused}")
    };
    assert_eq!(
        problems,
        ["_selvedge.shipped_extensions belongs to postgres, who is no superuser"]
    );
    // On a database without platform, every schema of this name counts.
    session
        .batch_execute("drop schema _selvedge cascade; alter schema auth owner to postgres")
        .await
        .expect("altered");
    let refused = apply_platform(&session).await.expect_err("refused").to_string();
    assert!(refused.contains("schema auth belongs to postgres"), "{refused}");
}

/// A register of platform files whose reader computes what its index depends on, which here makes a role.
const TRAPPED_REGISTER: &str = "
    create schema _selvedge;
    create table _selvedge.platform_migrations (version integer, name text, sha256 text, applied_at timestamptz);
    create function public.trap() returns boolean language plpgsql immutable as $$ begin
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then perform public.note(); end if;
      return true; end $$;
    create function public.note() returns void language plpgsql as $$ begin
      execute pg_catalog.format('create role %I', 'trapped_' || pg_catalog.current_database()); end $$;
    create index on _selvedge.platform_migrations (version) where public.trap()";

#[tokio::test]
async fn a_superuser_reads_nothing_where_others_have_made_the_schema_of_the_platform() {
    let database = TestDatabase::create().await;
    let name = format!("in_place_{}", database.name());
    let postgres = database.connect("postgres").await;
    let create = format!("create database {name} template template0");
    postgres.batch_execute(&create).await.expect("postgres may");
    let mut owner = database.config("postgres");
    owner.dbname(&name);
    let owner = selvedge_postgres::connect(&owner).await.expect("its owner");
    owner.batch_execute(TRAPPED_REGISTER).await.expect("made");
    let mut superuser = database.config("supabase_admin");
    superuser.dbname(&name);

    let refused = match PrivilegedLogin::new(superuser.clone()).connect().await {
        Ok(session) => refuse_newer_platform(&session)
            .await
            .map_err(|error| error.to_string()),
        Err(error) => Err(error
            .as_db_error()
            .map_or_else(|| error.to_string(), |db| db.message().to_owned())),
    };
    let raw = selvedge_postgres::connect(&superuser).await.expect("a session");
    let not_applied = apply_platform(&raw).await.map_err(|error| error.to_string());
    drop(raw);

    let trapped = format!("exists (select from pg_roles where rolname = 'trapped_{name}')");
    assert_eq!(show(&postgres, &trapped).await, "false");
    for outcome in [refused, not_applied.map(drop)] {
        let message = outcome.expect_err("refused");
        assert!(
            message.contains("schema _selvedge belongs to postgres, who is no superuser"),
            "{message}"
        );
    }
    drop(owner);
    let drop = format!("drop database {name} with (force)");
    let superuser = database.superuser().await;
    superuser.batch_execute(&drop).await.expect("dropped");
}

/// Reads what a client sends first: the version, then names and values that end with a zero byte each.
async fn read_startup(client: &mut TcpStream) -> Vec<u8> {
    let length = client.read_u32().await.expect("a length");
    let mut message = vec![0; length as usize - 4];
    client.read_exact(&mut message).await.expect("a startup message");
    message
}

/// Forwards connections to the database as some poolers do, without their startup options. Returns its port, and the startup messages.
async fn forward_without_options(config: &Config) -> (u16, UnboundedReceiver<String>) {
    let Host::Unix(folder) = &config.get_hosts()[0] else {
        panic!("the test cluster has a socket");
    };
    let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (seen, startups) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = UnixStream::connect(&socket).await.expect("PostgreSQL");
            let message = read_startup(&mut client).await;
            seen.send(String::from_utf8_lossy(&message).into_owned()).ok();
            let mut texts = message[4..].split(|byte| *byte == 0);
            let mut forwarded = message[..4].to_vec();
            while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
                if !name.is_empty() && name != b"options" {
                    forwarded.extend([name, b"\0", value, b"\0"].concat());
                }
            }
            forwarded.push(0);
            let length = u32::try_from(forwarded.len() + 4).expect("a short message");
            server.write_u32(length).await.expect("sent");
            server.write_all(&forwarded).await.expect("sent");
            tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await.ok() });
        }
    });
    (port, startups)
}

/// Refuses logins, those that name the parameter with another code than the others. Returns its port, and the startup messages.
async fn refuse_logins(
    with_parameter: &'static str,
    without: &'static str,
) -> (u16, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (seen, startups) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let message = read_startup(&mut client).await;
            let message = String::from_utf8_lossy(&message).into_owned();
            let code = if message.contains("event_triggers") {
                with_parameter
            } else {
                without
            };
            seen.send(message).ok();
            let fields = format!("SFATAL\0VFATAL\0C{code}\0Mrefused\0\0");
            client.write_u8(b'E').await.expect("sent");
            let length = u32::try_from(fields.len() + 4).expect("a short message");
            client.write_u32(length).await.expect("sent");
            client.write_all(fields.as_bytes()).await.expect("sent");
        }
    });
    (port, startups)
}

/// The login of the superuser at ports of this machine.
fn login_at(ports: &[u16], direct: &Config) -> PrivilegedLogin {
    let mut config = Config::new();
    for port in ports {
        config.host("127.0.0.1").port(*port);
    }
    config
        .ssl_mode(SslMode::Disable)
        .user("supabase_admin")
        .password(direct.get_password().expect("a password"))
        .dbname(direct.get_dbname().expect("a database"));
    PrivilegedLogin::new(config)
}

/// A newer server that is logged in to without the parameter would run the event triggers of the project at the login.
#[tokio::test]
async fn no_server_is_logged_in_to_without_a_parameter_that_another_one_does_not_know() {
    let database = TestDatabase::create().await;
    let direct = database.config("supabase_admin");
    let unknown = SqlState::UNDEFINED_OBJECT.code();
    let (older, mut of_older) = refuse_logins(unknown, SqlState::CANNOT_CONNECT_NOW.code()).await;
    let (newer, mut of_newer) = forward_without_options(&direct).await;

    let session = login_at(&[older, newer], &direct).connect().await;

    assert!(session.expect("a session").is_superuser());
    let (mut with, mut without) = (0, 0);
    while let Ok(startup) = of_older.try_recv() {
        match startup.contains("event_triggers=off") {
            true => with += 1,
            false => without += 1,
        }
    }
    assert!(with > 0 && without > 0, "{with} {without}");
    let first = of_newer.try_recv().expect("a login");
    assert!(first.contains("event_triggers=off"), "{first}");
    while let Ok(further) = of_newer.try_recv() {
        assert!(further.contains("event_triggers=off"), "{further}");
    }
}

/// A pooler logs in to PostgreSQL with its own options. If that is a newer server, it runs the event triggers of the project then.
#[tokio::test]
async fn a_pooler_that_refuses_a_parameter_is_not_logged_in_to_without_it() {
    let database = TestDatabase::create().await;
    let direct = database.config("supabase_admin");
    let refusal = SqlState::PROTOCOL_VIOLATION.code();
    let (pooler, mut startups) = refuse_logins(refusal, SqlState::CANNOT_CONNECT_NOW.code()).await;

    let refused = login_at(&[pooler], &direct).connect().await.err();

    let refused = refused.expect("refused");
    assert_eq!(refused.code().map(SqlState::code), Some(refusal));
    startups.try_recv().expect("a login");
    while let Ok(further) = startups.try_recv() {
        assert!(further.contains("event_triggers=off"), "{further}");
    }
}

#[tokio::test]
async fn a_superuser_behind_a_pooler_that_drops_options_is_pinned_by_statements() {
    let database = TestDatabase::create().await;
    let owner = database.connect("postgres").await;
    owner
        .batch_execute(&format!(
            "alter database {0} set search_path = public, pg_catalog; alter database {0} set role = 'postgres';
             create function public.current_setting(text) returns text language sql as $$ select 'trapped' $$",
            database.name()
        ))
        .await
        .expect("the owner may");
    let direct = database.config("supabase_admin");
    let (pooler, _startups) = forward_without_options(&direct).await;

    let session = login_at(&[pooler], &direct).connect().await.expect("a session");

    for (expression, expected) in [
        ("pg_catalog.current_setting('search_path')", "pg_catalog,pg_temp"),
        ("current_user", "supabase_admin"),
        ("pg_catalog.current_setting('row_security')", "on"),
    ] {
        assert_eq!(show(&session, expression).await, expected, "{expression}");
    }
    assert!(session.is_superuser());
}
