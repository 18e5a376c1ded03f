//! The service without a gateway, as `selvedge rest` runs it: on a login of the test's own, and over a proxy that can cut
//! its connections to PostgreSQL.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix_web::App;
use selvedge_gateway::ServerBuilder;
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::{Admin, MainSocket, RestConfig, SchemaCache, configure_admin};
use selvedge_testing::{PASSWORD, TestDatabase};
use selvedge_token::KeyRing;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::support::{Client, TestResponse};

/// Time limit for what a test waits for; it is reached only when the test fails.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// How long a request's head may take. Some tests wait for its end; the others must not reach it on a busy machine.
const HEAD_TIMEOUT: Duration = Duration::from_secs(3);

/// `jwt-secret` of the service.
pub(crate) const SECRET: &str = "a-secret-of-the-operator-with-32-characters";

/// A TCP proxy in front of PostgreSQL. It can cut all connections and refuse new ones.
pub(crate) struct DatabaseProxy {
    port: u16,
    open: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl DatabaseProxy {
    async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let open = Arc::new(AtomicBool::new(true));
        let connections = Arc::<Mutex<Vec<JoinHandle<()>>>>::default();
        let (is_open, list) = (Arc::clone(&open), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if !is_open.load(Ordering::SeqCst) {
                    continue; // dropping the connection resets it
                }
                let socket = socket.clone();
                let forward = tokio::spawn(async move {
                    if let Ok(mut server) = UnixStream::connect(&socket).await {
                        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    }
                });
                list.lock().expect("not poisoned").push(forward);
            }
        });
        Self {
            port,
            open,
            connections,
        }
    }

    /// Cuts all connections, and resets new ones from now on.
    pub(crate) fn cut_connections(&self) {
        self.open.store(false, Ordering::SeqCst);
        for connection in self.connections.lock().expect("not poisoned").drain(..) {
            connection.abort();
        }
    }

    /// Accepts connections again.
    pub(crate) fn accept_connections(&self) {
        self.open.store(true, Ordering::SeqCst);
    }
}

/// A running service with its database.
pub(crate) struct StandaloneApp {
    pub(crate) database: TestDatabase,
    pub(crate) cache: Arc<SchemaCache>,
    pub(crate) proxy: DatabaseProxy,
    /// The service's login. It is used by no other test, because roles and their settings belong to the whole cluster.
    pub(crate) login: String,
    url: String,
    admin_url: String,
}

/// How a [`StandaloneApp`] starts.
pub(crate) struct Start {
    pub(crate) config: RestConfig,
    pub(crate) pool: RequestPoolConfig,
    /// SQL that the superuser runs first; `$login` is the login's name.
    pub(crate) schema: String,
    /// Whether the proxy accepts connections from the start.
    pub(crate) reachable: bool,
}

impl Start {
    /// Anonymous requests run as `anon`; tokens are signed with [`SECRET`].
    pub(crate) fn on(schema: &str) -> Self {
        Self {
            config: RestConfig {
                anon_role: Some("anon".to_owned()),
                jwt_secret: Some(SECRET.into()),
                ..RestConfig::standalone()
            },
            pool: RequestPoolConfig::default(),
            schema: schema.to_owned(),
            reachable: true,
        }
    }

    pub(crate) async fn run(self) -> StandaloneApp {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let login = format!("alone_{}", COUNTER.fetch_add(1, Ordering::Relaxed));
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        let role = format!(
            "create role {login} login noinherit password '{PASSWORD}'; grant anon, authenticated, service_role to {login};"
        );
        superuser.batch_execute(&role).await.expect("a role");
        superuser
            .batch_execute(&self.schema.replace("$login", &login))
            .await
            .expect("the test's schema is valid");

        let direct = database.config(&login);
        let Some(Host::Unix(folder)) = direct.get_hosts().first() else {
            panic!("a socket")
        };
        let proxy = DatabaseProxy::start(folder.join(format!(".s.PGSQL.{}", direct.get_ports()[0]))).await;
        if !self.reachable {
            proxy.cut_connections();
        }
        let mut config = Config::new();
        config
            .host("127.0.0.1")
            .port(proxy.port)
            .user(&login)
            .password(PASSWORD)
            .dbname(database.name())
            .ssl_mode(SslMode::Disable);
        let connected = Database::new(Logins::with_single_login(config));
        let cache = SchemaCache::start(Arc::clone(&connected), self.config).await;

        let (shared, pool, shared_database) = (Arc::clone(&cache), self.pool, Arc::clone(&connected));
        let application = move || {
            let pool = RequestPool::new(Arc::clone(&shared_database), pool.clone());
            App::new().configure(selvedge_rest::configure(Arc::clone(&shared), pool))
        };
        let address =
            serve(|builder, listener| selvedge_gateway::listen(builder, listener, HEAD_TIMEOUT, application));

        let admin = Arc::new(Admin {
            cache: Arc::clone(&cache),
            database: connected,
            main: MainSocket::Tcp(address),
            pool_max: 10,
        });
        let application = move || App::new().configure(configure_admin(Arc::clone(&admin)));
        let admin_address =
            serve(|builder, listener| selvedge_gateway::listen(builder, listener, HEAD_TIMEOUT, application));
        StandaloneApp {
            database,
            cache,
            proxy,
            login,
            url: format!("http://{address}"),
            admin_url: format!("http://{admin_address}"),
        }
    }
}

/// Runs a server on a free port.
fn serve(
    listen: impl FnOnce(ServerBuilder, std::net::TcpListener) -> std::io::Result<ServerBuilder>,
) -> SocketAddr {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let builder = ServerBuilder::new().workers(1).disable_signals();
    let server = listen(builder, listener).expect("a good listener");
    tokio::spawn(server.run());
    address
}

impl StandaloneApp {
    pub(crate) fn anon(&self) -> Client {
        Client::at(&self.url, None)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends bytes as they are, and reads until the connection ends.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        self.raw_pieces(&[bytes]).await
    }

    /// Sends the request in pieces, with short pauses, so that each arrives separately.
    pub(crate) async fn raw_pieces(&self, pieces: &[&[u8]]) -> String {
        let address = self.url.strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // Errors of writing are ignored: a server that refuses early does not read to the end.
            let _ = stream.write_all(piece).await;
        }
        let mut response = Vec::new();
        let reading = stream.read_to_end(&mut response);
        let read = tokio::time::timeout(GIVE_UP_AFTER, reading).await;
        read.expect("the connection ends").expect("a response");
        String::from_utf8_lossy(&response).into_owned()
    }

    /// Sends bytes as they are, and reads one response with its body; the server may keep the connection open.
    pub(crate) async fn raw_single_response(&self, bytes: &[u8]) -> String {
        let address = self.url.strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        stream.write_all(bytes).await.expect("sent");
        let mut response = Vec::new();
        let is_whole = |response: &[u8]| {
            let text = String::from_utf8_lossy(response);
            let (head, body) = text.split_once("\r\n\r\n")?;
            let (_, length) = head.split_once("content-length: ")?;
            let length: usize = length.lines().next()?.parse().ok()?;
            (body.len() >= length).then_some(())
        };
        while is_whole(&response).is_none() {
            let read = tokio::time::timeout(GIVE_UP_AFTER, stream.read_buf(&mut response)).await;
            assert!(
                read.expect("in time").expect("no error") > 0,
                "the response breaks off"
            );
        }
        String::from_utf8_lossy(&response).into_owned()
    }

    pub(crate) fn admin(&self) -> Client {
        Client::at(&self.admin_url, None)
    }

    pub(crate) fn with_claims(&self, claims: &Value) -> Client {
        let ring = KeyRing::new(SECRET.as_bytes(), &[]).expect("a good secret");
        Client::at(
            &self.url,
            Some(ring.sign_hs256(claims).expect("the secret signs")),
        )
    }

    /// Runs SQL as the superuser; `$login` is the login's name, `$database` the database's.
    pub(crate) async fn run_sql(&self, text: &str) {
        let text = text
            .replace("$login", &self.login)
            .replace("$database", self.database.name());
        let superuser = self.database.superuser().await;
        superuser.batch_execute(&text).await.expect("valid SQL");
    }
}

impl Client {
    /// Repeats a GET until the response satisfies `wanted`.
    pub(crate) async fn until(&self, path: &str, wanted: impl Fn(&TestResponse) -> bool) -> TestResponse {
        let start = Instant::now();
        loop {
            let response = self.get(path).await;
            if wanted(&response) {
                return response;
            }
            assert!(start.elapsed() < GIVE_UP_AFTER, "{path} stays {response:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Waits until a condition holds; `what` names it if it never does.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < GIVE_UP_AFTER, "{what}: not in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
