//! A real S3 server, shared by all tests of a binary: s3s-fs on a free port, with a bucket per test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use selvedge_storage::S3BackendConfig;
use uuid::Uuid;

const ACCESS_KEY: &str = "test-access-key";
const SECRET: &str = "test-secret";

/// The server and its folder, which contains one folder per bucket.
struct Server {
    address: SocketAddr,
    root: tempfile::TempDir,
}

static SERVER: OnceLock<Server> = OnceLock::new();

/// Creates a bucket; returns its folder and the settings of a backend for it.
pub(crate) fn bucket(spool: &Path) -> (PathBuf, S3BackendConfig) {
    let server = SERVER.get_or_init(start);
    let name = format!("test-{}", Uuid::new_v4().simple());
    let folder = server.root.path().join(&name);
    std::fs::create_dir(&folder).expect("a new bucket");
    let endpoint = format!("http://{}", server.address);
    (folder, config(name, endpoint, spool))
}

/// Settings of a backend for a bucket of a server in another process.
pub(crate) fn config(bucket: String, endpoint: String, spool: &Path) -> S3BackendConfig {
    S3BackendConfig {
        bucket,
        prefix: "selvedge/".to_owned(),
        endpoint: Some(endpoint),
        region: "us-east-1".to_owned(),
        access_key_id: ACCESS_KEY.to_owned(),
        secret_access_key: SECRET.to_owned(),
        session_token: None,
        path_style: true,
        attempts: 3,
        spool: spool.to_owned(),
        // Short, so that tests see the removal; long enough for a reader to send its second request.
        removal_delay: Duration::from_millis(1500),
    }
}

/// Starts the server on a separate thread, because the runtime of a test ends with the test.
fn start() -> Server {
    let root = tempfile::tempdir().expect("a temporary folder");
    let mut builder = S3ServiceBuilder::new(FileSystem::new(root.path()).expect("a good root"));
    builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET));
    let service = builder.build();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
                .await
                .expect("a free port");
            sender
                .send(listener.local_addr().expect("bound"))
                .expect("the test waits");
            loop {
                let (socket, _) = listener.accept().await.expect("it accepts");
                let service = service.clone();
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    // A client may close its connection at any time.
                    let _ = server.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
    });
    Server {
        address: receiver.recv().expect("it starts"),
        root,
    }
}
