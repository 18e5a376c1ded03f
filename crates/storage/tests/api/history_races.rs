//! Writers of a bucket with versions at the same time: who waits for whom, and what they leave.

use std::time::Duration;

use reqwest::Method;
use selvedge_storage::StorageConfig;
use serde_json::json;

use crate::object_history::{app_with_versions, check_invariants, store};
use crate::support::TestApp;

/// Waits until as many sessions of the test's database wait for an advisory lock.
async fn wait_for_waiting(app: &TestApp, count: i64) {
    let waiting = "select count(*) from pg_stat_activity \
                   where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'";
    for _ in 0..6000 {
        if app.count(waiting).await >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody waits");
}

/// A trigger of the project holds a write between the moments at which ours look at the bucket. The service asks with version `1`.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_206_versioning_that_is_enabled_during_a_write_leaves_one_slot() {
    let app = TestApp::start().await;
    let client = app.service_role();
    client
        .post("/bucket", json!({"name": "b", "public": true}))
        .await
        .ok();
    store(&client, "a", &["one"]).await;
    app.sql(
        "create function public.wait() returns trigger language plpgsql as $$ begin \
           if new.version <> '1' then perform pg_catalog.pg_advisory_xact_lock_shared(52); end if; return new; end $$; \
         create trigger zz_wait before update on storage.objects for each row execute function public.wait()",
    )
    .await;
    let holder = app.database.superuser().await;
    holder
        .batch_execute("select pg_advisory_lock(52)")
        .await
        .expect("locked");

    let enable = async {
        wait_for_waiting(&app, 1).await;
        client.set_versioning("ENABLED").await;
        holder
            .batch_execute("select pg_advisory_unlock(52)")
            .await
            .expect("free");
    };
    let (stored, ()) = futures_util::future::join(client.upsert("b/a", "two"), enable).await;

    stored.ok();
    check_invariants(&app).await;
    store(&client, "a", &["three"]).await;
    client.delete("/object/b/a").await.ok();
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_224_moves_removals_and_new_keys_do_not_wait_in_a_circle() {
    let app = app_with_versions().await;
    let client = app.service_role();
    for round in 0..25 {
        let key = format!("a{round}");
        let versions = store(&client, &key, &["one", "two"]).await;
        let steps = (0..9).map(|n| {
            let (client, key, current) = (&client, &key, &versions[1]);
            async move {
                let body =
                    json!({"bucketId": "b", "sourceKey": key, "destinationKey": format!("{key}-to-{n}")});
                match n % 3 {
                    0 => client.post("/object/move", body).await,
                    1 => {
                        client
                            .delete(&format!("/object/b/{key}?versionId={current}"))
                            .await
                    }
                    _ => client.upload(&format!("b/{key}-new-{n}"), "new").await,
                }
            }
        });
        for response in futures_util::future::join_all(steps).await {
            if response.status != 200 {
                let (_, _, code) = response.error();
                assert!(
                    ["NoSuchKey", "ResourceAlreadyExists"].contains(&code.as_str()),
                    "{code}"
                );
            }
        }
    }
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_211_a_removal_during_an_overwrite_is_no_refusal() {
    let app = app_with_versions().await;
    let client = app.service_role();

    for round in 0..40 {
        let key = format!("a{round}");
        let versions = store(&client, &key, &["one"]).await;
        let version = format!("/object/b/{key}?versionId={}", versions[0]);
        let removal = client.delete(&version);
        let path = format!("b/{key}");
        let (removed, stored) = futures_util::future::join(removal, client.upsert(&path, "two")).await;

        removed.ok();
        stored.ok();
        assert_eq!(client.read(&key).await.as_deref(), Some("two"));
    }
    check_invariants(&app).await;
    app.settle(40).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_213_of_markers_of_one_key_made_at_the_same_time_there_is_one() {
    // Each of them may wait for all others, however slow the machine is.
    let app = app_that_waits(Duration::from_secs(120)).await;
    let client = app.service_role();
    let keys: Vec<String> = (0..200).map(|n| format!("k{n}")).collect();
    let (there, back): (Vec<&str>, Vec<&str>) = (
        keys.iter().map(String::as_str).collect(),
        keys.iter().rev().map(String::as_str).collect(),
    );

    let deletions = (0..6).map(|n| client.remove("b", if n % 2 == 0 { &there } else { &back }));
    let uploads = (0..20).map(|n| {
        let (client, path) = (&client, format!("b/k{}", n * 7));
        async move { client.upload(&path, "text").await }
    });
    let (deleted, stored) = futures_util::future::join(
        futures_util::future::join_all(deletions),
        futures_util::future::join_all(uploads),
    )
    .await;

    for response in deleted {
        response.ok();
    }
    for response in stored {
        response.ok();
    }
    check_invariants(&app).await;
    let request = client.request(Method::DELETE, "/object/b");
    let again = request.json(json!({"prefixes": there})).send().await.ok().json();
    assert_eq!(again.as_array().map(Vec::len), Some(200));
    let current = "select count(*) from storage.objects where archived_at is null and is_delete_marker";
    assert_eq!(app.count(current).await, 200);
}

/// The service with a bucket `b` that keeps versions, whose writers wait so long for each other.
async fn app_that_waits(object_lock_timeout: Duration) -> TestApp {
    let app = TestApp::start_with(|config| StorageConfig {
        object_lock_timeout,
        ..config
    })
    .await;
    let body = json!({"name": "b", "public": true, "versioning_status": "ENABLED"});
    app.service_role().post("/bucket", body).await.ok();
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_213_a_deletion_that_waits_too_long_for_others_may_be_repeated() {
    let app = app_that_waits(Duration::from_millis(50)).await;
    let client = app.service_role();
    let other = app.database.superuser().await;
    let locks = (0..16).map(|slot| format!("_selvedge.selvedge_history_lock_{slot}"));
    let locks = locks.collect::<Vec<_>>().join(", ");
    let begin = format!("begin; lock table {locks} in share row exclusive mode");
    other.batch_execute(&begin).await.expect("locked");

    let waited = client.remove("b", &["missing"]).await;
    other.batch_execute("commit").await.expect("free");

    waited.is(400, "503", "LockTimeout");
    assert_eq!(app.count("select count(*) from storage.object_history").await, 0);
    client.remove("b", &["missing"]).await.ok();
}

/// Triggers of the project raise 40P01 in the first transaction that changes a key: the error that PostgreSQL raises after a deadlock.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_213_a_deletion_that_ends_in_a_deadlock_is_repeated() {
    let app = app_with_versions().await;
    let client = app.service_role();
    for key in ["there", "stuck"] {
        client.upload(&format!("b/{key}"), "text").await.ok();
    }
    let superuser = app.database.superuser().await;
    let triggers = "create sequence public.attempts_on_there;
         create sequence public.attempts_on_missing;
         create function public.end_in_deadlock() returns trigger language plpgsql security definer as $$
         declare
           key text := case tg_op when 'DELETE' then old.name else new.name end;
         begin
           if key = 'stuck' or nextval('public.attempts_on_' || key) = 1 then
             raise exception using errcode = '40P01', message = 'deadlock detected';
           end if;
           return case tg_op when 'DELETE' then old else new end;
         end $$;
         create trigger deadlock before delete on storage.objects
           for each row execute function public.end_in_deadlock();
         create trigger deadlock before insert on storage.object_history
           for each row when (new.name = 'missing') execute function public.end_in_deadlock()";
    superuser.batch_execute(triggers).await.expect("triggers");

    let deleted = client.remove("b", &["there", "missing"]).await.ok().json();
    let stuck = client.remove("b", &["stuck"]).await;

    assert_eq!(deleted.as_array().map(Vec::len), Some(2), "{deleted}");
    stuck.is(400, "503", "LockTimeout");
    assert_eq!(client.read("stuck").await.as_deref(), Some("text"));
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_advisory_locks_of_other_roles_keep_nobody_from_a_bucket_with_versions() {
    let app = app_with_versions().await;
    let anybody = app.database.superuser().await;
    anybody
        .batch_execute("set role anon; select pg_advisory_lock(1935635300, hashtext('b'))")
        .await
        .expect("every role may take an advisory lock");
    let client = app.service_role();

    client.upload("b/x", "text").await.ok();
    client.remove("b", &["missing"]).await.ok();

    let lock = "begin; lock table _selvedge.selvedge_history_lock_0 in row exclusive mode";
    let refused = anybody
        .batch_execute(lock)
        .await
        .expect_err("a right of Storage's");
    assert_eq!(refused.code().map(|code| code.code()), Some("42501"));
    check_invariants(&app).await;
}
