//! Signatures of the S3 protocol: valid ones are accepted, any change to a signed request is refused.

use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use selvedge_token::development;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::s3_client::{client, refusal, refused, service, user};
use crate::support::{Part, SANDBOX, TestApp};

/// The service with a private bucket `b`.
async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app
}

/// The lifetime of a presigned URL.
fn presigning(seconds: u64) -> PresigningConfig {
    PresigningConfig::expires_in(Duration::from_secs(seconds)).expect("a duration")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_096_wrong_credentials_are_refused_in_xml() {
    let app = app_with_bucket().await;
    let id = development::s3_access_key_id();
    let anon = development::anon_key();
    let expired = app.with_claims(json!({"role": "authenticated", "exp": 1}));
    let cases = [
        (client(&app, &id, "wrong", None), "SignatureDoesNotMatch"),
        (client(&app, "unknown", "x", None), "InvalidAccessKeyId"),
        (
            client(&app, "unknown", &anon, Some(app.user("a").token().into())),
            "InvalidAccessKeyId",
        ),
        (
            client(&app, "stub", "wrong", Some(app.user("a").token().into())),
            "SignatureDoesNotMatch",
        ),
        (
            client(&app, "stub", &anon, Some("garbage".into())),
            "AccessDenied",
        ),
        (
            client(&app, "stub", &anon, Some(expired.token().into())),
            "AccessDenied",
        ),
        (client(&app, "stub", &anon, None), "InvalidAccessKeyId"),
    ];
    for (s3, code) in cases {
        assert_eq!(refusal(s3.list_buckets().send().await), refused(403, code));
    }

    let nothing = app.nobody().get("/s3/b/x?a=<&").await;
    assert_eq!(nothing.status, 403);
    assert_eq!(
        nothing.header("content-type"),
        Some("application/xml; charset=utf-8")
    );
    assert_eq!(
        nothing.text(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Resource>b/x</Resource><Code>AccessDenied</Code>\
         <Message>Missing signature</Message></Error>"
    );
    let bearer = app.service_role().get("/s3/").await;
    assert_eq!(bearer.status, 403, "tokens are for the other routes");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_presigned_urls_allow_only_the_signed_request() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    let put = s3
        .put_object()
        .bucket("b")
        .key("p x")
        .presigned(presigning(60))
        .await
        .expect("signed");
    let http = reqwest::Client::new();

    let stored = http
        .put(put.uri())
        .body("presigned")
        .send()
        .await
        .expect("a response");
    assert_eq!(stored.status(), 200, "{}", stored.text().await.expect("text"));
    let get = s3
        .get_object()
        .bucket("b")
        .key("p x")
        .response_content_type("text/html")
        .response_content_disposition("attachment; filename=\"x.html\"")
        .presigned(presigning(60))
        .await
        .expect("signed");
    let got = http.get(get.uri()).send().await.expect("a response");
    assert_eq!(got.headers()["content-type"], "text/html");
    assert_eq!(
        got.headers()["content-disposition"],
        "attachment; filename=\"x.html\""
    );
    assert_eq!(got.headers()["content-security-policy"], SANDBOX);
    assert_eq!(got.text().await.expect("text"), "presigned");

    // Another method, another key, another parameter, or an unsigned header.
    let status =
        async |request: reqwest::RequestBuilder| request.send().await.expect("a response").status().as_u16();
    assert_eq!(status(http.delete(get.uri())).await, 403);
    assert_eq!(status(http.get(get.uri().replace("p%20x", "other"))).await, 403);
    assert_eq!(status(http.get(format!("{}&partNumber=1", get.uri()))).await, 403);
    assert_eq!(
        status(http.put(put.uri()).header("x-amz-copy-source", "b/p x")).await,
        403
    );
    let old = s3.get_object().bucket("b").key("p x").presigned(
        PresigningConfig::builder()
            .start_time(std::time::SystemTime::now() - Duration::from_secs(120))
            .expires_in(Duration::from_secs(60))
            .build()
            .expect("a duration"),
    );
    let expired = http
        .get(old.await.expect("signed").uri())
        .send()
        .await
        .expect("a response");
    assert_eq!(expired.status(), 400);
    assert!(
        expired
            .text()
            .await
            .expect("text")
            .contains("<Code>ExpiredToken</Code>")
    );

    // A URL that a user has signed is subject to the user's policies.
    let theirs = user(&app, "ana")
        .get_object()
        .bucket("b")
        .key("p x")
        .presigned(presigning(60))
        .await;
    assert_eq!(status(http.get(theirs.expect("signed").uri())).await, 404);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_aws_chunked_uploads_with_trailing_checksums_work() {
    let app = app_with_bucket().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large");
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    std::fs::write(&file, &bytes).expect("written");

    // The SDK sends a file as STREAMING-UNSIGNED-PAYLOAD-TRAILER with a CRC in the trailer.
    let put = service(&app)
        .put_object()
        .bucket("b")
        .key("x")
        .checksum_algorithm(aws_sdk_s3::types::ChecksumAlgorithm::Crc32C)
        .body(ByteStream::from_path(&file).await.expect("readable"))
        .send()
        .await
        .expect("stored");

    assert!(put.e_tag().is_some());
    let got = service(&app)
        .get_object()
        .bucket("b")
        .key("x")
        .send()
        .await
        .expect("read");
    assert_eq!(got.body.collect().await.expect("whole").into_bytes(), bytes);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_headers_of_proxies_do_not_widen_a_presigned_url() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/secret", "salaries").await.ok();
    // The key's name is a user's wish; with S3 keys are opaque.
    let key = "storage/v1/s3/b/secret";
    let signed = service(&app)
        .get_object()
        .bucket("b")
        .key(key)
        .presigned(presigning(60));
    let signed = signed.await.expect("signed");
    let (prefix, query) = signed
        .uri()
        .split_once(&format!("/{key}"))
        .expect("the key is in the path");
    let prefix = prefix.strip_prefix(&app.url("")).expect("our address");

    let stolen = reqwest::Client::new()
        .get(format!("{}{query}", app.url("/s3/b/secret")))
        .header("x-forwarded-prefix", format!("/storage/v1{prefix}"))
        .send()
        .await
        .expect("a response");

    assert_eq!(stolen.status(), 403, "{}", stolen.text().await.expect("text"));
}

/// Signs requests by hand, to send what no SDK sends.
struct Signer {
    date: String,
    key: Vec<u8>,
    host: String,
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any key");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl Signer {
    /// A signer whose clock differs from ours by `skew`.
    fn new(app: &TestApp, skew: TimeDelta) -> Self {
        let date = (Utc::now() + skew).format("%Y%m%dT%H%M%SZ").to_string();
        let secret = format!("AWS4{}", development::s3_secret_access_key());
        let key = [&date[..8], "local", "s3", "aws4_request"]
            .iter()
            .fold(secret.into_bytes(), |key, part| hmac(&key, part));
        let host = app.address.to_string();
        Self { date, key, host }
    }

    fn scope(&self) -> String {
        format!("{}/local/s3/aws4_request", &self.date[..8])
    }

    fn sign(&self, text: &str) -> String {
        hex::encode(hmac(&self.key, text))
    }

    /// The signature of a request, and its Authorization header.
    fn authorize(&self, method: &str, path: &str, hash: &str) -> (String, String) {
        let headers = [
            ("host", self.host.as_str()),
            ("x-amz-content-sha256", hash),
            ("x-amz-date", &self.date),
        ];
        self.authorize_with(method, path, hash, &headers)
    }

    /// Does the same as `authorize`, with the headers that are signed.
    fn authorize_with(
        &self,
        method: &str,
        path: &str,
        hash: &str,
        headers: &[(&str, &str)],
    ) -> (String, String) {
        let lines: String = headers
            .iter()
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let canonical = format!("{method}\n{path}\n\n{lines}\n{names}\n{hash}");
        let text = format!(
            "AWS4-HMAC-SHA256\n{}\n{}\n{}",
            self.date,
            self.scope(),
            sha256(canonical.as_bytes())
        );
        let signature = self.sign(&text);
        let header = format!(
            "AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={names},Signature={signature}",
            development::s3_access_key_id(),
            self.scope()
        );
        (signature, header)
    }

    /// Sends a signed PUT of `b/x`; returns status and error code. `headers` are not signed.
    async fn put(&self, app: &TestApp, hash: &str, headers: &[(&str, &str)], body: Vec<u8>) -> (u16, String) {
        let (_, header) = self.authorize("PUT", "/storage/v1/s3/b/x", hash);
        self.send(app, &header, hash, headers, body).await
    }

    /// Does the same as `put`, with any Authorization header.
    async fn send(
        &self,
        app: &TestApp,
        authorization: &str,
        hash: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (u16, String) {
        let mut request = app
            .nobody()
            .request(Method::PUT, "/s3/b/x")
            .header("authorization", authorization)
            .header("x-amz-content-sha256", hash)
            .header("x-amz-date", &self.date);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await;
        let text = response.text();
        let code = text
            .split("<Code>")
            .nth(1)
            .and_then(|rest| rest.split('<').next());
        (response.status.as_u16(), code.unwrap_or_default().to_owned())
    }

    /// A body in signed chunks, with a signed trailer if one is given.
    fn chunked(&self, seed: &str, chunks: &[&[u8]], trailer: Option<&str>) -> Vec<u8> {
        let (mut body, mut previous) = (Vec::new(), seed.to_owned());
        for chunk in chunks.iter().chain([&b"".as_slice()]) {
            let text = format!(
                "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{previous}\n{}\n{}",
                self.date,
                self.scope(),
                sha256(b""),
                sha256(chunk)
            );
            previous = self.sign(&text);
            body.extend_from_slice(format!("{:x};chunk-signature={previous}\r\n", chunk.len()).as_bytes());
            if !chunk.is_empty() {
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
        }
        if let Some(trailer) = trailer {
            let text = format!(
                "AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{previous}\n{}",
                self.date,
                self.scope(),
                sha256(format!("{trailer}\n").as_bytes())
            );
            let signature = self.sign(&text);
            body.extend_from_slice(
                format!("{trailer}\r\nx-amz-trailer-signature:{signature}\r\n").as_bytes(),
            );
        }
        body.extend_from_slice(b"\r\n");
        body
    }
}

const OK: (u16, &str) = (200, "");

/// Panics unless status and error code are these.
#[track_caller]
fn is(response: (u16, String), expected: (u16, &str)) {
    assert_eq!((response.0, response.1.as_str()), expected);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_signed_chunks_are_verified_one_by_one() {
    let app = app_with_bucket().await;
    let signer = Signer::new(&app, TimeDelta::zero());
    let hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
    let (seed, header) = signer.authorize("PUT", "/storage/v1/s3/b/x", hash);
    let length = ("x-amz-decoded-content-length", "11");
    let body = signer.chunked(&seed, &[b"hello ", b"world"], None);
    let send = async |body: Vec<u8>, length: (&str, &str)| {
        // The length is not among the signed headers here, and must be right nevertheless.
        let (name, value) = length;
        signer.send(&app, &header, hash, &[(name, value)], body).await
    };

    // An unsigned header that begins with x-amz- is refused, as in S3.
    is(send(body.clone(), length).await, (403, "AccessDenied"));
    is(send(body.clone(), ("x-other", "1")).await, OK);
    assert_eq!(app.service_role().get("/object/b/x").await.text(), "hello world");
    app.service_role().delete("/object/b/x").await.ok();

    let text = String::from_utf8(body.clone()).expect("ASCII");
    for tampered in [
        // Changed bytes, sizes and signatures; then a missing signature, a missing size, a line that is too long, and a
        // size beyond 64 bits.
        text.replace("world", "w0rld"),
        text.replace("6;", "5;"),
        text.replace("hello ", "hello!"),
        text.replace("chunk-signature=", "chunk-signature=0"),
        text.replace(";chunk-signature", ";other"),
        "zz\r\n".to_owned(),
        format!("{}\r\n", "1".repeat(2000)),
        "ffffffffffffffffff;chunk-signature=0\r\n".to_owned(),
    ] {
        let (status, _) = send(tampered.clone().into_bytes(), ("x-other", "1")).await;
        assert!(matches!(status, 400 | 403), "{status} {tampered}");
    }
    // The cut lies inside the second chunk.
    let cut = body[..body.len() - 90].to_vec();
    is(send(cut, ("x-other", "1")).await, (400, "IncompleteBody"));
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_trailers_are_required_and_verified() {
    let app = app_with_bucket().await;
    let signer = Signer::new(&app, TimeDelta::zero());
    let hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
    let (seed, header) = signer.authorize("PUT", "/storage/v1/s3/b/x", hash);
    let checksum = |bytes: &[u8]| format!("x-amz-checksum-sha256:{}", STANDARD.encode(Sha256::digest(bytes)));
    let send = async |body: Vec<u8>| signer.send(&app, &header, hash, &[], body).await;

    is(
        send(signer.chunked(&seed, &[b"bytes"], Some(&checksum(b"bytes")))).await,
        OK,
    );
    is(
        send(signer.chunked(&seed, &[b"bytes"], None)).await,
        (400, "MalformedTrailerError"),
    );
    let signed = signer.chunked(&seed, &[b"bytes"], Some("x-amz-checksum-crc32:AAAAAA=="));
    let text = String::from_utf8(signed)
        .expect("ASCII")
        .replace("AAAAAA==", "BBBBBB==");
    is(send(text.into_bytes()).await, (403, "SignatureDoesNotMatch"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_a_body_with_another_hash_is_refused() {
    let app = app_with_bucket().await;
    let signer = Signer::new(&app, TimeDelta::zero());
    let right = sha256(b"bytes");

    is(signer.put(&app, &right, &[], b"bytes".to_vec()).await, OK);
    is(
        signer.put(&app, &right, &[], b"bites".to_vec()).await,
        (400, "XAmzContentSHA256Mismatch"),
    );
    is(
        signer.put(&app, "UNSIGNED-PAYLOAD", &[], b"any".to_vec()).await,
        OK,
    );
    is(
        signer.put(&app, "nonsense", &[], b"any".to_vec()).await,
        (400, "InvalidRequest"),
    );
    // The MD5 of no bytes.
    let md5 = ("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==");
    is(
        signer.put(&app, "UNSIGNED-PAYLOAD", &[md5], b"x".to_vec()).await,
        (400, "BadDigest"),
    );
    is(signer.put(&app, "UNSIGNED-PAYLOAD", &[md5], Vec::new()).await, OK);
    is(
        signer
            .put(&app, "UNSIGNED-PAYLOAD", &[("content-md5", "x")], Vec::new())
            .await,
        (400, "InvalidDigest"),
    );
    for skew in [TimeDelta::minutes(-20), TimeDelta::minutes(20)] {
        let late = Signer::new(&app, skew);
        is(
            late.put(&app, &right, &[], b"bytes".to_vec()).await,
            (403, "RequestTimeTooSkewed"),
        );
    }
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_a_browser_form_uploads_what_its_policy_allows() {
    let app = app_with_bucket().await;
    let signer = Signer::new(&app, TimeDelta::zero());
    let policy = |expiration: &str| {
        let policy = json!({"expiration": expiration, "conditions": [
            {"bucket": "b"}, ["starts-with", "$key", "me/"], {"Content-Type": "image/png"},
            ["content-length-range", 2, 8], ["starts-with", "$x-amz-meta-a", ""],
        ]});
        STANDARD.encode(policy.to_string())
    };
    let send = async |policy: &str, signature: &str, key: &str, bytes: &[u8]| {
        let credential = format!("{}/{}", development::s3_access_key_id(), signer.scope());
        let fields = [
            ("key", key),
            ("Content-Type", "image/png"),
            ("x-amz-meta-a", "1"),
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", &credential),
            ("X-Amz-Date", &signer.date),
            ("Policy", policy),
            ("X-Amz-Signature", signature),
        ];
        let mut parts: Vec<Part<'_>> = fields
            .iter()
            .map(|(name, value)| Part::Field(name, value))
            .collect();
        parts.push(Part::File {
            name: "file",
            content_type: None,
            bytes,
        });
        let response = app
            .nobody()
            .request(Method::POST, "/s3/b")
            .form(&parts)
            .send()
            .await;
        let code = response
            .text()
            .split("<Code>")
            .nth(1)
            .and_then(|rest| rest.split('<').next().map(str::to_owned));
        (response.status.as_u16(), code.unwrap_or_default())
    };
    let good = policy("2999-01-01T00:00:00Z");
    let signature = signer.sign(&good);

    is(send(&good, &signature, "me/${filename}", b"bytes").await, OK);
    let info = app.service_role().get("/object/info/b/me/f").await.ok().json();
    assert_eq!(
        (&info["content_type"], &info["metadata"]),
        (&json!("image/png"), &json!({"a": "1"}))
    );
    is(
        send(&good, &signature, "you/x", b"bytes").await,
        (403, "AccessDenied"),
    );
    is(
        send(&good, &signer.sign("other"), "me/x", b"bytes").await,
        (403, "SignatureDoesNotMatch"),
    );
    is(
        send(&good, &signature, "me/x", b"123456789").await,
        (413, "EntityTooLarge"),
    );
    is(
        send(&good, &signature, "me/x", b"1").await,
        (400, "InvalidRequest"),
    );
    let old = policy("2001-01-01T00:00:00Z");
    is(
        send(&old, &signer.sign(&old), "me/x", b"bytes").await,
        (400, "ExpiredToken"),
    );
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_097_a_signature_without_the_host_is_refused() {
    let app = app_with_bucket().await;
    let signer = Signer::new(&app, TimeDelta::zero());
    let hash = sha256(b"hello");
    let path = "/storage/v1/s3/b/x";
    let headers = [
        ("x-amz-content-sha256", hash.as_str()),
        ("x-amz-date", &signer.date),
    ];
    let (_, without) = signer.authorize_with("PUT", path, &hash, &headers);
    let (_, with) = signer.authorize("PUT", path, &hash);

    let refused = signer.send(&app, &without, &hash, &[], b"hello".to_vec()).await;
    let accepted = signer.send(&app, &with, &hash, &[], b"hello".to_vec()).await;

    is(refused, (403, "AccessDenied"));
    is(accepted, OK);
}
