//! What the transaction of a request leaves behind: nothing after a failure, and nothing of its caller for the next one; and
//! what is refused where Citus distributes the objects.

use std::time::Duration;

use selvedge_testing::TestDatabase;
use serde_json::json;

use crate::support::{Response, Store, TestApp};

/// Each row of an object is noted by a trigger. Then objects named `now…` are refused by the statement, and those named
/// `late…` at the commit.
const NOTED_OBJECTS: &str = "
    insert into storage.buckets (id, name) values ('b', 'b');
    create policy add on storage.objects for insert to anon, authenticated with check (bucket_id = 'b');
    create policy see on storage.objects for select using (owner_id = auth.uid()::text);
    create policy change on storage.objects for update using (owner_id = auth.uid()::text);
    create table public.noted (name text);
    create function public.note() returns trigger language plpgsql security definer as $$ begin
      insert into public.noted values (new.name);
      return null;
    end $$;
    create function public.refuse() returns trigger language plpgsql as $$ begin
      raise exception 'refused';
    end $$;
    create trigger a_note after insert or update on storage.objects for each row execute function public.note();
    create trigger b_refuse after insert or update on storage.objects for each row when (new.name like 'now%')
      execute function public.refuse();
    create constraint trigger refuse_late after insert or update on storage.objects deferrable initially deferred
      for each row when (new.name like 'late%') execute function public.refuse();";

async fn start_noted() -> TestApp {
    let app = TestApp::start().await;
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute(NOTED_OBJECTS)
        .await
        .expect("the SQL works");
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_010_a_failure_in_the_middle_of_an_upload_leaves_nothing_behind() {
    let app = start_noted().await;
    let ana = app.user("ana");

    // Again and again, because a statement takes other ways once it is prepared.
    for _ in 0..4 {
        for name in ["now", "late"] {
            let path = format!("b/{name}/1");
            for response in [ana.upload(&path, "x").await, ana.upsert(&path, "x").await] {
                assert!(response.status.as_u16() >= 400, "{path}: {}", response.text());
            }
        }
    }
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    assert_eq!(app.count("select count(*) from public.noted").await, 0);
    app.settle(0).await;

    ana.upload("b/good", "old").await.ok();
    let body = json!({"bucketId": "b", "sourceKey": "good", "destinationKey": "late/2"});
    let moved = ana.post("/object/move", body).await;
    assert!(moved.status.as_u16() >= 400, "{}", moved.text());
    assert_eq!(ana.get("/object/b/good").await.ok().text(), "old");
    assert_eq!(app.count("select count(*) from public.noted").await, 1);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_054_nothing_of_a_caller_is_seen_by_the_next_even_after_errors() {
    let app = start_noted().await;
    let (ana, bob, anon) = (app.user("ana"), app.user("bob"), app.anon());
    ana.upload("b/hers", "hers").await.ok();
    bob.upload("b/his", "his").await.ok();
    let hidden = |response: Response| response.is(400, "404", "NoSuchKey");

    for round in 0..10 {
        for refused in ["now", "late"] {
            let failed = ana.upload(&format!("b/{refused}/{round}"), "x").await;
            assert!(failed.status.as_u16() >= 400, "{}", failed.text());
            hidden(anon.get("/object/b/hers").await);
            hidden(bob.get("/object/b/hers").await);
        }
        let (hers, his, theirs) =
            futures_util::join!(ana.get("/object/b/hers"), bob.list("b", ""), anon.list("b", ""));
        assert_eq!(hers.ok().text(), "hers");
        assert_eq!(his.ok().names(), ["his"]);
        assert_eq!(theirs.ok().names(), Vec::<String>::new());
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_009_objects_that_citus_distributes_are_refused_with_the_way_back() {
    let database = TestDatabase::create().await;
    let buckets = "insert into storage.buckets (id, name, public) values ('b', 'b', true)";
    database
        .superuser()
        .await
        .batch_execute(buckets)
        .await
        .expect("a bucket");
    database.pretend_citus().await;
    database.distribute("storage").await;
    let app = TestApp::start_on_database(database, Store::new(), |config| config).await;
    let service = app.service_role();
    let body = json!({"bucketId": "b", "sourceKey": "x", "destinationKey": "y"});

    for (what, response) in [
        ("upload", service.upload("b/x", "x").await),
        ("upsert", service.upsert("b/x", "x").await),
        ("list", service.list("b", "").await),
        ("list-v2", service.post("/object/list-v2/b", json!({})).await),
        ("download", service.get("/object/b/x").await),
        ("public download", app.nobody().get("/object/public/b/x").await),
        ("info", service.get("/object/info/b/x").await),
        ("authenticated", service.get("/object/authenticated/b/x").await),
        (
            "sign",
            service.post("/object/sign/b/x", json!({"expiresIn": 60})).await,
        ),
        ("move", service.post("/object/move", body.clone()).await),
        ("copy", service.post("/object/copy", body).await),
        ("delete", service.delete("/object/b/x").await),
        ("delete a list", service.remove("b", &["x"]).await),
        ("empty", service.post("/bucket/b/empty", json!({})).await),
    ] {
        assert_eq!(response.error().0, 500, "{what}: {}", response.text());
        let way_back = "undistribute_table('storage.objects')";
        assert!(
            response.message().contains(way_back),
            "{what}: {}",
            response.text()
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_014_a_download_behind_one_whose_session_ends_is_answered() {
    let app = TestApp::start_with_one_connection().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b'); \
         create policy see on storage.objects for select to authenticated \
           using (name <> 'slow' or pg_advisory_xact_lock_shared(8) is not null)",
    )
    .await;
    let ana = app.user("ana");
    for name in ["slow", "quick"] {
        app.service_role().upload(&format!("b/{name}"), name).await.ok();
        // Statements that have been fast share a connection.
        ana.get(&format!("/object/b/{name}")).await.ok();
    }
    let holder = app.database.superuser().await;
    holder
        .batch_execute("select pg_advisory_lock(8)")
        .await
        .expect("a lock");
    let superuser = app.database.superuser().await;

    let (slow, quick, ()) =
        futures_util::join!(ana.get("/object/b/slow"), ana.get("/object/b/quick"), async {
            while app.count(WAITING).await == 0 {
                actix_web::rt::time::sleep(Duration::from_millis(10)).await;
            }
            // The worker answers in order, so after these it has begun the second request as well.
            for _ in 0..3 {
                ana.get("/status").await;
            }
            superuser
                .batch_execute(END_WAITING_SESSION)
                .await
                .expect("a superuser may");
        });

    assert!(slow.status.as_u16() >= 500, "{}: {}", slow.status, slow.text());
    assert_eq!(quick.ok().text(), "quick");
}

/// Sessions that wait for an advisory lock of this database.
const WAITING: &str = "select count(*) from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())";
const END_WAITING_SESSION: &str =
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())";
