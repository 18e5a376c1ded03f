//! Uploads: forms and raw bodies, overwriting, limits, keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use crate::support::{Part, TestApp, user_id};

/// The service with a public bucket `b` in which users may do everything.
async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, public) values ('b', 'b', true);
         create policy \"users do all\" on storage.objects for all to authenticated
           using (bucket_id = 'b') with check (bucket_id = 'b')",
    )
    .await;
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_001_a_form_as_the_browser_client_sends_it_is_stored() {
    let app = app_with_bucket().await;
    let bytes: Vec<u8> = (0..100_000_u32).map(|i| (i % 256) as u8).collect();
    let parts = [
        // supabase-js sends the fields first and a file part without a name.
        Part::Field("cacheControl", "3600"),
        Part::File {
            name: "",
            content_type: Some("image/png"),
            bytes: &bytes,
        },
    ];

    let stored = app
        .user("ana")
        .upload_form("b/items/p.png", &parts)
        .await
        .ok()
        .json();

    assert_eq!(stored["Key"], "b/items/p.png");
    assert!(uuid::Uuid::try_parse(stored["Id"].as_str().expect("an id")).is_ok());
    let got = app.nobody().get("/object/public/b/items/p.png").await.ok();
    assert_eq!(got.body, bytes);
    assert_eq!(got.header("content-type"), Some("image/png"));
    assert_eq!(got.header("cache-control"), Some("max-age=3600"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_004_an_upload_without_upsert_does_not_replace_an_object() {
    let app = app_with_bucket().await;
    app.user("ana").upload("b/x", "old").await.ok();

    let response = app.user("ana").upload("b/x", "new").await;

    response.is(400, "409", "KeyAlreadyExists");
    assert_eq!(
        (response.json()["error"].as_str(), response.message().as_str()),
        (Some("Duplicate"), "The resource already exists")
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "old");
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_005_upsert_keeps_the_id_and_removes_the_old_blob() {
    let app = app_with_bucket().await;
    let ana = app.user("ana");
    let first = ana.upload("b/x", "old").await.ok().json();
    let before = ana.get("/object/info/b/x").await.ok().json();

    let second = ana
        .upload_request("b/x", "newer")
        .header("x-upsert", "true")
        .send()
        .await
        .ok()
        .json();

    let after = ana.get("/object/info/b/x").await.ok().json();
    assert_eq!(first["Id"], second["Id"]);
    assert_eq!(before["created_at"], after["created_at"]);
    assert_ne!(before["version"], after["version"]);
    assert_eq!(ana.get("/object/b/x").await.text(), "newer");
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_006_put_replaces_or_creates() {
    let app = app_with_bucket().await;
    let put = async |text: &str| {
        app.user("ana")
            .request(Method::PUT, "/object/b/x")
            .header("content-type", "text/plain")
            .body(text.to_owned())
            .send()
            .await
    };

    put("created").await.ok();
    put("replaced").await.ok();

    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "replaced");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_007_downloads_have_the_headers_of_a_raw_upload() {
    let app = app_with_bucket().await;
    let request = app.user("ana").request(Method::POST, "/object/b/x");
    let headers = [
        ("content-type", "Application/X-Odd; Param=One"),
        ("cache-control", "public, max-age=5"),
    ];
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(name, value));

    request.body("odd").send().await.ok();

    let got = app.nobody().get("/object/public/b/x").await.ok();
    for (name, value) in headers {
        assert_eq!(got.header(name), Some(value));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_008_a_form_without_cache_control_gets_no_cache() {
    let app = app_with_bucket().await;

    app.user("ana")
        .upload_form(
            "b/x",
            &[Part::File {
                name: "file",
                content_type: None,
                bytes: b"x",
            }],
        )
        .await
        .ok();

    assert_eq!(
        app.nobody()
            .get("/object/public/b/x")
            .await
            .header("cache-control"),
        Some("no-cache")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_001_form_fields_behind_the_file_count_and_are_checked() {
    let app = app_with_bucket().await;
    app.sql("update storage.buckets set allowed_mime_types = '{text/plain}' where id = 'b'")
        .await;
    let file = || Part::File {
        name: "",
        content_type: Some("text/plain"),
        bytes: b"late",
    };

    let parts = [
        file(),
        Part::Field("cacheControl", "60"),
        Part::Field("metadata", "{\"k\":1}"),
    ];
    app.user("ana").upload_form("b/late", &parts).await.ok();
    let info = app.user("ana").get("/object/info/b/late").await.ok().json();
    assert_eq!(
        (&info["cache_control"], &info["metadata"]),
        (&json!("max-age=60"), &json!({"k": 1}))
    );

    let response = app
        .user("ana")
        .upload_form("b/dodge", &[file(), Part::Field("contentType", "text/html")])
        .await;
    response.is(400, "415", "InvalidMimeType");
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_032_a_too_large_upload_leaves_no_row_and_no_blob() {
    let app = app_with_bucket().await;
    app.sql("update storage.buckets set file_size_limit = 1000 where id = 'b'")
        .await;
    let big = "x".repeat(1001);

    let raw = app.user("ana").upload("b/raw", &big).await;
    let form = app
        .user("ana")
        .upload_form(
            "b/form",
            &[Part::File {
                name: "",
                content_type: None,
                bytes: big.as_bytes(),
            }],
        )
        .await;

    for response in [raw, form] {
        response.is(400, "413", "EntityTooLarge");
        assert_eq!(response.message(), "The object exceeded the maximum allowed size");
    }
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    app.settle(0).await;
    app.user("ana").upload("b/fits", &"x".repeat(1000)).await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_033_types_outside_the_list_are_refused() {
    let app = app_with_bucket().await;
    app.sql("update storage.buckets set allowed_mime_types = '{image/*}' where id = 'b'")
        .await;
    let part = |content_type| {
        [Part::File {
            name: "",
            content_type: Some(content_type),
            bytes: b"x",
        }]
    };

    let response = app.user("ana").upload_form("b/x", &part("text/plain")).await;
    response.is(400, "415", "InvalidMimeType");
    assert_eq!(
        (response.message().as_str(), &response.json()["error"]),
        (
            "mime type text/plain is not supported",
            &json!("invalid_mime_type")
        )
    );
    app.user("ana").upload_form("b/x", &part("image/png")).await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_051_user_metadata_is_stored_and_returned() {
    let app = app_with_bucket().await;
    let metadata = STANDARD.encode(json!({"a": 1, "b": {"c": [true, null]}}).to_string());
    app.user("ana")
        .upload_request("b/with", "x")
        .header("x-metadata", &metadata)
        .send()
        .await
        .ok();
    app.user("ana").upload("b/without", "x").await.ok();

    let metadata = async |name: &str| {
        app.user("ana")
            .get(&format!("/object/info/b/{name}"))
            .await
            .json()["metadata"]
            .clone()
    };

    assert_eq!(metadata("with").await, json!({"a": 1, "b": {"c": [true, null]}}));
    assert_eq!(metadata("without").await, json!({}));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_052_an_overwrite_replaces_user_metadata() {
    let app = app_with_bucket().await;
    let upload = async |metadata: serde_json::Value| {
        let request = app
            .user("ana")
            .upload_request("b/x", "x")
            .header("x-upsert", "true");
        request
            .header("x-metadata", &STANDARD.encode(metadata.to_string()))
            .send()
            .await
            .ok()
    };
    upload(json!({"a": 1})).await;

    upload(json!({"b": 2})).await;

    assert_eq!(
        app.user("ana").get("/object/info/b/x").await.json()["metadata"],
        json!({"b": 2})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_055_the_subject_of_the_token_owns_its_uploads() {
    let app = app_with_bucket().await;
    app.user("ana").upload("b/by-user", "x").await.ok();
    app.with_claims(json!({"role": "service_role", "sub": "robot-seven"}))
        .upload("b/by-robot", "x")
        .await
        .ok();
    app.service_role().upload("b/by-service", "x").await.ok();

    let rows = app
        .service_role()
        .remove("b", &["by-user", "by-robot", "by-service"])
        .await
        .ok()
        .json();

    let owner_of = |name: &str| {
        let row = rows
            .as_array()
            .expect("rows")
            .iter()
            .find(|row| row["name"] == name)
            .expect(name)
            .clone();
        (row["owner"].clone(), row["owner_id"].clone())
    };
    assert_eq!(
        owner_of("by-user"),
        (json!(user_id("ana")), json!(user_id("ana")))
    );
    // The deprecated column `owner` holds UUIDs only; both are empty texts and not null, for typed clients.
    assert_eq!(owner_of("by-robot"), (json!(""), json!("robot-seven")));
    assert_eq!(owner_of("by-service"), (json!(""), json!("")));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_062_keys_outside_the_allowed_characters_are_refused() {
    let app = app_with_bucket().await;

    for key in [
        "%C3%A9.txt",
        "a%25b",
        "a%23b",
        "a%5Bb",
        "a%7Eb",
        "a%5Cb",
        "a%22b",
        "a%00b",
        "a%0Ab",
        "%E6%97%A5",
    ] {
        app.user("ana")
            .upload(&format!("b/{key}"), "x")
            .await
            .is(400, "400", "InvalidKey");
    }
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_064_no_key_reaches_a_file_outside_the_blob_folder() {
    let app = app_with_bucket().await;

    for key in [
        "..%2F..%2Fescape",
        "a%2F..%2Fb",
        "%2E%2E%2Fx",
        "..%2f..%2f..%2fetc%2fpasswd",
    ] {
        app.user("ana")
            .upload(&format!("b/{key}"), "x")
            .await
            .is(400, "400", "InvalidKey");
        app.nobody()
            .get(&format!("/object/public/b/{key}"))
            .await
            .is(400, "400", "InvalidKey");
    }
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_065_empty_objects_can_be_stored_and_read() {
    let app = app_with_bucket().await;
    app.user("ana").upload("b/empty", "").await.ok();

    let got = app.nobody().get("/object/public/b/empty").await.ok();

    assert_eq!((got.header("content-length"), got.body.len()), (Some("0"), 0));
    assert_eq!(
        app.user("ana").get("/object/info/b/empty").await.json()["size"],
        json!(0)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_066_folder_placeholders_must_be_empty_and_may_have_any_type() {
    let app = app_with_bucket().await;
    app.sql("update storage.buckets set allowed_mime_types = '{image/*}' where id = 'b'")
        .await;

    app.user("ana")
        .upload("b/f/.emptyFolderPlaceholder", "")
        .await
        .ok();
    app.user("ana")
        // Otherwise any bytes could be stored past the list of allowed types.
        .upload("b/g/.emptyFolderPlaceholder", "x")
        .await
        .is(400, "413", "EntityTooLarge");

    assert_eq!(
        app.user("ana").list("b", "f").await.ok().names(),
        [".emptyFolderPlaceholder"]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_079_concurrent_upserts_leave_one_complete_version() {
    let app = app_with_bucket().await;
    let ana = app.user("ana");
    let texts: Vec<String> = (0..12).map(|n| n.to_string().repeat(50_000)).collect();

    let uploads = texts
        .iter()
        .map(|text| ana.upload_request("b/x", text).header("x-upsert", "true").send());
    for response in futures_util::future::join_all(uploads).await {
        response.ok();
    }

    assert!(texts.contains(&app.nobody().get("/object/public/b/x").await.ok().text()));
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_080_of_two_concurrent_creations_one_succeeds() {
    let app = app_with_bucket().await;
    let ana = app.user("ana");

    for round in 0..10 {
        let key = format!("b/{round}");
        let (one, two) = futures_util::join!(ana.upload(&key, "one"), ana.upload(&key, "two"));
        let (winner, loser) = if one.status.is_success() {
            (one, two)
        } else {
            (two, one)
        };
        winner.ok();
        loser.is(400, "409", "KeyAlreadyExists");
    }
    app.settle(10).await;
}
