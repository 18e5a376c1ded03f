//! Generated pictures with a real PostgreSQL, a real HTTP generator, and the callback routes as the server mounts them.

mod callback;
mod endpoint;
mod http_generator;
mod memory_store;
mod preview;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use selvedge_generator::{EndpointConfig, Generator, GeneratorConfig, run_generator_forever};
use selvedge_http_client::WebhookKey;
use selvedge_postgres::{Database, Logins, TableName};
use selvedge_testing::TestDatabase;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::memory_store::{MemoryStore, png};

/// Longer than anything takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The key that signs requests, as it is written after `v1,whsec_`.
pub(crate) const SECRET: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A project with a table of jobs.
pub(crate) struct Project {
    database: TestDatabase,
    pub(crate) client: Client,
    pub(crate) store: Arc<MemoryStore>,
}

impl Project {
    pub(crate) async fn create() -> Self {
        let database = TestDatabase::create().await;
        let client = database.superuser().await;
        client
            .batch_execute(include_str!("table.sql"))
            .await
            .expect("the table");
        let store = Arc::new(MemoryStore::default());
        store.insert("photos/ana/1.png", png(600, 900, [200, 20, 20]));
        store.insert("items/shirt.png", png(400, 400, [20, 20, 200]));
        store.insert("items/shoes.png", png(400, 300, [20, 160, 20]));
        Self {
            database,
            client,
            store,
        }
    }

    /// A generator that calls `url`, or the built-in one, with limits that suit a test.
    pub(crate) async fn generator(&self, url: Option<&str>) -> Arc<Generator> {
        let login = |role| self.database.config(role);
        let logins = Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        );
        let database = Database::connect(logins).await.expect("the login works");
        let config = GeneratorConfig {
            table: TableName::parse("public.pictures").expect("a table"),
            endpoint: url.map(|url| EndpointConfig {
                url: url.to_owned(),
                keys: vec![WebhookKey::decode(SECRET).expect("a key")],
                calls_private: true,
            }),
            public_url: "http://selvedge.test".to_owned(),
            parallel: 4,
            attempt_timeout: Duration::from_secs(30),
            result_timeout: Duration::from_secs(600),
            retry_pause: Duration::from_millis(50),
            max_picture_bytes: 1 << 20,
        };
        Generator::new(config, database, self.store.clone())
    }

    /// Starts the workers of one node.
    pub(crate) fn start_workers(generator: &Arc<Generator>) -> JoinHandle<()> {
        tokio::spawn(run_generator_forever(Arc::clone(generator)))
    }

    pub(crate) async fn add_job(&self, input: &Value) -> Uuid {
        let row = self
            .client
            .query_one(
                "insert into public.pictures (input, result_bucket, result_folder) \
                 values ($1, 'private', 'ana/generated') returning id",
                &[input],
            )
            .await
            .expect("a job");
        self.client
            .batch_execute("notify selvedge_generator")
            .await
            .expect("notified");
        row.get(0)
    }

    /// Adds a job with a photo and two items.
    pub(crate) async fn add_usual_job(&self) -> Uuid {
        self.add_job(&usual_input()).await
    }

    /// Waits until a job has this status, and returns its row.
    pub(crate) async fn wait_for(&self, id: Uuid, status: &str) -> Value {
        let wait = async {
            loop {
                let row = self.row(id).await;
                if row["status"] == status {
                    return row;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        match tokio::time::timeout(DEADLINE, wait).await {
            Ok(row) => row,
            Err(_) => panic!("not {status}: {}", self.row(id).await),
        }
    }

    pub(crate) async fn row(&self, id: Uuid) -> Value {
        let row = self
            .client
            .query_one(
                "select to_jsonb(p) from public.pictures as p where id = $1",
                &[&id],
            )
            .await
            .expect("the job");
        row.get(0)
    }
}

pub(crate) fn usual_input() -> Value {
    json!({
        "details": { "title": "Harbour walk" },
        "sources": [
            { "role": "person", "bucket": "photos", "name": "ana/1.png" },
            { "role": "item", "bucket": "items", "name": "shirt.png", "label": "Shirt" },
            { "role": "item", "bucket": "items", "name": "shoes.png", "label": "Shoes" },
        ],
    })
}

/// A picture as a generator delivers it.
pub(crate) fn delivered_picture() -> Bytes {
    png(300, 400, [90, 90, 90])
}
