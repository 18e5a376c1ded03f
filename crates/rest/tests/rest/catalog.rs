//! Reloads of the schema cache after changes of the database.

use serde_json::json;

use crate::standalone_app::until;
use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_092_new_tables_appear_after_ddl_without_refused_requests() {
    let app = TestApp::blog().await;
    let (anon, other) = (app.anon(), app.anon());
    let superuser = app.database.superuser().await;
    anon.until("/posts", |response| response.status == 200).await;

    superuser
        .batch_execute("create table public.fresh (id int); grant select on public.fresh to anon")
        .await
        .unwrap();
    let busy = async {
        for _ in 0..50 {
            assert_eq!(other.get("/posts?select=id").await.status, 200);
        }
    };
    futures_util::join!(anon.until("/fresh", |response| response.status != 404), busy);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
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

    anon.until("/tags?id=eq.1", |response| {
        // PostgreSQL refuses prepared statements whose columns have changed; the pool prepares them anew.
        assert_eq!(response.status, 200, "{response:?}");
        response.text == r#"[{"id":1,"name":"rust","colour":"red"}]"#
    })
    .await;
    until("a reload", || app.cache.health().loads >= 2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_094_health_reports_loaded_and_listening() {
    let app = TestApp::blog().await;

    until("listening", || app.cache.health().listening).await;

    assert!(app.cache.health().loaded);
    assert_eq!(app.cache.health().failure, None);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_092_ddl_under_load_fails_no_request() {
    let app = TestApp::blog().await;
    let superuser = app.database.superuser().await;
    let done = std::cell::Cell::new(false);
    let ana = app.user(crate::support::ANA);
    // A response may show the table before or after a change, but is never an error.
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
                    let response = client.get(path).await;
                    assert_eq!(response.status, 200, "{path}: {response:?}");
                    requests += 1;
                }
            }
            requests
        }
    }));
    let writer = async {
        let mut written = 0;
        while !done.get() {
            let response = ana
                .post(
                    "/tags",
                    &json!({ "id": 1000 + written, "name": format!("t{written}") }),
                )
                .await;
            assert!(
                response.status == 201 || response.status == 401 || response.status == 403,
                "{response:?}"
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
        app.anon()
            .until("/last_one", |response| response.status != 404)
            .await;
        done.set(true);
    };

    let (requests, (), ()) = futures_util::join!(readers, writer, changes);

    assert!(requests.into_iter().sum::<usize>() > 0);
    assert!(app.cache.health().loads > 2);
    assert_eq!(
        app.anon().get("/tags?select=c7&limit=1").await.text,
        r#"[{"c7":7}]"#
    );
}
