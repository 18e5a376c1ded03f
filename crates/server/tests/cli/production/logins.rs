//! Logins to the database of a home for people and their programs, which come through the gate.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_postgres::{Client, NoTls};

use super::home::{Home, TABLE, TIMEOUT};
use crate::support::Project;

async fn connect(url: &str) -> Result<Client, String> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(|error| {
        error
            .as_db_error()
            .map_or_else(|| error.to_string(), |error| error.message().to_owned())
    })?;
    actix_web::rt::spawn(connection);
    Ok(client)
}

async fn run(client: &Client, sql: &str) -> Result<(), String> {
    let done = client.batch_execute(sql).await;
    done.map_err(|error| {
        error
            .as_db_error()
            .map_or_else(|| error.to_string(), |error| error.message().to_owned())
    })
}

/// Adds a login and returns its address.
fn add(home: &Home, name: &str, kind: &str) -> String {
    let printed = home.run_and_expect_success(&["database", "login", "add", name, kind]);
    let url = printed
        .split_whitespace()
        .find(|word| word.starts_with("postgresql://"));
    url.expect("an address").to_owned()
}

/// The tables that a login may read or change.
const REACHABLE: [&str; 5] = [
    "_selvedge.installed_extensions",
    "_selvedge.platform_migrations",
    "_selvedge.selvedge_installed_extensions",
    "public.later",
    "public.notes",
];

async fn list_reachable(client: &Client) -> Vec<String> {
    let rows = client
        .query(
            "select n.nspname || '.' || c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
             where c.relkind = any ('{r,p,v,m,f}') and n.nspname <> all ('{pg_catalog,information_schema,pg_toast}')
               and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select, insert, update, delete')
             order by 1",
            &[],
        )
        .await;
    rows.expect("rows").iter().map(|row| row.get(0)).collect()
}

/// Says to be `user`, from another address of this machine, and does not go on.
async fn begin_login(port: u16, user: &str) -> io::Result<(TcpStream, Vec<u8>)> {
    let mut stream = open_login(port, Ipv4Addr::new(127, 0, 0, 2), user).await?;
    let mut answer = vec![0; 9];
    stream.read_exact(&mut answer).await?;
    Ok((stream, answer))
}

/// Sends the startup message of `user`, and reads no answer.
async fn open_login(port: u16, from: Ipv4Addr, user: &str) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    let mut stream = socket.connect(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    let body = format!("user\0{user}\0database\0postgres\0\0");
    let length = u32::try_from(body.len() + 8).expect("short");
    let message = [
        &length.to_be_bytes()[..],
        &196_608_u32.to_be_bytes(),
        body.as_bytes(),
    ]
    .concat();
    stream.write_all(&message).await?;
    Ok(stream)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_011_whoever_knows_a_name_alone_learns_nothing_and_keeps_nobody_out() {
    let port = Project::further_port();
    let home = Home::with_settings(&format!("[selvedge.database_gate]\nport = {port}\n"));
    let _running = home.serve(&["--migrate"]).await;
    let url = add(&home, "ana", "--read-only");

    // PostgreSQL asks each of them for its password.
    for user in ["ana", "nobody", "postgres", "supabase_admin"] {
        let (_stream, answer) = begin_login(port, user).await.expect("an answer");
        assert_eq!((answer[0], &answer[5..]), (b'R', &[0, 0, 0, 10][..]), "{user}");
    }
    let mut silent = Vec::new();
    for _ in 0..30 {
        silent.extend(begin_login(port, "ana").await.ok());
    }
    assert!((4..16).contains(&silent.len()), "{}", silent.len());
    let ana = connect(&url).await.expect("a place");
    run(&ana, "select 1").await.expect("an answer");

    // Statements are cancelled by those who have the session's key.
    let cancel = ana.cancel_token();
    let mut sleeping = pin!(run(&ana, "select pg_sleep(50)"));
    let slept = loop {
        tokio::select! {
            slept = &mut sleeping => break slept,
            // It may not have begun, and then it is not cancelled.
            () = actix_web::rt::time::sleep(Duration::from_millis(100)) => cancel.cancel_query(NoTls).await.expect("sent"),
        }
    };
    assert!(slept.expect_err("it ends").contains("canceling statement"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_011_who_comes_rarely_comes_in_while_dozens_of_networks_wait() {
    let port = Project::further_port();
    let home = Home::with_settings(&format!("[selvedge.database_gate]\nport = {port}\n"));
    let _running = home.serve(&["--migrate"]).await;
    let url = add(&home, "ana", "--read-only");

    // Connections of many networks take all 16 slots or wait for them, and none answers. Each network connects again.
    let mut silent = Vec::new();
    for network in (1..=48).chain(1..=48) {
        silent.push(
            open_login(port, Ipv4Addr::new(127, 0, 1, network), "ana")
                .await
                .expect("sent"),
        );
    }
    let begun = Instant::now();
    let ana = connect(&url).await.expect("a place");

    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    run(&ana, "select 1").await.expect("an answer");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_011_a_login_with_rights_that_were_added_is_refused_and_people_see_why() {
    let port = Project::further_port();
    let home = Home::with_settings(&format!("[selvedge.database_gate]\nport = {port}\n"));
    let running = home.serve(&["--migrate"]).await;
    // The name of the function contains control characters of terminals.
    let query = |sql: &str| home.run_and_expect_success(&["db", "query", sql]);
    query(
        r#"create function public.U&"a\001B[2Jb"() returns int language sql security definer as 'select 1'"#,
    );
    let added = home.run_and_expect_success(&["database", "login", "add", "ana", "--read-only"]);
    assert!(added.contains("a\\u{1b}[2Jb"), "{added}");
    let words = added.split_whitespace();
    let reader = words
        .filter(|word| word.starts_with("postgresql://"))
        .collect::<String>();
    let writer = add(&home, "bo", "--write");

    query("create role extra; grant extra to selvedge_readers");
    let refused = connect(&reader).await.expect_err("she would have what extra has");
    assert!(refused.contains("password authentication failed"), "{refused}");
    connect(&writer).await.expect("nothing has changed for bo");
    let listed = home.run_and_expect_success(&["database", "login", "list"]);
    assert!(
        listed.contains("refused by the gate") && listed.contains("revoke extra from selvedge_readers"),
        "{listed}"
    );
    assert!(running.output().contains("revoke extra from selvedge_readers"));

    // The next start of the server, or the next login, takes it back and says so.
    running.stop();
    let running = home.serve(&[]).await;
    assert!(
        running
            .output()
            .contains("selvedge_readers was a member of extra")
    );
    connect(&reader).await.expect("a login again");
    query("grant extra to ana");
    connect(&reader).await.expect_err("she would have what extra has");
    query("revoke extra from ana");
    connect(&reader).await.expect("a login again");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_011_people_have_logins_of_their_own_and_come_through_the_gate_alone() {
    let port = Project::further_port();
    let home = Home::with_settings(&format!(
        "[db.migrations]\nenabled = true\n[selvedge.database_gate]\nport = {port}\n"
    ));
    home.project.write("migrations/20260101000000_notes.sql", TABLE);
    let running = home.serve(&["--migrate"]).await;

    // A project that knows the names of the roles makes no login by them. From PostgreSQL 16 on it cannot grant them at all.
    home.run_and_expect_success(&[
        "db",
        "query",
        "create role backdoor login password 'x';
         do $$ begin grant selvedge_readers to backdoor; exception when insufficient_privilege then null; end $$",
    ]);
    let reader = add(&home, "ana", "--read-only");
    let writer = add(&home, "bo", "--write");
    assert!(reader.contains(&format!("@127.0.0.1:{port}/")), "{reader}");
    let taken = home.run_and_expect_failure(&["database", "login", "add", "ana", "--write"]);
    assert!(taken.contains("a role ana already"), "{taken}");
    home.run_and_expect_failure(&["database", "login", "add", "supabase_bo", "--write"]);

    let bo = connect(&writer).await.expect("a login");
    run(&bo, "insert into notes values (1); update notes set id = 2")
        .await
        .expect("written");
    // What is made later is theirs, too.
    home.run_and_expect_success(&[
        "db",
        "query",
        "create table later (id int); alter table notes enable row level security",
    ]);
    run(&bo, "insert into later values (1)").await.expect("written");
    let ana = connect(&reader).await.expect("a login");
    let rows = ana
        .query_one(
            "select (select count(*) from notes) + (select count(*) from later)",
            &[],
        )
        .await;
    assert_eq!(rows.expect("read").get::<_, i64>(0), 2);
    for (client, sql, refusal) in [
        (&ana, "delete from notes", "read-only transaction"),
        (&ana, "begin read write; delete from notes", "permission denied"),
        (
            &ana,
            "rollback; select encrypted_password from auth.users",
            "permission denied",
        ),
        (
            &bo,
            "select encrypted_password from auth.users",
            "permission denied",
        ),
        (
            &bo,
            "select decrypted_secret from vault.decrypted_secrets",
            "permission denied",
        ),
        (
            &bo,
            "delete from supabase_migrations.schema_migrations",
            "permission denied",
        ),
        (&bo, "select * from net.http_request_queue", "permission denied"),
        (
            &bo,
            "select net.http_get('http://example.com')",
            "permission denied",
        ),
        (&ana, "select lo_create(0)", "permission denied"),
        (
            &ana,
            "select pg_logical_emit_message(false, 'a', 'b')",
            "permission denied",
        ),
        (&bo, "create table public.own (id int)", "permission denied"),
        (&bo, "set role postgres", "permission denied"),
    ] {
        let refused = run(client, sql).await.expect_err(sql);
        assert!(refused.contains(refusal), "{sql}: {refused}");
    }
    assert_eq!(list_reachable(&bo).await, REACHABLE);
    // The script of an extension gives its schema to everybody.
    home.run_and_expect_success(&["db", "query", "drop extension pg_net; create extension pg_net"]);
    assert_eq!(list_reachable(&bo).await, REACHABLE);
    let settings = bo
        .query_one("select current_setting('statement_timeout'), current_setting('idle_session_timeout'), current_setting('log_statement')", &[])
        .await
        .expect("settings");
    assert_eq!(
        (settings.get(0), settings.get(1), settings.get(2)),
        ("1min", "5min", "all")
    );

    // Nobody else comes through, whoever knows the password.
    let superuser = std::fs::read_to_string(home.path("superuser-password")).expect("a file");
    let superuser = format!(
        "postgresql://supabase_admin:{}@127.0.0.1:{port}/postgres",
        superuser.trim()
    );
    for url in [
        superuser,
        reader.replace("ana:", "nobody:"),
        format!("postgresql://backdoor:x@127.0.0.1:{port}/postgres"),
        reader.replace("@", "x@"),
    ] {
        let refused = connect(&url).await.expect_err("a stranger");
        assert!(
            refused.contains("password authentication failed for user"),
            "{refused}"
        );
    }
    // PostgreSQL lets everybody into the other databases, where nothing is taken from PUBLIC.
    for url in [
        reader.replace("/postgres", "/template1"),
        reader.replace("/postgres", ""),
    ] {
        let refused = connect(&url).await.expect_err("another database");
        assert!(refused.contains("the database postgres alone"), "{refused}");
    }
    let mut more = Vec::new();
    for _ in 0..4 {
        more.push(connect(&reader).await.expect("five at a time"));
    }
    let refused = connect(&reader).await.expect_err("a sixth one");
    assert!(refused.contains("too many connections"), "{refused}");

    let listed = home.run_and_expect_success(&["database", "login", "list"]);
    assert!(
        listed.contains("read-only  ana 5 sessions") && listed.contains("write      bo 1 sessions"),
        "{listed}"
    );
    // What she owns does not keep her.
    home.run_and_expect_success(&["db", "query", "grant create on schema public to ana"]);
    let made = "begin read write; create table hers (id int); create view her_view as select * from hers;
        create function her_function() returns int language sql security definer as 'select 1';
        create function her_trap(id int) returns int language plpgsql immutable as
          $$ begin if current_user = 'postgres' then raise 'it has the rights of postgres'; end if; return id; end $$;
        create index on hers (her_trap(id)); insert into hers values (1); commit";
    run(&ana, made).await.expect("made");
    let removed = home.run_and_expect_success(&["database", "login", "remove", "ana"]);
    assert!(
        removed.contains("reassign owned by former_ana_") && removed.contains("to postgres"),
        "{removed}"
    );
    // As autovacuum does at some time.
    home.run_and_expect_success(&["db", "query", "analyze hers"]);
    let left = "select concat_ws(' ', c.reltuples, r.rolcanlogin, r.rolbypassrls, (select count(*) from pg_auth_members where member = r.oid))
        from pg_class as c join pg_roles as r on r.oid = c.relowner where c.relname = 'hers'";
    assert_eq!(home.value(left), "1 f f 0");
    let rights = "select concat_ws(' ', 'rights of', case when prosecdef then 'the owner' else 'the caller' end,
        (select c.reloptions from pg_class as c where c.relname = 'her_view')) from pg_proc where proname = 'her_function'";
    let rights = home.run_and_expect_success(&["db", "query", rights]);
    assert!(
        rights.contains("rights of the caller {security_invoker=true}"),
        "{rights}"
    );
    let listed = home.run_and_expect_success(&["database", "login", "list"]);
    assert!(!listed.contains("ana") && listed.contains("bo"), "{listed}");
    let deadline = Instant::now() + TIMEOUT;
    while !ana.is_closed() {
        assert!(Instant::now() < deadline, "its session goes on");
        actix_web::rt::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(connect(&reader).await.is_err());
    run(&bo, "select 1").await.expect("bo stays");
    add(&home, "ana", "--read-only");
    assert!(running.output().contains("came through the database's gate"));
}

/// Passes the messages of a client on to `port`, and runs `sql` when PostgreSQL has asked it for its password.
async fn pass_on(listener: TcpListener, port: u16, superuser: &Client, sql: &str) -> io::Result<()> {
    let (mut client, _) = listener.accept().await?;
    let mut gate = TcpStream::connect(("127.0.0.1", port)).await?;
    let mut message = vec![0; 1024];
    let length = client.read(&mut message).await?;
    gate.write_all(&message[..length]).await?;
    let length = gate.read(&mut message).await?;
    superuser.batch_execute(sql).await.expect("a superuser may");
    client.write_all(&message[..length]).await?;
    copy_bidirectional(&mut client, &mut gate).await.map(drop)
}

/// PostgreSQL 15 lets `postgres` do what the superuser does here.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_011_a_role_that_gets_the_name_of_a_login_while_it_logs_in_does_not_come_in() {
    let port = Project::further_port();
    let home = Home::with_settings(&format!("[selvedge.database_gate]\nport = {port}\n"));
    let _running = home.serve(&["--migrate"]).await;
    let url = add(&home, "ana", "--read-only");
    let superuser = home.superuser().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let through = listener.local_addr().expect("bound").port();
    let through = url.replace(&format!(":{port}/"), &format!(":{through}/"));
    let rename = "create role other login; alter role ana rename to former; alter role other rename to ana";

    let (came, _) = tokio::join!(connect(&through), pass_on(listener, port, &superuser, rename));

    let refused = came.expect_err("it is another role");
    assert!(refused.contains("not one of the login"), "{refused}");
    let undo = "drop role ana; alter role former rename to ana";
    superuser.batch_execute(undo).await.expect("a superuser may");
    connect(&url).await.expect("a login again");
}
