//! Signed URLs, for reading and for writing.

use reqwest::Method;
use selvedge_token::unix_now;
use serde_json::{Value, json};

use crate::support::{Response, TestApp, user_id};

/// The service with a private bucket `b` that users may use, and the object `b/a file.txt`.
async fn app_with_object() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"all\" on storage.objects for all to authenticated using (bucket_id = 'b')",
    )
    .await;
    app.user("ana").upload("b/a file.txt", "secret").await.ok();
    app
}

/// The URL in a field of a response, encoded as clients send it.
fn url_of(response: &Response, field: &str) -> String {
    // Clients apply encodeURI to the whole URL.
    response.json()[field]
        .as_str()
        .expect("a URL")
        .replace(' ', "%20")
}

/// Uploads text to a signed URL, without a token in the headers.
async fn put(app: &TestApp, url: &str, text: &str) -> Response {
    app.nobody()
        .request(Method::PUT, url)
        .header("content-type", "text/plain")
        .body(text.to_owned())
        .send()
        .await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_015_and_060_a_signed_url_needs_no_headers() {
    let app = app_with_object().await;

    let signed = app
        .user("ana")
        .post("/object/sign/b/a%20file.txt", json!({"expiresIn": 60}))
        .await
        .ok();

    assert!(
        signed.json()["signedURL"]
            .as_str()
            .expect("a URL")
            .starts_with("/object/sign/b/a file.txt?token=")
    );
    let got = app.nobody().get(&url_of(&signed, "signedURL")).await.ok();
    assert_eq!(got.text(), "secret");
    assert!(got.header("expires").is_some() && got.header("cache-control").is_none());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_016_a_download_token_is_valid_for_its_object_only() {
    let app = app_with_object().await;
    let sign = |claims: Value| app.keys.sign_hs256(&claims).expect("signs");
    let later = unix_now() + 60;
    let get = async |token: &str| {
        app.nobody()
            .get(&format!("/object/sign/b/a%20file.txt?token={token}"))
            .await
    };

    let good = sign(json!({"url": "b/a file.txt", "scope": "download", "exp": later}));
    get(&good).await.ok();
    for (token, code) in [
        // A changed signature.
        (format!("{}x", &good[..good.len() - 2]), "InvalidJWT"),
        (
            sign(json!({"url": "b/a file.txt", "scope": "download", "exp": unix_now() - 5})),
            "InvalidJWT",
        ),
        ("garbage".to_owned(), "InvalidJWT"),
        (
            sign(json!({"url": "b/other", "scope": "download", "exp": later})),
            "InvalidSignature",
        ),
        (
            sign(json!({"url": "c/a file.txt", "scope": "download", "exp": later})),
            "InvalidSignature",
        ),
        (
            sign(json!({"url": "b/a file.txt", "scope": "upload", "exp": later})),
            "InvalidSignature",
        ),
        (
            sign(json!({"url": "b/a file.txt", "upsert": false, "exp": later})),
            "InvalidSignature",
        ),
        (
            // A session token: even that of the service role names no URL.
            sign(json!({"role": "service_role", "exp": later})),
            "InvalidSignature",
        ),
    ] {
        get(&token).await.is(400, "400", code);
    }
    app.nobody()
        .get("/object/sign/b/a%20file.txt")
        .await
        .is(400, "400", "InvalidRequest");
    // A URL token is not accepted as a session token.
    app.with_token(&good)
        .get("/object/authenticated/b/a%20file.txt")
        .await
        .is(400, "404", "NoSuchKey");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_018_signing_many_keys_keeps_their_order() {
    let app = app_with_object().await;
    let paths = json!(["nope", "a file.txt", "a file.txt"]);

    let items = app
        .user("ana")
        .post("/object/sign/b", json!({"expiresIn": 60, "paths": paths}))
        .await
        .ok()
        .json();

    let refused = json!({"error": "Either the object does not exist or you do not have access to it", "path": "nope", "signedURL": null});
    assert_eq!(items[0], refused);
    for item in [&items[1], &items[2]] {
        assert_eq!(
            (&item["error"], &item["path"]),
            (&Value::Null, &json!("a file.txt"))
        );
        let url = item["signedURL"].as_str().expect("a URL").replace(' ', "%20");
        assert_eq!(app.nobody().get(&url).await.ok().text(), "secret");
    }
    let hidden = app
        .anon()
        .post(
            "/object/sign/b",
            json!({"expiresIn": 60, "paths": ["a file.txt"]}),
        )
        .await
        .ok()
        .json();
    assert_eq!(hidden[0]["signedURL"], Value::Null);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_046_to_049_an_upload_url_uploads_once_for_its_signer() {
    let app = app_with_object().await;

    let signed = app
        .user("ana")
        .post("/object/upload/sign/b/new", json!({}))
        .await
        .ok();
    let url = url_of(&signed, "url");
    assert!(url.ends_with(signed.json()["token"].as_str().expect("a token")));

    assert_eq!(put(&app, &url, "one").await.ok().json(), json!({"Key": "b/new"}));
    put(&app, &url, "two").await.is(400, "409", "KeyAlreadyExists");
    let rows = app.user("ana").remove("b", &["new"]).await.ok().json();
    assert_eq!(rows[0]["owner_id"], json!(user_id("ana")));
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_047_an_upsert_token_may_overwrite() {
    let app = app_with_object().await;
    let request = app
        .user("ana")
        .request(Method::POST, "/object/upload/sign/b/new")
        .header("x-upsert", "true");
    let url = url_of(&request.send().await.ok(), "url");

    put(&app, &url, "one").await.ok();
    put(&app, &url, "two").await.ok();

    assert_eq!(app.user("ana").get("/object/b/new").await.text(), "two");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_048_download_and_upload_tokens_are_not_interchangeable() {
    let app = app_with_object().await;
    let download = app
        .user("ana")
        .post("/object/sign/b/a%20file.txt", json!({"expiresIn": 60}))
        .await
        .ok();
    let upload = app
        .user("ana")
        .post("/object/upload/sign/b/new", json!({}))
        .await
        .ok();
    let token = |url: String| url.split_once("?token=").expect("a token").1.to_owned();

    let download = token(url_of(&download, "signedURL"));
    let upload = token(url_of(&upload, "url"));

    put(
        &app,
        &format!("/object/upload/sign/b/a%20file.txt?token={download}"),
        "x",
    )
    .await
    .is(400, "400", "InvalidSignature");
    app.nobody()
        .get(&format!("/object/sign/b/new?token={upload}"))
        .await
        .is(400, "400", "InvalidSignature");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_046_signed_uploads_obey_the_limits_of_the_bucket() {
    let app = app_with_object().await;
    app.sql("update storage.buckets set file_size_limit = 3, allowed_mime_types = '{text/*}' where id = 'b'")
        .await;
    let url = url_of(
        &app.user("ana")
            .post("/object/upload/sign/b/new", json!({}))
            .await
            .ok(),
        "url",
    );

    put(&app, &url, "four").await.is(400, "413", "EntityTooLarge");
    let image = app
        .nobody()
        .request(Method::PUT, &url)
        .header("content-type", "image/png")
        .body("x")
        .send()
        .await;
    image.is(400, "415", "InvalidMimeType");
    put(&app, &url, "ok").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_060_signed_urls_of_keys_with_a_question_mark_work() {
    let app = app_with_object().await;
    let ana = app.user("ana");
    ana.upload("b/q%3F.txt", "found").await.ok();

    let signed = ana
        .post("/object/sign/b/q%3F.txt", json!({"expiresIn": 60}))
        .await
        .ok();
    let url = url_of(&signed, "signedURL");
    let upload = ana.post("/object/upload/sign/b/new%3F.txt", json!({})).await.ok();
    let upload_url = url_of(&upload, "url");

    assert!(url.starts_with("/object/sign/b/q%3F.txt?token="), "{url}");
    assert_eq!(app.nobody().get(&url).await.ok().text(), "found");
    // Clients apply encodeURI, which encodes the percent sign.
    let encoded = url.replace('%', "%25");
    assert_eq!(app.nobody().get(&encoded).await.ok().text(), "found");
    put(&app, &upload_url, "new").await.ok();
    assert_eq!(ana.get("/object/b/new%3F.txt").await.ok().text(), "new");
}
