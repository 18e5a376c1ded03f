//! Moving, copying, deleting.

use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;

async fn app_with_object() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('a', 'a'), ('b', 'b');
         create policy \"all\" on storage.objects for all to authenticated using (true) with check (true)",
    )
    .await;
    let upload = app
        .user("ana")
        .upload_request("a/x", "bytes")
        .header("cache-control", "max-age=33");
    upload.header("x-metadata", "eyJrIjoidiJ9").send().await.ok();
    app
}

#[actix_web::test]
async fn store_041_a_moved_object_keeps_its_identity() {
    let app = app_with_object().await;
    let ana = app.user("ana");
    let before = ana.get("/object/info/a/x").await.ok().json();

    let body = json!({"bucketId": "a", "sourceKey": "x", "destinationKey": "sub/y"});
    assert_eq!(
        ana.post("/object/move", body).await.ok().message(),
        "Successfully moved"
    );

    ana.get("/object/a/x").await.is(400, "404", "NoSuchKey");
    let after = ana.get("/object/info/a/sub/y").await.ok().json();
    for field in [
        "id",
        "created_at",
        "metadata",
        "etag",
        "size",
        "content_type",
        "cache_control",
    ] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert_eq!(ana.get("/object/a/sub/y").await.ok().text(), "bytes");
    app.settle(1).await;
}

#[actix_web::test]
async fn store_041_a_taken_destination_refuses_a_move() {
    let app = app_with_object().await;
    app.user("ana").upload("a/y", "other").await.ok();

    let answer = app
        .user("ana")
        .post(
            "/object/move",
            json!({"bucketId": "a", "sourceKey": "x", "destinationKey": "y"}),
        )
        .await;

    answer.is(400, "409", "ResourceAlreadyExists");
    assert_eq!(app.user("ana").get("/object/a/y").await.text(), "other");
    app.settle(2).await;
}

#[actix_web::test]
async fn store_043_a_copy_takes_everything_along() {
    let app = app_with_object().await;

    let copied = app
        .user("bob")
        .post(
            "/object/copy",
            json!({"bucketId": "a", "sourceKey": "x", "destinationKey": "y"}),
        )
        .await
        .ok()
        .json();

    assert_eq!(copied["Key"], "a/y");
    let info = app.user("ana").get("/object/info/a/y").await.ok().json();
    assert_eq!(
        (&info["cache_control"], &info["metadata"], &info["content_type"]),
        (&json!("max-age=33"), &json!({"k": "v"}), &json!("text/plain"))
    );
    app.user("ana").delete("/object/a/x").await.ok();
    assert_eq!(app.user("ana").get("/object/a/y").await.ok().text(), "bytes");
}

#[actix_web::test]
async fn store_044_both_go_to_other_buckets() {
    let app = app_with_object().await;
    let body = |destination: &str| json!({"bucketId": "a", "sourceKey": "x", "destinationBucket": "b", "destinationKey": destination});

    app.user("ana").post("/object/copy", body("copied")).await.ok();
    app.user("ana").post("/object/move", body("moved")).await.ok();

    for key in ["copied", "moved"] {
        assert_eq!(
            app.user("ana").get(&format!("/object/b/{key}")).await.ok().text(),
            "bytes"
        );
    }
    app.settle(2).await;
}

#[actix_web::test]
async fn copying_onto_itself_changes_the_cache_control() {
    let app = app_with_object().await;
    let body = json!({"bucketId": "a", "sourceKey": "x", "destinationKey": "x", "copyMetadata": false, "metadata": {"cacheControl": "max-age=7"}});

    app.user("ana")
        .request(Method::POST, "/object/copy")
        .header("x-upsert", "true")
        .json(body)
        .send()
        .await
        .ok();

    let got = app.user("ana").get("/object/a/x").await.ok();
    assert_eq!(
        (
            got.text().as_str(),
            got.header("cache-control"),
            got.header("content-type")
        ),
        ("bytes", Some("max-age=7"), Some("text/plain"))
    );
    app.settle(1).await;
}

#[actix_web::test]
async fn store_019_and_020_many_are_deleted_by_exact_key() {
    let app = app_with_object().await;
    let ana = app.user("ana");
    ana.upload("a/f/1", "x").await.ok();
    ana.upload("a/f_2", "x").await.ok();

    assert_eq!(
        ana.remove("a", &["f", "f/", "f%", "f/*", "nope"])
            .await
            .ok()
            .json(),
        json!([])
    );
    assert_eq!(
        app.user("ana").remove("unknown", &["x"]).await.ok().json(),
        json!([])
    );
    let deleted = ana.remove("a", &["f/1", "nope", "x"]).await.ok();

    let mut names = deleted.names();
    names.sort();
    assert_eq!(names, ["f/1", "x"]);
    assert!(
        deleted
            .json()
            .as_array()
            .expect("rows")
            .iter()
            .all(|row| row["id"].is_string() && row["bucket_id"] == "a")
    );
    app.settle(1).await;
}

#[actix_web::test]
async fn store_045_one_is_deleted_or_the_reason_is_told() {
    let app = app_with_object().await;

    app.anon()
        .delete("/object/a/x")
        .await
        .is(400, "403", "AccessDenied");
    assert_eq!(
        app.user("ana").delete("/object/a/x").await.ok().message(),
        "Successfully deleted"
    );
    app.user("ana")
        .delete("/object/a/x")
        .await
        .is(400, "404", "NoSuchKey");
    app.settle(0).await;
}
