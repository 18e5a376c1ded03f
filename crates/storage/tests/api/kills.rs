//! `kill -9` at random moments while objects are written (at once or in pieces), replaced, moved, copied and deleted. What was acknowledged is there,
//! byte for byte; what was under way has happened or has not; what is left over is swept.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use selvedge_storage::{SweepOptions, sweep};
use serde_json::json;
use uuid::Uuid;

use crate::crashes::{Server, token};
use crate::support::{TestApp, serve};
use crate::tus_client::metadata;

const CLIENTS: usize = 4;
const KILLS: usize = 6;

/// Objects by key: what a client knows, or what it would know.
type Objects = BTreeMap<String, String>;

/// One client: what was acknowledged, and what the operation under way would make of it.
struct Client {
    number: usize,
    known: Objects,
    hoped: Option<Objects>,
    /// The path of a resumable upload that may have come to its end.
    pending: Option<String>,
}

fn random(below: u128) -> u128 {
    Uuid::new_v4().as_u128() % below
}

impl Client {
    /// Works until the server is gone.
    async fn work(&mut self, address: &str) {
        let http = reqwest::Client::new();
        while self.step(&http, address).await.is_some() {}
    }

    /// One operation; none when the server did not answer.
    async fn step(&mut self, http: &reqwest::Client, address: &str) -> Option<()> {
        let key = format!("{}-{}", self.number, random(4));
        let other = format!("{}-{}", self.number, random(4));
        let mut hoped = self.known.clone();
        let url = |path: &str| format!("http://{address}/storage/v1{path}");
        let both = json!({"bucketId": "b", "sourceKey": key, "destinationKey": other}).to_string();
        let (known, taken) = (self.known.get(&key), self.known.contains_key(&other));
        // Sometimes small enough for memory, sometimes several visits to the disk.
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
        let answer = request.bearer_auth(token()).send().await.ok()?;
        let hoped = self.hoped.take();
        self.pending = None;
        if answer.status().is_success() {
            self.known = hoped?;
        } else {
            // There was nothing to delete.
            assert_eq!(answer.status(), 400);
            assert!(!self.known.contains_key(&key), "{key}");
        }
        Some(())
    }

    /// Asks for an upload that was under way, as clients do: that ends it if all bytes had come. Gives it up otherwise.
    async fn resume(&mut self, address: &str) {
        let Some(path) = self.pending.take() else { return };
        for method in [Method::HEAD, Method::DELETE] {
            let request =
                reqwest::Client::new().request(method, format!("http://{address}/storage/v1{path}"));
            let answer = tus(request).bearer_auth(token()).send().await.expect("an answer");
            assert!(answer.status().as_u16() < 500, "{}", answer.status());
        }
    }

    /// Adopts what is there, if it is one of the two that may be.
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

/// A request that carries bytes of a resumable upload which may replace an object.
fn tus(request: RequestBuilder) -> RequestBuilder {
    request
        .header("tus-resumable", "1.0.0")
        .header("x-upsert", "true")
        .header("content-type", "application/offset+octet-stream")
}

fn lengths(objects: &Objects) -> Vec<(&str, usize)> {
    objects
        .iter()
        .map(|(key, content)| (key.as_str(), content.len()))
        .collect()
}

#[actix_web::test]
async fn store_081_nothing_acknowledged_is_lost_at_any_moment() {
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
            tokio::time::sleep(Duration::from_millis(100 + random(400) as u64)).await;
            drop(server);
        };
        let work = futures_util::future::join_all(clients.iter_mut().map(|client| client.work(&address)));
        futures_util::future::join(killer, work).await;

        let server = Server::start(&app.database, &app.store);
        for client in &mut clients {
            client.resume(&server.address).await;
        }
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

    // Whoever began in pieces could go on; here nobody will.
    app.sql("delete from storage.resumable_uploads").await;
    let running = serve(|role| app.database.config(role), app.store.config()).await;
    let at_once = SweepOptions {
        older_than: Duration::ZERO,
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
