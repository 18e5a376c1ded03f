//! Buckets: creation, limits, visibility, deletion.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_029_creating_a_bucket_twice_is_refused() {
    let app = TestApp::start().await;
    let admin = app.service_role();

    let created = admin
        .post("/bucket", json!({"name": "docs", "id": "docs"}))
        .await
        .ok();
    assert_eq!(created.json(), json!({"name": "docs"}));

    let again = admin.post("/bucket", json!({"name": "docs"})).await;
    again.is(400, "409", "BucketAlreadyExists");
    assert_eq!(again.json()["error"], "Duplicate");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_030_buckets_created_by_sql_work_at_once() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('sql', 'sql', true)")
        .await;

    app.service_role().upload("sql/a.txt", "hi").await.ok();

    assert_eq!(
        app.nobody().get("/object/public/sql/a.txt").await.ok().text(),
        "hi"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_031_anonymous_callers_see_no_buckets() {
    let app = TestApp::start().await;
    app.service_role()
        .post("/bucket", json!({"name": "docs", "public": true}))
        .await
        .ok();

    assert_eq!(app.anon().get("/bucket").await.ok().json(), json!([]));
    app.anon()
        .get("/bucket/docs")
        .await
        .is(400, "404", "NoSuchBucket");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_067_invalid_bucket_names_are_refused() {
    let app = TestApp::start().await;
    let long = "n".repeat(101);

    for name in ["a/b", " a", "a ", "", long.as_str()] {
        let response = app.service_role().post("/bucket", json!({"name": name})).await;
        response.is(400, "400", "InvalidBucketName");
        assert_eq!(
            (response.message().as_str(), &response.json()["error"]),
            ("Bucket name invalid", &json!("Invalid Input"))
        );
    }
    // The id is checked as well as the name.
    let response = app
        .service_role()
        .post("/bucket", json!({"name": "good", "id": "b/a/d"}))
        .await;
    response.is(400, "400", "InvalidBucketName");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_068_size_limits_are_texts_numbers_or_null() {
    let app = TestApp::start().await;
    let admin = app.service_role();

    for (limit, stored) in [
        (json!("1mb"), json!(1_000_000)),
        (json!(1_000_000), json!(1_000_000)),
        (json!(null), json!(null)),
    ] {
        admin
            .post("/bucket", json!({"name": "b", "file_size_limit": limit}))
            .await
            .ok();
        assert_eq!(
            admin.get("/bucket/b").await.ok().json()["file_size_limit"],
            stored
        );
        admin.delete("/bucket/b").await.ok();
    }
    // Above the limit of the service, which is 50 MiB by default.
    let above = admin
        .post("/bucket", json!({"name": "b", "file_size_limit": "1gb"}))
        .await;
    above.is(400, "413", "EntityTooLarge");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_069_a_bucket_update_needs_a_known_field() {
    let app = TestApp::start().await;
    let admin = app.service_role();
    admin.post("/bucket", json!({"name": "b"})).await.ok();

    admin
        .put("/bucket/b", json!({"id": "b", "name": "b"}))
        .await
        .is(400, "400", "InvalidRequest");
    for body in [
        json!({"public": true}),
        json!({"file_size_limit": 5}),
        json!({"allowed_mime_types": ["image/*"]}),
    ] {
        assert_eq!(
            admin.put("/bucket/b", body).await.ok().message(),
            "Successfully updated"
        );
    }

    let bucket = admin.get("/bucket/b").await.ok().json();
    assert_eq!(bucket["public"], json!(true));
    assert_eq!(bucket["file_size_limit"], json!(5));
    assert_eq!(bucket["allowed_mime_types"], json!(["image/*"]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_070_making_a_bucket_private_takes_effect_at_once() {
    let app = TestApp::start().await;
    let admin = app.service_role();
    admin
        .post("/bucket", json!({"name": "b", "public": true}))
        .await
        .ok();
    admin.upload("b/x", "x").await.ok();
    app.nobody().get("/object/public/b/x").await.ok();

    admin.put("/bucket/b", json!({"public": false})).await.ok();

    app.nobody()
        .get("/object/public/b/x")
        .await
        .is(400, "404", "NoSuchBucket");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_071_only_empty_buckets_are_deleted() {
    let app = TestApp::start().await;
    let admin = app.service_role();
    admin.post("/bucket", json!({"name": "b"})).await.ok();
    admin.upload("b/x", "x").await.ok();

    admin.delete("/bucket/b").await.is(400, "409", "ResourceNotEmpty");
    admin.delete("/object/b/x").await.ok();
    assert_eq!(
        admin.delete("/bucket/b").await.ok().message(),
        "Successfully deleted"
    );
    admin.delete("/bucket/b").await.is(400, "404", "NoSuchBucket");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_072_only_the_service_role_empties_a_bucket_and_its_blobs_are_removed() {
    let app = TestApp::start().await;
    let admin = app.service_role();
    admin.post("/bucket", json!({"name": "b"})).await.ok();
    for name in ["b/1", "b/2/3", "b/4"] {
        admin.upload(name, "x").await.ok();
    }
    assert_eq!(app.store.blobs(), 3);

    app.user("ana")
        .post("/bucket/b/empty", json!({}))
        .await
        .is(403, "403", "AccessDenied");
    let emptied = admin.post("/bucket/b/empty", json!({})).await.ok();

    assert_eq!(
        emptied.message(),
        "Empty bucket has been queued. Completion may take up to an hour."
    );
    // The message mentions a queue, but the rows are deleted when the response arrives. Blobs are removed in the background.
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_072_emptying_a_bucket_above_the_limit_is_refused() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        empty_bucket_max_objects: 1,
        ..config
    })
    .await;
    let admin = app.service_role();
    admin.post("/bucket", json!({"name": "b"})).await.ok();
    admin.upload("b/1", "x").await.ok();
    admin.upload("b/2", "x").await.ok();

    admin
        .post("/bucket/b/empty", json!({}))
        .await
        .is(400, "409", "InvalidRequest");

    assert_eq!(app.count("select count(*) from storage.objects").await, 2);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_075_bucket_search_takes_wildcards_literally() {
    let app = TestApp::start().await;
    let admin = app.service_role();
    for name in ["a_b", "axb"] {
        admin.post("/bucket", json!({"name": name})).await.ok();
    }

    // In LIKE patterns `_` and `%` would match any characters.
    assert_eq!(admin.get("/bucket?search=A_B").await.ok().names(), ["a_b"]);
    assert_eq!(
        admin.get("/bucket?search=%25").await.ok().names(),
        Vec::<String>::new()
    );
    assert_eq!(
        admin
            .get("/bucket?sortColumn=name&sortOrder=desc&limit=1")
            .await
            .ok()
            .names(),
        ["axb"]
    );
    admin
        .get("/bucket?limit=0")
        .await
        .is(400, "400", "InvalidRequest");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_029_analytics_buckets_are_refused_as_not_enabled() {
    let app = TestApp::start().await;

    let analytics = app
        .service_role()
        .post("/bucket", json!({"name": "a", "type": "ANALYTICS"}))
        .await;

    analytics.is(400, "409", "FeatureNotEnabled");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_031_head_describes_what_get_returns() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('docs', 'docs')")
        .await;
    let admin = app.service_role();

    for path in ["/bucket", "/bucket/", "/bucket/docs", "/status", "/version"] {
        let (get, head) = (admin.get(path).await.ok(), admin.head(path).await.ok());
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert_eq!(
            head.header("content-length"),
            Some(get.body.len().to_string().as_str()),
            "{path}"
        );
        assert!(head.body.is_empty(), "{path}");
    }
    let (list, missing) = (
        app.nobody().head("/bucket").await,
        admin.head("/bucket/none").await,
    );
    assert_eq!((list.status.as_u16(), missing.status.as_u16()), (400, 400));
}
