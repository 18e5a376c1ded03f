//! Sessions for texts of people: values as text, long ones cut, and cancelled statements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_postgres::{
    Database, Login, Logins, StatementCanceller, TextEvent, TextSession, TransactionStatus,
};
use selvedge_testing::TestDatabase;
use tokio::task::LocalSet;

async fn open(database: &TestDatabase) -> (TextSession, StatementCanceller, Arc<Database>) {
    let logins = Logins::with_single_login(database.config("postgres"));
    let shared = Database::new(logins);
    let (session, canceller) = shared
        .text_session(Login::Authenticator)
        .await
        .expect("a session");
    (session, canceller, shared)
}

/// All events of a statement that is run to its end.
async fn events(session: &mut TextSession, sql: &str) -> Vec<TextEvent> {
    session.send(sql, 0).await.expect("sent");
    let mut events = Vec::new();
    loop {
        let event = tokio::time::timeout(Duration::from_secs(30), session.next_event(100, 1000)).await;
        let event = event.expect("an answer in time").expect("an event");
        let is_last = matches!(event, TextEvent::Ready(_));
        events.push(event);
        if is_last {
            return events;
        }
    }
}

#[tokio::test]
async fn console_034_values_come_as_text_with_types_and_notices_in_their_place() {
    let database = TestDatabase::create().await;
    LocalSet::new()
        .run_until(async {
            let (mut session, _, _shared) = open(&database).await;
            session.run("create table t (id int8, note text)").await.expect("valid");
            session.run("insert into t values (9223372036854775807, null)").await.expect("valid");

            let found = events(&mut session, "select id, note, 1.10 as n from t").await;

            let TextEvent::Columns(columns) = &found[0] else {
                panic!("{found:?}")
            };
            assert_eq!((columns[0].type_oid, columns[0].attribute), (20, 1));
            assert_eq!((columns[2].name.as_str(), columns[2].table_oid), ("n", 0));
            let TextEvent::Row(cells) = &found[1] else {
                panic!("{found:?}")
            };
            let texts: Vec<Option<&str>> = cells.iter().map(|cell| cell.as_ref().map(|cell| cell.text.as_str())).collect();
            assert_eq!(texts, [Some("9223372036854775807"), None, Some("1.10")]);
            assert_eq!(found[2], TextEvent::Complete("SELECT 1".to_owned()));

            let found = events(&mut session, "do $$ begin raise notice 'hello'; end $$").await;
            assert!(matches!(&found[0], TextEvent::Notice(notice) if notice.message == "hello"), "{found:?}");

            let found = events(&mut session, "select nothing").await;
            assert!(
                matches!(&found[0], TextEvent::Error(error) if error.code == "42703" && error.position == Some(8)),
                "{found:?}"
            );
        })
        .await;
}

#[tokio::test]
async fn console_173_long_values_are_skipped_and_long_notices_are_cut() {
    let database = TestDatabase::create().await;
    LocalSet::new()
        .run_until(async {
            let (mut session, _, _shared) = open(&database).await;

            let found = events(&mut session, "select repeat('é', 20000000), 'after', null").await;
            let TextEvent::Row(cells) = &found[1] else {
                panic!("a row")
            };
            let long = cells[0].as_ref().expect("a value");
            assert_eq!((long.text.len(), long.bytes), (100, 40_000_000));
            assert!(long.is_cut());
            assert_eq!(cells[1].as_ref().expect("a value").text, "after");

            // A row has a separate limit, which many short values can reach.
            let many = format!("select {}", vec!["repeat('x', 90)"; 1600].join(", "));
            let found = events(&mut session, &many).await;
            let TextEvent::Row(cells) = &found[1] else {
                panic!("a row")
            };
            let kept: usize = cells.iter().flatten().map(|cell| cell.text.len()).sum();
            assert_eq!((cells.len(), kept), (1600, 1000));

            let found = events(
                &mut session,
                "do $$ begin raise notice '%', repeat('x', 5000000); end $$",
            )
            .await;
            assert!(matches!(&found[0], TextEvent::Notice(notice) if notice.message.len() < 70_000));
            assert_eq!(found.last(), Some(&TextEvent::Ready(TransactionStatus::Idle)));
        })
        .await;
}

#[tokio::test]
async fn console_093_rows_come_in_portions_and_a_statement_is_cancelled_at_once() {
    let database = TestDatabase::create().await;
    LocalSet::new()
        .run_until(async {
            let (mut session, canceller, _shared) = open(&database).await;
            session.run("begin").await.expect("valid");
            session
                .send("select generate_series(1, 1000000000)", 10)
                .await
                .expect("sent");
            let mut rows = 0;
            loop {
                match session.next_event(100, 1000).await.expect("an event") {
                    TextEvent::Row(_) => rows += 1,
                    TextEvent::Suspended if rows < 20 => session.send_more(10).await.expect("sent"),
                    TextEvent::Suspended => session.finish_statement().await.expect("sent"),
                    TextEvent::Ready(status) => {
                        // The transaction is still usable, although the rest of the rows was skipped.
                        assert_eq!(status, TransactionStatus::Open);
                        break;
                    }
                    _ => {}
                }
            }
            assert_eq!(rows, 20);

            let start = Instant::now();
            session.send("select pg_sleep(60)", 0).await.expect("sent");
            let observer = database.superuser().await;
            let sleeping =
                "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
            while observer.query(sleeping, &[]).await.expect("a view").is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            canceller.cancel().await;
            let mut code = String::new();
            loop {
                match session.next_event(100, 1000).await.expect("an event") {
                    TextEvent::Error(error) => code = error.code,
                    TextEvent::Ready(status) => {
                        assert_eq!(status, TransactionStatus::Failed);
                        break;
                    }
                    _ => {}
                }
            }
            assert_eq!(code, "57014");
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        })
        .await;
}

#[tokio::test]
async fn console_168_a_text_with_two_statements_is_refused_before_the_first_one_runs() {
    let database = TestDatabase::create().await;
    LocalSet::new()
        .run_until(async {
            let (mut session, _, _shared) = open(&database).await;
            session.run("create table t (id int)").await.expect("valid");

            let found = events(
                &mut session,
                "insert into t values (1); commit; insert into t values (2)",
            )
            .await;

            assert!(
                matches!(&found[0], TextEvent::Error(error) if error.code == "42601"),
                "{found:?}"
            );
            let found = events(&mut session, "select count(*) from t").await;
            assert!(
                matches!(&found[1], TextEvent::Row(cells) if cells[0].as_ref().expect("a count").text == "0")
            );
            // Data for COPY cannot be part of the text; the session refuses it and stays usable.
            let found = events(&mut session, "copy t from stdin").await;
            assert!(
                found.iter().any(|event| matches!(event, TextEvent::Error(_))),
                "{found:?}"
            );
            session.run("select 1").await.expect("the session is usable");
        })
        .await;
}
