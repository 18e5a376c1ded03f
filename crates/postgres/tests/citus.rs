//! Transactions in the form for Citus, tested on plain PostgreSQL, and that the form without Citus is unchanged.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use selvedge_postgres::{
    AccessMode, Database, Login, Logins, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult, begin_as_caller,
};
use selvedge_testing::{PASSWORD, TestDatabase};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::task::LocalSet;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

const SCHEMA: &str = "
    create table public.t (id int primary key, v text);
    insert into t select i, 'v' || i from generate_series(1, 3) i;
    grant all on t to anon, authenticated, service_role;";

/// Returns the settings that functions in policies read.
const SETTINGS: &str = "select concat_ws('|', current_user, current_setting('request.jwt.claims'), \
    current_setting('request.path'), current_setting('app.settings.Name'), replace(current_setting('search_path'), '\"', ''), \
    current_setting('transaction_isolation'), current_setting('transaction_read_only'))";

async fn create_database(has_citus: bool) -> TestDatabase {
    let test = TestDatabase::create().await;
    test.connect("postgres")
        .await
        .batch_execute(SCHEMA)
        .await
        .expect("a schema");
    if has_citus {
        test.pretend_citus().await;
    }
    test
}

async fn connect(config: Config) -> Arc<Database> {
    Database::connect(Logins::with_single_login(config))
        .await
        .expect("the database is there")
}

fn transaction<'a>(
    access: AccessMode,
    claims: &'a str,
    extra: &'a [(&'a str, &'a str)],
    statement: &'a SqlStatement,
) -> RequestTransaction<'a> {
    RequestTransaction {
        access,
        isolation: None,
        context: RequestContext {
            search_path: "\"public\", \"extensions\"",
            role: "anon",
            claims,
            method: "GET",
            path: "/t",
            headers: "{}",
            cookies: "{}",
            extra,
        },
        pre_request: None,
        statement,
        calls_function: false,
        replayed_to: None,
        client: None,
        turn: None,
        explain: None,
        end: TransactionEnd::Commit,
    }
}

fn text(result: &TransactionResult) -> &str {
    result.rows[0].get(0)
}

/// What the client sent: the texts of statements, `sync` for each Sync message, and `turn` where the client waited for a response.
type Sent = Arc<Mutex<Vec<String>>>;

/// Starts a proxy from TCP to PostgreSQL's socket that records the client's statements; returns its port and the record.
async fn start_listening_proxy(socket: PathBuf) -> (u16, Sent) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let sent = Sent::default();
    let noted = Arc::clone(&sent);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&socket).await.expect("a server");
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            let noted = Arc::clone(&noted);
            tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            tokio::spawn(async move {
                let mut buffer = vec![0; 65536];
                while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
                    record_messages(&buffer[..length], &mut noted.lock().expect("a lock"));
                    to_server.write_all(&buffer[..length]).await.expect("a server");
                }
            });
        }
    });
    (port, sent)
}

/// Records the messages of one write. A write begins with a message, because the client writes all batches of a turn at once.
fn record_messages(mut bytes: &[u8], noted: &mut Vec<String>) {
    noted.push("write".to_owned());
    while let Some((tag, rest)) = bytes.split_first().filter(|(tag, _)| tag.is_ascii_alphabetic()) {
        let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
        let body = &rest[4..length];
        match tag {
            b'P' => {
                let mut texts = body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                noted.push(texts.nth(1).expect("a text").into_owned());
            }
            b'S' => noted.push("sync".to_owned()),
            _ => {}
        }
        bytes = &rest[length..];
    }
}

/// A pool whose statements are noted.
async fn start_noted_pool(has_citus: bool) -> (TestDatabase, RequestPool, Sent) {
    let test = create_database(has_citus).await;
    let direct = test.config("authenticator");
    let Some(Host::Unix(folder)) = direct.get_hosts().first() else {
        panic!("a socket")
    };
    let socket = folder.join(format!(".s.PGSQL.{}", direct.get_ports()[0]));
    let (port, sent) = start_listening_proxy(socket).await;
    let mut config = Config::new();
    config.host("127.0.0.1").port(port).user("authenticator");
    config.password(PASSWORD).dbname(test.name());
    let pool = RequestPool::new(connect(config).await, RequestPoolConfig::default());
    pool.warm_up().await.expect("connections");
    sent.lock().expect("a lock").clear();
    (test, pool, sent)
}

/// The statements of two requests, a read and a write, each in one write to the socket.
async fn record_statements(has_citus: bool) -> Vec<String> {
    let (_test, pool, sent) = start_noted_pool(has_citus).await;
    let read = SqlStatement::plain("select v from t where id = 1");
    let write = SqlStatement {
        params: vec![Param::text("x")],
        ..SqlStatement::plain("update t set v = $1 where id = 2")
    };
    pool.run(transaction(AccessMode::ReadOnly, "{}", &[], &read))
        .await
        .expect("a read");
    pool.run(transaction(
        AccessMode::ReadWrite,
        "{\"sub\":\"it's\"}",
        &[],
        &write,
    ))
    .await
    .expect("a write");
    sent.lock().expect("a lock").clone()
}

/// The settings statement; its parameters `$2` and `$3` are the role's `statement_timeout`.
const SETTINGS_STATEMENT: &str = "set_config('search_path',$1,true),set_config($2,$3,true),\
    set_config('role',$4,true),set_config('request.jwt.claims',$5,true),set_config('request.method',$6,true),\
    set_config('request.path',$7,true),set_config('request.headers',$8,true),set_config('request.cookies',$9,true))";

#[tokio::test]
async fn without_citus_a_request_sends_settings_and_statement_only() {
    LocalSet::new()
        .run_until(async {
            assert_eq!(
                record_statements(false).await,
                [
                    "write",
                    &format!("select num_nonnulls(set_config('transaction_read_only','on',true),{SETTINGS_STATEMENT}"),
                    "select v from t where id = 1",
                    "sync",
                    "write",
                    &format!("select num_nonnulls({SETTINGS_STATEMENT}"),
                    "update t set v = $1 where id = 2",
                    "reset all",
                    "sync",
                ]
            );
        })
        .await;
}

#[tokio::test]
async fn with_citus_a_request_repeats_its_settings_by_set_local_in_one_round_trip() {
    LocalSet::new()
        .run_until(async {
            let settings = format!(
                "select num_nonnulls(set_config('citus.propagate_set_commands','local',true),{SETTINGS_STATEMENT}"
            );
            let for_workers = |claims: &str| {
                [
                    format!("set local \"request\".\"jwt\".\"claims\" = {claims}"),
                    "set local \"request\".\"method\" = 'GET'".to_owned(),
                    "set local \"request\".\"path\" = '/t'".to_owned(),
                    "set local \"request\".\"headers\" = '{}'".to_owned(),
                    "set local \"request\".\"cookies\" = '{}'".to_owned(),
                    "set local search_path = \"public\", \"extensions\"".to_owned(),
                ]
            };
            let request = |begin: &str, claims: &str, statement: &str| {
                let mut all = vec!["write".to_owned(), begin.to_owned(), settings.clone()];
                all.extend(for_workers(claims));
                all.extend([statement, "sync", "commit", "reset all", "sync"].map(str::to_owned));
                all
            };
            let read = "begin isolation level read committed read only";
            let write = "begin isolation level read committed read write";
            let expected = [
                request(read, "'{}'", "select v from t where id = 1"),
                request(write, "'{\"sub\":\"it''s\"}'", "update t set v = $1 where id = 2"),
            ];

            assert_eq!(record_statements(true).await, expected.concat());
        })
        .await;
}

#[tokio::test]
async fn with_citus_the_settings_that_a_pre_request_function_left_are_repeated_for_the_workers() {
    LocalSet::new()
        .run_until(async {
            for has_citus in [false, true] {
                let (_test, pool, sent) = start_noted_pool(has_citus).await;
                let claims = SqlStatement::plain(
                    "select concat_ws('|', current_setting('request.jwt.claims'), current_setting('response.headers'), \
                     coalesce(current_setting('response.status', true), 'no status'))",
                );
                let mut request = transaction(AccessMode::ReadOnly, "{}", &[], &claims);
                let changes = r#"select set_config('request.jwt.claims', '{"sub": "it''s"}', true),
                    set_config('response.headers', '[{"X": "it''s"}]', true)"#;
                request.pre_request = Some(changes);

                let seen = pool.run(request).await.expect("an answer");

                assert_eq!(
                    text(&seen),
                    r#"{"sub": "it's"}|[{"X": "it's"}]|no status"#
                );
                let sent = sent.lock().expect("a lock").clone();
                let repeats = sent
                    .windows(2)
                    .any(|pair| pair[0] == changes && pair[1].contains("response.headers") && pair[1].contains("set local"));
                assert_eq!(repeats, has_citus, "{sent:#?}");
            }
        })
        .await;
}

#[tokio::test]
async fn sql_reads_the_same_settings_with_and_without_citus() {
    LocalSet::new()
        .run_until(async {
            let mut seen = Vec::new();
            for has_citus in [false, true] {
                let test = create_database(has_citus).await;
                let database = connect(test.config("authenticator")).await;
                let pool = RequestPool::new(Arc::clone(&database), RequestPoolConfig::default());
                let statement = SqlStatement::plain(SETTINGS);
                let claims = r#"{"sub":"it's a \\ and \u0000"}"#;
                let extra = [("app.settings.Name", "O'Hara\\"), ("timezone", "Asia/Tokyo")];
                for _ in 0..3 {
                    let request = transaction(AccessMode::ReadOnly, claims, &extra, &statement);
                    seen.push(text(&pool.run(request).await.expect("an answer")).to_owned());
                }
                let clients = database.pool(Login::Authenticator, 1);
                let mut client = clients.get().await.expect("a connection");
                let context = transaction(AccessMode::ReadOnly, claims, &extra, &statement).context;
                let roles = database.role_settings();
                let caller = begin_as_caller(&mut client, &context, &roles, AccessMode::ReadOnly)
                    .await
                    .expect("a transaction");
                seen.push(caller.query_one(SETTINGS, &[]).await.expect("an answer").get(0));
            }
            assert!(
                seen[0].starts_with("anon|{\"sub\":\"it's a \\\\ and"),
                "{}",
                seen[0]
            );
            assert!(seen.iter().all(|one| *one == seen[0]), "{seen:#?}");
        })
        .await;
}

#[tokio::test]
async fn a_failed_statement_leaves_no_settings_with_and_without_citus() {
    LocalSet::new()
        .run_until(async {
            for has_citus in [false, true] {
                let test = create_database(has_citus).await;
                let pool = RequestPool::new(
                    connect(test.config("authenticator")).await,
                    RequestPoolConfig::default(),
                );
                let insert = SqlStatement::plain("insert into t values (100, 'x')");
                let fails = SqlStatement::plain("select 1 / 0");
                for claims in ["{\"sub\":\"ana\"}", "{\"sub\":\"ben\"}", "{}"] {
                    let mut request = transaction(AccessMode::ReadWrite, claims, &[], &insert);
                    request.explain = Some(&fails);
                    let refused = pool.run(request).await;
                    assert!(
                        matches!(&refused, Err(RequestError::Database(error)) if error.code == "22012"),
                        "{refused:?}"
                    );
                }
                let left = SqlStatement::plain(
                    "select concat(count(*), current_setting('request.jwt.claims')) from t where id = 100",
                );
                let answer = pool
                    .run(transaction(AccessMode::ReadOnly, "{}", &[], &left))
                    .await;
                assert_eq!(text(&answer.expect("an answer")), "0{}", "Citus: {has_citus}");
            }
        })
        .await;
}

#[tokio::test]
async fn a_frozen_node_fails_its_request_after_statement_timeout_and_delays_no_other() {
    LocalSet::new()
        .run_until(async {
            let test = create_database(true).await;
            let superuser = test.superuser().await;
            let set = format!(
                "alter role anon in database {} set statement_timeout = '2s'",
                test.name()
            );
            superuser.batch_execute(&set).await.expect("a setting");
            let config = RequestPoolConfig {
                // On a busy machine any statement may take long, and a slow one leaves the kept connections to others.
                slow_statement: Duration::from_secs(3600),
                ..RequestPoolConfig::default()
            };
            let pool = RequestPool::new(connect(test.config("authenticator")).await, config);
            let pid = SqlStatement::plain("select pg_backend_pid()::text");
            let run = async |statement| {
                pool.run(transaction(AccessMode::ReadOnly, "{}", &[], statement))
                    .await
            };
            // Without Citus, requests with statements known to be fast would share the connection.
            let frozen = text(&run(&pid).await.expect("an answer")).to_owned();
            signal("-STOP", &frozen);

            let begun = Instant::now();
            let (stuck, other) = tokio::join!(run(&pid), run(&pid));
            let elapsed = begun.elapsed();
            signal("-CONT", &frozen);

            let (stuck, other) = (
                stuck.map(|rows| text(&rows).to_owned()),
                other.map(|rows| text(&rows).to_owned()),
            );
            assert!(
                matches!(&stuck, Err(RequestError::Database(error)) if error.code == "57014"),
                "{stuck:?}"
            );
            assert!(other.is_ok_and(|pid| pid != frozen));
            assert!(elapsed >= Duration::from_millis(2900), "{elapsed:?}");
            assert!(run(&pid).await.is_ok());
        })
        .await;
}

/// Sends a signal to a process of PostgreSQL.
fn signal(name: &str, pid: &str) {
    let status = Command::new("kill").args([name, pid]).status().expect("kill");
    assert!(status.success());
}
