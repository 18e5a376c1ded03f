//! The service without a gateway, on a login of the test's own and behind a gate that can be shut.

use crate::support::{Answer, Client};
use actix_web::App;
use selvedge_gateway::ServerBuilder;
use selvedge_postgres::testing::{PASSWORD, TestDatabase};
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::{Admin, MainSocket, RestConfig, RestState, configure_admin};
use selvedge_token::KeyRing;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Long enough for any machine; what is awaited comes much sooner.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a request's head may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) const SECRET: &str = "a-secret-of-the-operator-with-32-characters";

/// The way to PostgreSQL, which can be shut: connections break, and new ones are refused.
pub(crate) struct Gate {
    port: u16,
    open: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Gate {
    async fn before(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let open = Arc::new(AtomicBool::new(true));
        let connections = Arc::<Mutex<Vec<JoinHandle<()>>>>::default();
        let (is_open, list) = (Arc::clone(&open), Arc::clone(&connections));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if !is_open.load(Ordering::SeqCst) {
                    continue; // dropped: the connection is reset
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

    pub(crate) fn shut(&self) {
        self.open.store(false, Ordering::SeqCst);
        for connection in self.connections.lock().expect("not poisoned").drain(..) {
            connection.abort();
        }
    }

    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }
}

/// A running service with its database.
pub(crate) struct Alone {
    pub(crate) database: TestDatabase,
    pub(crate) state: Arc<RestState>,
    pub(crate) gate: Gate,
    /// The login that the service has for itself, so that its settings disturb no other test.
    pub(crate) login: String,
    url: String,
    admin_url: String,
}

/// How to start one.
pub(crate) struct Start {
    pub(crate) config: RestConfig,
    pub(crate) pool: RequestPoolConfig,
    /// SQL that the superuser runs first; `$login` is the login's name.
    pub(crate) schema: String,
    /// Whether the database can be reached at first.
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

    pub(crate) async fn run(self) -> Alone {
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
        let gate = Gate::before(folder.join(format!(".s.PGSQL.{}", direct.get_ports()[0]))).await;
        if !self.reachable {
            gate.shut();
        }
        let mut config = Config::new();
        config
            .host("127.0.0.1")
            .port(gate.port)
            .user(&login)
            .password(PASSWORD)
            .dbname(database.name())
            .ssl_mode(SslMode::Disable);
        let connected = Database::new(Logins::of_one(config));
        let state = RestState::new(Arc::clone(&connected), self.config).await;

        let (shared, pool, shared_database) = (Arc::clone(&state), self.pool, Arc::clone(&connected));
        let application = move || {
            let pool = RequestPool::new(Arc::clone(&shared_database), pool.clone());
            App::new().configure(selvedge_rest::configure(Arc::clone(&shared), pool))
        };
        let address =
            serve(|builder, listener| selvedge_gateway::listen(builder, listener, HEAD_TIMEOUT, application));

        let admin = Arc::new(Admin {
            state: Arc::clone(&state),
            database: connected,
            main: MainSocket::Tcp(address),
            pool_max: 10,
        });
        let application = move || App::new().configure(configure_admin(Arc::clone(&admin)));
        let admin_address =
            serve(|builder, listener| selvedge_gateway::listen(builder, listener, HEAD_TIMEOUT, application));
        Alone {
            database,
            state,
            gate,
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

impl Alone {
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

    /// The same piece by piece, with pauses.
    pub(crate) async fn raw_pieces(&self, pieces: &[&[u8]]) -> String {
        let address = self.url.strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // a server that refuses early need not read to the end
            let _ = stream.write_all(piece).await;
        }
        let mut answer = Vec::new();
        let reading = stream.read_to_end(&mut answer);
        let read = tokio::time::timeout(PATIENCE, reading).await;
        read.expect("the connection ends").expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends bytes as they are, and reads one answer with its body; the connection may go on.
    pub(crate) async fn raw_answer(&self, bytes: &[u8]) -> String {
        let address = self.url.strip_prefix("http://").expect("plain HTTP");
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        stream.write_all(bytes).await.expect("sent");
        let mut answer = Vec::new();
        let is_whole = |answer: &[u8]| {
            let text = String::from_utf8_lossy(answer);
            let (head, body) = text.split_once("\r\n\r\n")?;
            let (_, length) = head.split_once("content-length: ")?;
            let length: usize = length.lines().next()?.parse().ok()?;
            (body.len() >= length).then_some(())
        };
        while is_whole(&answer).is_none() {
            let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut answer)).await;
            assert!(
                read.expect("in time").expect("no error") > 0,
                "the answer breaks off"
            );
        }
        String::from_utf8_lossy(&answer).into_owned()
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
    pub(crate) async fn sql(&self, text: &str) {
        let text = text
            .replace("$login", &self.login)
            .replace("$database", self.database.name());
        let superuser = self.database.superuser().await;
        superuser.batch_execute(&text).await.expect("valid SQL");
    }
}

impl Client {
    /// Asks until the answer is as wanted.
    pub(crate) async fn until(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        let start = Instant::now();
        loop {
            let answer = self.get(path).await;
            if wanted(&answer) {
                return answer;
            }
            assert!(start.elapsed() < PATIENCE, "{path} stays {answer:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
