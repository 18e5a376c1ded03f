//! A simple model of a bucket with versions, and a client that sends random operations and knows what they must leave.
//!
//! A key has rows, the newest first; the first one is its current state. A write puts a row before the others. While versioning is off or
//! paused it takes the one slot for content without versioning.

use std::collections::BTreeMap;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::crashes::token;
use crate::support::TestApp;
use crate::tus_client::{OFFSET_STREAM, metadata_in};

/// A version, or a marker without text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// What [`describe_text`] returns for the version's bytes.
    text: Option<String>,
    is_versioned: bool,
}

/// What a bucket must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    status: &'static str,
    keys: BTreeMap<String, Vec<Row>>,
}

impl Model {
    /// The text of the current object.
    fn live(&self, key: &str) -> Option<String> {
        self.text_of(key, None)
    }

    /// The text that a version of a key has, or without a version that of the current object.
    fn text_of(&self, key: &str, index: Option<usize>) -> Option<String> {
        self.rows(key).get(index.unwrap_or(0))?.text.clone()
    }

    fn rows(&self, key: &str) -> &[Row] {
        self.keys.get(key).map_or(&[], Vec::as_slice)
    }

    /// Stores a text, or deletes the key.
    fn write(&mut self, key: &str, text: Option<String>) {
        let is_versioned = self.status == "ENABLED";
        let rows = self.keys.entry(key.to_owned()).or_default();
        if !is_versioned {
            rows.retain(|row| row.is_versioned);
        }
        if text.is_some() || self.status != "DISABLED" {
            rows.insert(0, Row { text, is_versioned });
        }
        self.keys.retain(|_, rows| !rows.is_empty());
    }

    /// Removes one row for good.
    fn remove(&mut self, key: &str, index: usize) {
        self.keys.get_mut(key).expect("it has rows").remove(index);
        self.keys.retain(|_, rows| !rows.is_empty());
    }

    /// How many versions have bytes.
    pub(crate) fn count_blobs(&self) -> usize {
        let rows = self.keys.values().flatten();
        rows.filter(|row| row.text.is_some()).count()
    }
}

/// The word that a text repeats, and its length: the texts are too long to print.
fn describe_text(text: &str) -> String {
    let word = text.split_inclusive(' ').next().unwrap_or_default();
    assert_eq!(word.repeat(text.len() / word.len().max(1)), text, "it is whole");
    format!("{word}in {} bytes", text.len())
}

/// A random number below a bound.
fn random(below: usize) -> usize {
    (Uuid::new_v4().as_u128() % below as u128) as usize
}

/// A client with a bucket of its own, so that nobody else changes what it expects.
pub(crate) struct Player {
    bucket: String,
    pub(crate) model: Model,
    /// What there is if the operation succeeds that runs.
    hoped: Option<Model>,
    http: reqwest::Client,
    /// What was done, for messages.
    log: Vec<String>,
}

impl Player {
    /// Makes the bucket.
    pub(crate) async fn new(app: &TestApp, bucket: &str) -> Self {
        app.service_role()
            .post("/bucket", json!({"name": bucket, "public": false}))
            .await
            .ok();
        let (status, keys) = ("DISABLED", BTreeMap::new());
        Self {
            bucket: bucket.to_owned(),
            model: Model { status, keys },
            hoped: None,
            http: reqwest::Client::new(),
            log: Vec::new(),
        }
    }

    /// Sends operations until the server is killed.
    pub(crate) async fn work(&mut self, address: &str) {
        while self.step(address).await.is_some() {}
    }

    /// Sends one operation and checks whether it is allowed; `None` when the server did not respond.
    pub(crate) async fn step(&mut self, address: &str) -> Option<()> {
        let (key, other) = (format!("k{}", random(3)), format!("k{}", random(3)));
        let versions = self.list_versions(address, &key).await?;
        let index = random(versions.len().max(1));
        let version = versions.get(index).map(String::as_str);
        let operation = Operation::draw(&key, &other, version);
        let mut hoped = self.model.clone();
        let succeeds = operation.apply(&mut hoped, index);
        let mut line = format!("{operation:?}");
        line.truncate(100);
        self.log.push(line);
        self.hoped = Some(hoped);
        let request = operation.request(&self.http, address, &self.bucket);
        let response = request.bearer_auth(token()).send().await.ok()?;
        let (status, body) = (response.status(), response.text().await.ok()?);
        let hoped = self.hoped.take();
        assert_eq!(
            status.is_success(),
            succeeds,
            "{status} {body} after {:#?}",
            self.log
        );
        assert!(!status.is_server_error(), "{body}");
        if succeeds {
            self.model = hoped?;
        }
        Some(())
    }

    /// Checks that the bucket has what is expected; after an operation without an answer, that it happened completely or not at all.
    pub(crate) async fn settle(&mut self, address: &str) {
        let found = self.read(address).await;
        if let Some(hoped) = self.hoped.take()
            && (&found.0, &found.1) == (&hoped.keys, &hoped.status)
        {
            self.model = hoped;
        }
        let expected = (self.model.keys.clone(), self.model.status);
        assert_eq!(found, expected, "after {:#?}", self.log);
    }

    /// The ids of a key's versions and markers, the newest first.
    async fn list_versions(&self, address: &str, key: &str) -> Option<Vec<String>> {
        let body = json!({"prefix": key, "exactMatch": true, "noncurrentVersions": "include", "deleteMarkers": "include"});
        let rows = self.list(address, body).await?;
        let id = |row: &Value| row["version"].as_str().expect("an id").to_owned();
        Some(rows.iter().map(id).collect())
    }

    async fn list(&self, address: &str, body: Value) -> Option<Vec<Value>> {
        let url = format!("http://{address}/storage/v1/object/list-v2/{}", self.bucket);
        let request = self.http.post(url).bearer_auth(token()).json(&body);
        let answer: Value = request.send().await.ok()?.json().await.ok()?;
        Some(answer["objects"].as_array().expect("a list").clone())
    }

    /// Everything in the bucket, with the bytes of each version, and its status.
    async fn read(&self, address: &str) -> (BTreeMap<String, Vec<Row>>, &'static str) {
        let body = json!({"noncurrentVersions": "include", "deleteMarkers": "include"});
        let rows = self.list(address, body).await.expect("a list");
        let get = async |path: String| {
            let url = format!("http://{address}/storage/v1/{path}");
            let response = self
                .http
                .get(url)
                .bearer_auth(token())
                .send()
                .await
                .expect("an answer");
            (response.status(), response.text().await.expect("text"))
        };
        let mut keys: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in &rows {
            let (key, version) = (row["name"].as_str().expect("a key"), row["version"].as_str());
            let path = format!(
                "object/{}/{key}?versionId={}",
                self.bucket,
                version.expect("an id")
            );
            let (status, text) = get(path).await;
            let is_marker = row["is_delete_marker"] == true;
            assert_eq!(status.is_success(), !is_marker, "{text} after {:#?}", self.log);
            let rows = keys.entry(key.to_owned()).or_default();
            assert_eq!(
                row["archived_at"].is_null(),
                rows.is_empty(),
                "after {:#?}",
                self.log
            );
            rows.push(Row {
                text: (!is_marker).then(|| describe_text(&text)),
                is_versioned: row["is_versioned"] == true,
            });
        }
        let (_, bucket) = get(format!("bucket/{}", self.bucket)).await;
        let statuses = ["DISABLED", "ENABLED", "SUSPENDED"];
        let status = statuses.into_iter().find(|status| bucket.contains(status));
        (keys, status.expect("a status"))
    }
}

/// What a client asks for.
#[derive(Debug)]
enum Operation<'o> {
    /// `PUT`, which replaces, or `POST`, which does not.
    Store(&'o str, Method, String),
    StoreResumably(&'o str, String),
    Delete(&'o str),
    DeleteInBulk(&'o str),
    DeleteVersion(&'o str, &'o str),
    /// A copy that replaces, of a version or of the current object.
    Copy(&'o str, Option<&'o str>, &'o str),
    Move(&'o str, Option<&'o str>, &'o str),
    /// Enables versioning, or pauses it where it is enabled.
    Switch(&'static str),
}

impl<'o> Operation<'o> {
    fn draw(key: &'o str, other: &'o str, version: Option<&'o str>) -> Self {
        // Uploads of both kinds, kept in memory and streamed to a file.
        let text = || format!("{} ", Uuid::new_v4()).repeat(1 + random(3) * random(3_000));
        match (random(14), version) {
            (0, _) => Self::Delete(key),
            (1, _) => Self::DeleteInBulk(key),
            (2 | 3, Some(version)) => Self::DeleteVersion(key, version),
            (4, _) => Self::Copy(key, None, other),
            (5, Some(_)) => Self::Copy(key, version, other),
            (6, _) => Self::Move(key, None, other),
            (7, Some(_)) if key != other => Self::Move(key, version, other),
            (8, _) => Self::StoreResumably(key, text()),
            (9, _) => Self::Switch(if random(2) == 0 { "ENABLED" } else { "SUSPENDED" }),
            (10, _) => Self::Store(key, Method::POST, text()),
            _ => Self::Store(key, Method::PUT, text()),
        }
    }

    /// Does it in the model; false when it must be refused. `index` is the row of the version.
    fn apply(&self, model: &mut Model, index: usize) -> bool {
        match self {
            Self::Store(key, method, _) if *method == Method::POST && model.live(key).is_some() => {
                return false;
            }
            Self::Store(key, _, text) | Self::StoreResumably(key, text) => {
                model.write(key, Some(describe_text(text)))
            }
            Self::Delete(key) if model.live(key).is_none() => return false,
            // A key that is deleted needs no second marker.
            Self::DeleteInBulk(key) if model.live(key).is_none() && !model.rows(key).is_empty() => {}
            Self::Delete(key) | Self::DeleteInBulk(key) => model.write(key, None),
            Self::DeleteVersion(key, _) => model.remove(key, index),
            Self::Copy(key, version, other) => match model.text_of(key, version.map(|_| index)) {
                Some(text) => model.write(other, Some(text)),
                None => return false,
            },
            Self::Move(key, version, other) => {
                let Some(text) = model.text_of(key, version.map(|_| index)) else {
                    return false;
                };
                if key == other {
                    return true;
                }
                if model.live(other).is_some() {
                    return false;
                }
                match version {
                    Some(_) => model.remove(key, index),
                    None => model.write(key, None),
                }
                model.write(other, Some(text));
            }
            Self::Switch(status) if *status == "SUSPENDED" && model.status == "DISABLED" => return false,
            Self::Switch(status) => model.status = *status,
        }
        true
    }

    fn request(&self, http: &reqwest::Client, address: &str, bucket: &str) -> RequestBuilder {
        let url = |path: &str| format!("http://{address}/storage/v1{path}");
        let relocate = |action: &str, key: &str, version: Option<&str>, other: &str| {
            let body = json!({"bucketId": bucket, "sourceKey": key, "destinationKey": other, "sourceVersionId": version});
            let request = http.post(url(&format!("/object/{action}")));
            request.header("x-upsert", "true").json(&body)
        };
        let object = |key: &str| url(&format!("/object/{bucket}/{key}"));
        match self {
            Self::Store(key, method, text) => {
                let request = http.request(method.clone(), object(key));
                request.header("content-type", "text/plain").body(text.clone())
            }
            Self::StoreResumably(key, text) => http
                .post(url("/upload/resumable"))
                .header("tus-resumable", "1.0.0")
                .header("x-upsert", "true")
                .header("content-type", OFFSET_STREAM)
                .header("upload-length", text.len())
                .header("upload-metadata", metadata_in(bucket, key))
                .body(text.clone()),
            Self::Delete(key) => http.delete(object(key)),
            Self::DeleteInBulk(key) => {
                let request = http.delete(url(&format!("/object/{bucket}")));
                request.json(&json!({ "prefixes": [key] }))
            }
            Self::DeleteVersion(key, version) => http.delete(format!("{}?versionId={version}", object(key))),
            Self::Copy(key, version, other) => relocate("copy", key, *version, other),
            Self::Move(key, version, other) => relocate("move", key, *version, other),
            Self::Switch(status) => {
                let request = http.put(url(&format!("/bucket/{bucket}")));
                request.json(&json!({ "versioning_status": status }))
            }
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_203_207_210_random_operations_leave_what_a_simple_model_says() {
    let app = TestApp::start().await;
    let address = app.address.to_string();
    let mut player = Player::new(&app, "b").await;
    // Each operation on an S3 server takes several requests; the rows are written by the same SQL.
    let rounds = if app.store.s3_backend.is_some() { 60 } else { 400 };

    for round in 0..rounds {
        player.step(&address).await.expect("an answer");
        if round % 10 == 9 {
            player.settle(&address).await;
        }
    }
    app.settle(player.model.count_blobs()).await;
}
