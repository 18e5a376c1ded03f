//! The catalog follows the database.

use crate::support::{Client, TestApp};
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
        // PostgreSQL may refuse a plan that was made for the old columns, once per connection at most
        if answer.status == 200 && answer.text == r#"[{"id":1,"name":"rust","colour":"red"}]"# {
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
