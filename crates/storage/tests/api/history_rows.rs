//! What a project has added to `storage.objects`, and what refers to its rows, when versions replace each other.

use reqwest::Method;
use serde_json::json;

use crate::object_history::{app_with_versions, check_invariants, store};
use crate::s3_client::service;
use crate::support::TestApp;

async fn id_of(app: &TestApp, key: &str) -> String {
    let client = app.database.superuser().await;
    let query = "select id::text from only storage.objects where name = $1";
    client.query_one(query, &[&key]).await.expect("an object").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_210_rows_that_refer_to_an_object_stay_when_an_older_version_becomes_current() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two"]).await;
    app.sql(
        "create table public.pics (object uuid references storage.objects on delete cascade);
         create table public.fired (op text);
         grant all on public.pics, public.fired to service_role;
         insert into public.pics select id from storage.objects where archived_at is null;
         create function public.note() returns trigger language plpgsql as $$ begin
           insert into fired values (tg_op); return null; end $$;
         create trigger note after insert or update or delete on storage.objects for each row execute function public.note()",
    )
    .await;
    let id = id_of(&app, "a").await;

    client
        .delete(&format!("/object/b/a?versionId={}", versions[1]))
        .await
        .ok();

    assert_eq!(client.read("a").await.as_deref(), Some("one"));
    assert_eq!(id_of(&app, "a").await, id);
    assert_eq!(app.count("select count(*) from public.pics").await, 1);
    assert_eq!(
        app.count("select count(*) from public.fired where op <> 'UPDATE'")
            .await,
        0
    );

    let marker = client.remove_entries(json!(["a"])).await[0]["version"].clone();
    client
        .remove_entries(json!([{"path": "a", "versionId": marker}]))
        .await;
    assert_eq!(client.read("a").await.as_deref(), Some("one"));
    assert_eq!(id_of(&app, "a").await, id, "it comes back with its id");
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_203_columns_and_constraints_of_the_project_hold_for_versions() {
    let app = app_with_versions().await;
    let client = app.service_role();
    app.sql(
        "alter table storage.objects add column note text not null default '', add column place point;
         alter table storage.objects alter column note drop default;
         create function public.fill() returns trigger language plpgsql as $$ begin
           new.note := coalesce(new.note, 'of ' || new.version); new.place := '(1,2)'; return new; end $$;
         create trigger fill before insert or update of version on storage.objects for each row execute function public.fill();
         alter table storage.objects add constraint has_owner check (owner_id is not null)",
    )
    .await;
    app.sql(
        "create policy everything on storage.objects for all to authenticated using (true) with check (true)",
    )
    .await;
    let ana = app.user("ana");
    for text in ["one", "two"] {
        ana.upsert("b/a", text).await.ok();
    }
    let kept = "select count(*) from storage.objects where note like 'of %' and place ~= '(1,2)'";
    assert_eq!(app.count(kept).await, 2);
    let current = client.version("a").await;

    client
        .delete(&format!("/object/b/a?versionId={current}"))
        .await
        .ok();
    assert_eq!(app.count(kept).await, 1);
    client.delete("/object/b/a").await.ok();
    assert_eq!(client.read("a").await, None);
    assert_eq!(
        client.remove_entries(json!(["never"])).await,
        json!([]),
        "no marker can be made"
    );
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_229_the_null_version_of_a_row_without_a_version_is_deleted() {
    let app = TestApp::start().await;
    app.service_role()
        .post("/bucket", json!({"name": "b"}))
        .await
        .ok();
    app.sql("insert into storage.objects (bucket_id, name) values ('b', 'a')")
        .await;
    let s3 = service(&app);

    let deleted = s3.delete_object().bucket("b").key("a").version_id("null");
    deleted.send().await.expect("deleted");

    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_218_a_move_tells_id_and_key_and_a_moved_version_leaves_the_rest() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two"]).await;
    let relocate = async |to: &str, version: Option<&str>| {
        let mut body = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": to});
        if let Some(version) = version {
            body["sourceVersionId"] = json!(version);
        }
        client.post("/object/move", body).await.ok().json()
    };

    let moved = relocate("current", Some(&versions[1])).await;
    assert_eq!(
        (&moved["Key"], &moved["message"]),
        (&json!("b/current"), &json!("Successfully moved"))
    );
    assert_eq!(moved["Id"], id_of(&app, "current").await);
    assert_eq!(client.read("a").await.as_deref(), Some("one"));
    assert_eq!(client.read("current").await.as_deref(), Some("two"));
    let moved = relocate("rest", None).await;
    assert_eq!(
        (&moved["Key"], &moved["Id"]),
        (&json!("b/rest"), &json!(id_of(&app, "rest").await))
    );

    client.post("/bucket", json!({"name": "plain"})).await.ok();
    client.upload("plain/a", "text").await.ok();
    let body = json!({"bucketId": "plain", "sourceKey": "a", "destinationKey": "b"});
    let plain = client
        .request(Method::POST, "/object/move")
        .json(body)
        .send()
        .await;
    assert_eq!(plain.ok().json(), json!({"message": "Successfully moved"}));
    check_invariants(&app).await;
}

/// Of rows without versioning a key has one. A version that was written before versioning was enabled moves to a key that has such a row.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_218_a_null_version_moves_to_a_key_that_has_one() {
    let app = TestApp::start().await;
    let client = app.service_role();
    let bucket = json!({"name": "b", "public": true});
    client.post("/bucket", bucket).await.ok();
    let before = store(&client, "a", &["before"]).await;
    store(&client, "b", &["other"]).await;
    client.set_versioning("ENABLED").await;
    store(&client, "a", &["one"]).await;
    client.delete("/object/b/b").await.ok();

    let body =
        json!({"bucketId": "b", "sourceKey": "a", "destinationKey": "b", "sourceVersionId": before[0]});
    client.post("/object/move", body).await.ok();

    assert_eq!(client.read("b").await.as_deref(), Some("before"));
    assert_eq!(client.read("a").await.as_deref(), Some("one"));
    check_invariants(&app).await;
    app.settle(3).await;
}

/// In a bucket with many versions an upload would otherwise read all of them, while others wait for its locks.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_203_the_newest_version_of_a_key_is_found_without_reading_the_others() {
    let app = app_with_versions().await;
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute(
            "insert into storage.object_history (id, bucket_id, name, version, is_versioned, archived_at)
             select gen_random_uuid(), 'b', 'key ' || n % 200, gen_random_uuid()::text, true, now() - n * interval '1 second'
             from generate_series(1, 5000) as n;
             analyze storage.object_history",
        )
        .await
        .expect("versions of 200 keys");
    for function in [
        "archival_time(text, text)",
        "find_newest_version(text, text, uuid)",
    ] {
        let body =
            "select prosrc from pg_catalog.pg_proc where oid = ('storage.' || $1)::pg_catalog.regprocedure";
        let body: String = superuser
            .query_one(body, &[&function])
            .await
            .expect("a body")
            .get(0);
        let query = body
            .replace("p_bucket_id", "'b'")
            .replace("p_name", "'key 7'")
            .replace("p_other_than", "null::uuid");
        let plan = superuser
            .query(&format!("explain {query}"), &[])
            .await
            .expect("a plan");
        let plan: Vec<String> = plan.iter().map(|line| line.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("object_history_key"), "{function}: {plan}");
        assert!(!plan.contains("Filter: (name"), "{function}: {plan}");
    }
}
