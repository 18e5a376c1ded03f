//! The server process is killed, or its disk is full, while bytes arrive; then it is started again.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use selvedge_storage::StorageConfig;
use selvedge_testing::TestDatabase;

use crate::support::{JWT_SECRET, Store, TestApp, serve};

/// How [`run_server_for_crash_tests`] is told what to serve.
const DATABASE: &str = "STORAGE_TEST_DATABASE";
/// Root folder of the store.
const ROOT: &str = "STORAGE_TEST_ROOT";
/// Endpoint and bucket of the S3 server, which keeps running.
const S3: &str = "STORAGE_TEST_S3";

/// Not a test on its own: the process that [`store_081_killing_the_server_during_an_overwrite_keeps_the_old_object`]
/// starts and kills.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn run_server_for_crash_tests() {
    let (Ok(database), Ok(root)) = (std::env::var(DATABASE), std::env::var(ROOT)) else {
        return;
    };
    let root = PathBuf::from(root);
    let s3_backend = std::env::var(S3).ok().map(|address| {
        let (endpoint, bucket) = address.split_once(' ').expect("two words");
        crate::s3_server::config(bucket.to_owned(), endpoint.to_owned(), &root.join("incoming"))
    });
    let config = StorageConfig {
        root,
        s3_backend,
        ..StorageConfig::default()
    };
    let login = |role: &str| {
        database
            .replace("ROLE", role)
            .parse()
            .expect("a connection string")
    };
    let running = serve(login, config).await;
    println!("\nlistening on {}", running.address);
    std::future::pending::<()>().await;
}

/// A server in a separate process, which is killed when this is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts this test binary again as a server for an existing database and store.
    pub(crate) fn start(database: &TestDatabase, store: &Store) -> Self {
        Self::spawn(
            Command::new(std::env::current_exe().expect("this test binary")),
            database,
            store,
        )
    }

    /// A server whose files may not grow beyond one or two megabytes, which a writer sees as a full disk.
    pub(crate) fn start_on_full_disk(database: &TestDatabase, store: &Store) -> Self {
        let mut shell = Command::new("sh");
        shell
            // `ulimit -f` counts blocks of 512 or 1024 bytes, depending on the shell. Ignoring SIGXFSZ turns the signal
            // into a failed write.
            .args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().expect("this test binary"));
        Self::spawn(shell, database, store)
    }

    fn spawn(mut command: Command, database: &TestDatabase, store: &Store) -> Self {
        if let Some(s3) = &store.s3_backend {
            let endpoint = s3.endpoint.as_deref().expect("it has an address");
            command.env(S3, format!("{endpoint} {}", s3.bucket));
        }
        let mut process = command
            // The test binary runs only the function that serves. `--nocapture` lets it print its address immediately.
            .args(["--exact", "crashes::run_server_for_crash_tests", "--nocapture"])
            .env(DATABASE, database.url("ROLE"))
            .env(ROOT, store.root.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let address = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("it listens");
        Self { process, address }
    }

    pub(crate) async fn request(&self, method: reqwest::Method, path: &str, body: &str) -> (u16, String) {
        let response = reqwest::Client::new()
            .request(method, format!("http://{}/storage/v1{path}", self.address))
            .bearer_auth(token())
            .header("content-type", "text/plain")
            .body(body.to_owned())
            .send()
            .await
            .expect("a response");
        (response.status().as_u16(), response.text().await.expect("text"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL: nothing in the process can clean up.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A token of the service role, which bypasses all policies.
pub(crate) fn token() -> String {
    let keys = selvedge_token::KeyRing::new(JWT_SECRET.as_bytes(), &[]).expect("a good secret");
    keys.sign_hs256(&serde_json::json!({"role": "service_role"}))
        .expect("the secret signs")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_killing_the_server_during_an_overwrite_keeps_the_old_object() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let store = &app.store;
    let server = Server::start(&app.database, store);
    assert_eq!(
        server
            .request(reqwest::Method::POST, "/object/b/old", "old")
            .await
            .0,
        200
    );

    for key in ["old", "new"] {
        let server = Server::start(&app.database, store);
        let mut socket = TcpStream::connect(&server.address).expect("it listens");
        let head = format!(
            "PUT /storage/v1/object/b/{key} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 9000000\r\n\r\n",
            token()
        );
        socket.write_all(head.as_bytes()).expect("it reads");
        socket.write_all(&vec![b'x'; 700_000]).expect("it reads");
        // The server must be killed after the first bytes are on disk and before the upload ends.
        for _ in 0..6000 {
            if store.unfinished() > 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(store.unfinished(), 1, "the upload is under way");
        drop(server);
    }

    let server = Server::start(&app.database, store);
    assert_eq!(
        server.request(reqwest::Method::GET, "/object/b/old", "").await,
        (200, "old".to_owned())
    );
    assert_eq!(
        server.request(reqwest::Method::GET, "/object/b/new", "").await.0,
        400
    );
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    assert_eq!(store.blobs(), 1, "only the blob of the old object is left");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_086_a_full_disk_is_reported_and_keeps_existing_objects() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let store = &app.store;
    let server = Server::start_on_full_disk(&app.database, store);
    let put = async |body: &str| server.request(reqwest::Method::PUT, "/object/b/x", body).await;
    assert_eq!(put("old").await.0, 200);

    for _ in 0..3 {
        let (status, response) = put(&"x".repeat(4_000_000)).await;
        assert_eq!(status, 507, "{response}");
        assert!(response.contains("\"InsufficientStorage\""), "{response}");
    }

    assert_eq!(store.unfinished(), 0, "nothing half-written");
    assert_eq!(
        server.request(reqwest::Method::GET, "/object/b/x", "").await,
        (200, "old".to_owned())
    );
    assert_eq!(put("new").await.0, 200, "the service goes on");
}
