//! The catalog follows the database.

use crate::support::{Client, TestApp};
use serde_json::json;
use std::time::{Duration, Instant};

/// Asks until the answer is no 404, and says how long that took.
async fn until_found(client: &Client, path: &str) -> Duration {
    let start = Instant::now();
    while client.get(path).await.status == 404 {
        assert!(start.elapsed() < Duration::from_secs(5), "{path} does not appear");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    start.elapsed()
}

#[actix_web::test]
async fn rest_092_new_tables_appear_by_themselves_and_no_request_is_refused_meanwhile() {
    let app = TestApp::blog().await;
    let (anon, other) = (app.anon(), app.anon());
    let superuser = app.database.superuser().await;
    until_found(&anon, "/posts").await;

    superuser
        .batch_execute("create table public.fresh (id int); grant select on public.fresh to anon")
        .await
        .unwrap();
    let busy = async {
        for _ in 0..50 {
            assert_eq!(other.get("/posts?select=id").await.status, 200);
        }
    };
    let (waited, ()) = futures_util::join!(until_found(&anon, "/fresh"), busy);

    assert!(waited < Duration::from_secs(3), "{waited:?}");
}

#[actix_web::test]
async fn rest_091_a_changed_column_is_seen_after_a_reload() {
    let app = TestApp::blog().await;
    let anon = app.anon();
    let superuser = app.database.superuser().await;
    for _ in 0..5 {
        assert_eq!(
            anon.get("/tags?id=eq.1").await.text,
            r#"[{"id":1,"name":"rust"}]"#
        );
    }

    superuser
        .batch_execute("alter table public.tags add colour text default 'red'")
        .await
        .unwrap();

    let start = Instant::now();
    loop {
        let answer = anon.get("/tags?id=eq.1").await;
        // PostgreSQL refuses plans that were made for the old columns, and we make new ones
        assert_eq!(answer.status, 200, "{answer:?}");
        if answer.text == r#"[{"id":1,"name":"rust","colour":"red"}]"# {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{answer:?}");
    }
    while app.state.health().loads < 2 {
        assert!(start.elapsed() < Duration::from_secs(5), "no reload");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[actix_web::test]
async fn rest_094_the_catalog_says_how_it_is_doing() {
    let app = TestApp::blog().await;

    let start = Instant::now();
    while !app.state.health().listening {
        assert!(start.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    assert!(app.state.health().loaded);
    assert_eq!(app.state.health().failure, None);
}

#[actix_web::test]
async fn rest_092_ddl_under_load_fails_no_request() {
    let app = TestApp::blog().await;
    let superuser = app.database.superuser().await;
    let done = std::cell::Cell::new(false);
    let ana = app.user(crate::support::ANA);
    // an answer may show the table before or after a change, but never an error
    let readers = futures_util::future::join_all((0..6).map(|reader| {
        let (client, done) = (if reader % 2 == 0 { app.anon() } else { ana.clone() }, &done);
        async move {
            let paths = [
                "/posts?select=*,profiles!author_id(*)&order=id&limit=3",
                "/posts?select=id,title&id=eq.1",
                "/tags",
                "/rpc/add?a=1",
            ];
            let mut requests = 0;
            while !done.get() {
                for path in paths {
                    let answer = client.get(path).await;
                    assert_eq!(answer.status, 200, "{path}: {answer:?}");
                    requests += 1;
                }
            }
            requests
        }
    }));
    let writer = async {
        let mut written = 0;
        while !done.get() {
            let answer = ana
                .post(
                    "/tags",
                    &json!({ "id": 1000 + written, "name": format!("t{written}") }),
                )
                .await;
            assert!(
                answer.status == 201 || answer.status == 401 || answer.status == 403,
                "{answer:?}"
            );
            written += 1;
        }
    };
    let changes = async {
        for round in 0..8 {
            for statement in [
                format!("alter table public.tags add column c{round} int default {round}"),
                format!("create table public.made_{round} (id int primary key references public.tags (id))"),
                format!("create view public.seen_{round} as select * from public.tags"),
                "create or replace function public.add(a int, b int default 10) returns int language sql immutable as \
                 $$ select a + b + 0 $$"
                    .to_owned(),
                format!("comment on table public.tags is 'round {round}'"),
                "create index on public.tags (name)".to_owned(),
                format!("drop view public.seen_{round}"),
                format!("drop table public.made_{round}"),
            ] {
                superuser.batch_execute(&statement).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
        superuser
            .batch_execute("create table public.last_one (id int); grant select on public.last_one to anon")
            .await
            .unwrap();
        until_found(&app.anon(), "/last_one").await;
        done.set(true);
    };

    let (requests, (), ()) = futures_util::join!(readers, writer, changes);

    assert!(requests.into_iter().sum::<usize>() > 0);
    assert!(app.state.health().loads > 2);
    assert_eq!(
        app.anon().get("/tags?select=c7&limit=1").await.text,
        r#"[{"c7":7}]"#
    );
}
