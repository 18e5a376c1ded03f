//! `kill -9` at random moments while objects are written, replaced, moved and deleted. What was acknowledged is there,
//! byte for byte; what was under way has happened or has not; what is left over is swept.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use selvedge_storage::{StorageConfig, SweepOptions, sweep};
use serde_json::json;
use uuid::Uuid;

use crate::crashes::{Server, token};
use crate::support::{TestApp, serve};

const CLIENTS: usize = 4;
const KILLS: usize = 6;

/// Objects by key: what a client knows, or what it would know.
type Objects = BTreeMap<String, String>;

/// One client: what was acknowledged, and what the operation under way would make of it.
struct Client {
    number: usize,
    known: Objects,
    hoped: Option<Objects>,
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
        let (method, path, body) = match random(5) {
            0 => {
                hoped.remove(&key);
                (Method::DELETE, format!("/object/b/{key}"), String::new())
            }
            1 if self.known.contains_key(&key) && !self.known.contains_key(&other) => {
                let content = hoped.remove(&key)?;
                hoped.insert(other.clone(), content);
                let body = json!({"bucketId": "b", "sourceKey": key, "destinationKey": other});
                (Method::POST, "/object/move".to_owned(), body.to_string())
            }
            _ => {
                // Sometimes small enough for memory, sometimes several visits to the disk.
                let content = format!("{} ", Uuid::new_v4()).repeat(1 + random(20_000) as usize);
                hoped.insert(key.clone(), content.clone());
                (Method::PUT, format!("/object/b/{key}"), content)
            }
        };
        self.hoped = Some(hoped);
        let mut request = http
            .request(method.clone(), format!("http://{address}/storage/v1{path}"))
            .bearer_auth(token());
        if method != Method::DELETE {
            request = request
                .header(
                    "content-type",
                    if method == Method::PUT {
                        "text/plain"
                    } else {
                        "application/json"
                    },
                )
                .body(body);
        }
        let status = request.send().await.ok()?.status();
        let hoped = self.hoped.take();
        if status == StatusCode::OK {
            self.known = hoped?;
        } else {
            assert!(method == Method::DELETE, "{method} {path}: {status}");
        }
        Some(())
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
    let root = tempfile::tempdir().expect("a folder");
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|number| Client {
            number,
            known: Objects::new(),
            hoped: None,
        })
        .collect();

    for _ in 0..KILLS {
        let server = Server::start(&app.database, root.path());
        let address = server.address.clone();
        let killer = async {
            tokio::time::sleep(Duration::from_millis(100 + random(400) as u64)).await;
            drop(server);
        };
        let work = futures_util::future::join_all(clients.iter_mut().map(|client| client.work(&address)));
        futures_util::future::join(killer, work).await;

        let server = Server::start(&app.database, root.path());
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

    let config = StorageConfig {
        root: root.path().to_owned(),
        ..StorageConfig::default()
    };
    let running = serve(|role| app.database.config(role), config).await;
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
