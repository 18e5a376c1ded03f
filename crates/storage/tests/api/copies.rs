//! Moving, copying and deleting of objects.

use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;

/// The service with the private buckets `a` and `b`, a policy that allows users everything, and the object `a/x`, which
/// has a cache-control and user metadata.
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
    // Base64 of {"k":"v"}.
    upload.header("x-metadata", "eyJrIjoidiJ9").send().await.ok();
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_041_a_move_keeps_id_creation_time_and_user_metadata() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_041_042_a_bucket_that_cannot_be_is_told_after_the_rights() {
    let app = app_with_object().await;
    app.sql("insert into storage.buckets (id, name) values ('made/by-sql', 'made/by-sql')")
        .await;
    let body = |source: &str, bucket: &str| json!({"bucketId": source, "sourceKey": "x", "destinationBucket": bucket, "destinationKey": "y"});

    for path in ["/object/move", "/object/copy"] {
        let hidden = app.anon().post(path, body("a", "no/bucket")).await;
        hidden.is(400, "404", "NoSuchKey");
        let missing = app.user("ana").post(path, body("a", "no/bucket")).await;
        missing.is(400, "404", "InvalidRequest");
        let odd = app.user("ana").post(path, body("a", "made/by-sql")).await;
        odd.is(400, "404", "NoSuchBucket");
        let source = app.user("ana").post(path, body("no/bucket", "a")).await;
        source.is(400, "400", "InvalidBucketName");
    }
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_041_a_move_to_an_existing_key_is_refused() {
    let app = app_with_object().await;
    app.user("ana").upload("a/y", "other").await.ok();

    let response = app
        .user("ana")
        .post(
            "/object/move",
            json!({"bucketId": "a", "sourceKey": "x", "destinationKey": "y"}),
        )
        .await;

    response.is(400, "409", "ResourceAlreadyExists");
    assert_eq!(app.user("ana").get("/object/a/y").await.text(), "other");
    app.settle(2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_043_a_copy_has_the_metadata_of_its_source() {
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
    // The copy has a separate blob, so it survives the deletion of its source.
    app.user("ana").delete("/object/a/x").await.ok();
    assert_eq!(app.user("ana").get("/object/a/y").await.ok().text(), "bytes");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_044_move_and_copy_work_across_buckets() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_043_copying_an_object_onto_itself_changes_its_cache_control() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_019_and_020_many_objects_are_deleted_by_exact_key() {
    let app = app_with_object().await;
    let ana = app.user("ana");
    ana.upload("a/f/1", "x").await.ok();
    ana.upload("a/f_2", "x").await.ok();

    assert_eq!(
        // The field is called `prefixes`, but folders and patterns delete nothing.
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_045_deleting_one_object_succeeds_or_reports_denied_or_missing() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_042_and_044_moves_and_copies_obey_the_limits_of_the_destination() {
    let app = app_with_object().await;
    app.sql(
        "insert into storage.buckets (id, name, file_size_limit, allowed_mime_types) values
           ('small', 'small', 1, null), ('images', 'images', null, '{image/*}'), ('texts', 'texts', 100, '{text/plain}')",
    )
    .await;
    let owner = app.service_role();
    owner.upload("b/limited.txt", "text").await.ok();

    // Deliberately stricter than the original, whose limits apply to uploads only.
    for operation in ["move", "copy"] {
        let to = |bucket: &str| {
            json!({
                "bucketId": "b", "sourceKey": "limited.txt",
                "destinationBucket": bucket, "destinationKey": format!("{operation}.txt"),
            })
        };
        let path = format!("/object/{operation}");
        owner
            .post(&path, to("small"))
            .await
            .is(400, "413", "EntityTooLarge");
        owner
            .post(&path, to("images"))
            .await
            .is(400, "415", "InvalidMimeType");
    }
    let to_texts = json!({
        "bucketId": "b", "sourceKey": "limited.txt", "destinationBucket": "texts", "destinationKey": "a.txt",
    });
    owner.post("/object/copy", to_texts).await.ok();
    let as_html = json!({
        "bucketId": "texts", "sourceKey": "a.txt", "destinationKey": "a.html",
        "copyMetadata": false, "metadata": {"mimetype": "text/html"},
    });
    owner
        .post("/object/copy", as_html)
        .await
        .is(400, "415", "InvalidMimeType");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_044_metadata_of_another_type_is_refused_also_where_it_is_not_used() {
    let app = app_with_object().await;
    let ana = app.user("ana");
    for (metadata, message) in [
        (json!("x"), "body/metadata must be object"),
        (json!(null), "body/metadata must be object"),
        (json!([{"mimetype": "text/css"}]), "body/metadata must be object"),
        (
            json!({"cacheControl": {}}),
            "body/metadata/cacheControl must be string",
        ),
        (
            json!({"mimetype": ["text/css"]}),
            "body/metadata/mimetype must be string",
        ),
    ] {
        for copies in [json!(true), json!(false), json!(null)] {
            let mut body = json!({
                "bucketId": "a", "sourceKey": "x", "destinationKey": "y", "metadata": metadata,
            });
            if !copies.is_null() {
                body["copyMetadata"] = copies;
            }
            let response = ana.post("/object/copy", body.clone()).await;
            assert_eq!(
                (response.status.as_u16(), response.message().as_str()),
                (400, message),
                "{body}"
            );
        }
    }
    let unused = json!({
        "bucketId": "a", "sourceKey": "x", "destinationKey": "y", "metadata": {"mimetype": "not a type"},
    });
    ana.post("/object/copy", unused).await.ok();
}
