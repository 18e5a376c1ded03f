//! Kills the server by SIGKILL at random moments while objects are uploaded (in one request or resumably), replaced, moved,
//! copied and deleted. Acknowledged writes must be complete, an interrupted operation must have happened completely or not
//! at all, and a sweep must remove the leftovers.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use selvedge_storage::{SweepOptions, sweep};
use serde_json::json;
use uuid::Uuid;

use crate::crashes::{Server, token};
use crate::support::{TestApp, serve};
use crate::tus_client::metadata;

/// Clients that work at the same time, each with its own keys, so that the expected objects are known.
const CLIENTS: usize = 4;
/// How often the server is killed and started again.
const KILLS: usize = 6;

/// Contents of objects by key.
type Objects = BTreeMap<String, String>;

/// One client: the objects that were acknowledged, and those there would be if the running operation succeeds.
struct Client {
    number: usize,
    known: Objects,
    hoped: Option<Objects>,
    /// The path of a resumable upload whose last request was not answered.
    pending: Option<String>,
}

/// A random number below a bound.
fn random(below: u128) -> u128 {
    Uuid::new_v4().as_u128() % below
}

impl Client {
    /// Sends operations until the server is killed.
    async fn work(&mut self, address: &str) {
        let http = reqwest::Client::new();
        while self.step(&http, address).await.is_some() {}
    }

    /// Sends one operation; `None` when the server did not respond.
    async fn step(&mut self, http: &reqwest::Client, address: &str) -> Option<()> {
        let key = format!("{}-{}", self.number, random(4));
        let other = format!("{}-{}", self.number, random(4));
        let mut hoped = self.known.clone();
        let url = |path: &str| format!("http://{address}/storage/v1{path}");
        let both = json!({"bucketId": "b", "sourceKey": key, "destinationKey": other}).to_string();
        let (known, taken) = (self.known.get(&key), self.known.contains_key(&other));
        // Sizes on both sides of the in-memory limit: buffered and streamed uploads are both killed.
        let content = format!("{} ", Uuid::new_v4()).repeat(1 + random(20_000) as usize);
        let request = match (random(7), known) {
            (0, _) => {
                hoped.remove(&key);
                http.delete(url(&format!("/object/b/{key}")))
            }
            (1, Some(content)) if !taken => {
                hoped.insert(other, content.clone());
                hoped.remove(&key);
                http.post(url("/object/move"))
                    .header("content-type", "application/json")
                    .body(both)
            }
            (2, Some(content)) => {
                hoped.insert(other, content.clone());
                http.post(url("/object/copy"))
                    .header("x-upsert", "true")
                    .header("content-type", "application/json")
                    .body(both)
            }
            (3, _) => {
                hoped.insert(key.clone(), content.clone());
                let (first, rest) = content.as_bytes().split_at(content.len() / 2);
                let begun = tus(http.post(url("/upload/resumable")))
                    .bearer_auth(token())
                    .header("upload-length", content.len())
                    .header("upload-metadata", metadata(&key))
                    .body(first.to_vec());
                let created = begun.send().await.ok()?;
                assert_eq!(created.status(), 201, "{key}");
                let location = created.headers()["location"].to_str().expect("text");
                let (_, path) = location.split_once("/storage/v1").expect("the prefix");
                self.pending = Some(path.to_owned());
                tus(http.patch(url(path)))
                    .header("upload-offset", first.len())
                    .body(rest.to_vec())
            }
            _ => {
                hoped.insert(key.clone(), content.clone());
                http.put(url(&format!("/object/b/{key}")))
                    .header("content-type", "text/plain")
                    .body(content)
            }
        };
        self.hoped = Some(hoped);
        let response = request.bearer_auth(token()).send().await.ok()?;
        let hoped = self.hoped.take();
        self.pending = None;
        if response.status().is_success() {
            self.known = hoped?;
        } else {
            // Deleting an object that does not exist.
            assert_eq!(response.status(), 400);
            assert!(!self.known.contains_key(&key), "{key}");
        }
        Some(())
    }

    /// Resumes an interrupted upload as clients do: HEAD finishes it if all bytes had arrived. Otherwise DELETE ends
    /// it.
    async fn resume(&mut self, address: &str) {
        let Some(path) = self.pending.take() else { return };
        for method in [Method::HEAD, Method::DELETE] {
            let request =
                reqwest::Client::new().request(method, format!("http://{address}/storage/v1{path}"));
            let response = tus(request)
                .bearer_auth(token())
                .send()
                .await
                .expect("a response");
            assert!(response.status().as_u16() < 500, "{}", response.status());
        }
    }

    /// Takes over the objects that were found, which must be those before or after the interrupted operation.
    fn settle(&mut self, found: &Objects) {
        let own: Objects = found
            .iter()
            .filter(|(key, _)| key.starts_with(&format!("{}-", self.number)))
            .map(|(key, content)| (key.clone(), content.clone()))
            .collect();
        let is_possible = own == self.known || self.hoped.as_ref() == Some(&own);
        assert!(
            is_possible,
            "client {} found {:?}, knew {:?}, hoped for {:?}",
            self.number,
            lengths(&own),
            lengths(&self.known),
            self.hoped.as_ref().map(lengths)
        );
        self.known = own;
        self.hoped = None;
    }
}

/// A request with bytes of a resumable upload that may replace an object.
fn tus(request: RequestBuilder) -> RequestBuilder {
    request
        .header("tus-resumable", "1.0.0")
        .header("x-upsert", "true")
        .header("content-type", "application/offset+octet-stream")
}

/// Keys and sizes, for messages: the contents are too long to print.
fn lengths(objects: &Objects) -> Vec<(&str, usize)> {
    objects
        .iter()
        .map(|(key, content)| (key.as_str(), content.len()))
        .collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_no_acknowledged_write_is_lost_by_kill_9() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|number| Client {
            number,
            known: Objects::new(),
            hoped: None,
            pending: None,
        })
        .collect();

    for _ in 0..KILLS {
        let server = Server::start(&app.database, &app.store);
        let address = server.address.clone();
        let killer = async {
            // A random moment, so that over many runs each step of each operation is interrupted.
            tokio::time::sleep(Duration::from_millis(100 + random(400) as u64)).await;
            drop(server);
        };
        let work = futures_util::future::join_all(clients.iter_mut().map(|client| client.work(&address)));
        futures_util::future::join(killer, work).await;

        let server = Server::start(&app.database, &app.store);
        for client in &mut clients {
            client.resume(&server.address).await;
        }
        // Every row must have a blob of the size in the row.
        let superuser = app.database.superuser().await;
        let mut found = Objects::new();
        for row in superuser
            .query("select name, metadata ->> 'size' from storage.objects", &[])
            .await
            .expect("rows")
        {
            let (key, size): (String, String) = (row.get(0), row.get(1));
            let (status, content) = server.request(Method::GET, &format!("/object/b/{key}"), "").await;
            assert_eq!(
                (status, content.len().to_string()),
                (200, size),
                "{key} has its blob"
            );
            found.insert(key, content);
        }
        for client in &mut clients {
            client.settle(&found);
        }
    }

    // An unfinished resumable upload keeps its blobs on purpose; remove the rows so that the sweep may remove the
    // blobs.
    app.sql("delete from storage.resumable_uploads").await;
    let running = serve(|role| app.database.config(role), app.store.config()).await;
    let at_once = SweepOptions {
        older_than: Duration::ZERO,
        remove_many: true,
        ..SweepOptions::default()
    };
    sweep(&running.storage, &at_once)
        .await
        .expect("swept")
        .expect("alone");
    let clean = sweep(&running.storage, &at_once)
        .await
        .expect("swept")
        .expect("alone");
    let objects: usize = clients.iter().map(|client| client.known.len()).sum();
    assert_eq!((clean.orphans, clean.lost, clean.unfinished), (0, 0, 0));
    assert_eq!(clean.blobs, objects as u64, "one blob for each object");
}
