//! A server with the realtime service and a new database, and clients that send and receive frames.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, web};
use futures_util::{SinkExt, StreamExt};
use selvedge_gateway::{Gateway, GatewayConfig, Keys, Listener, ServerBuilder, listen_with_upgrades};
use selvedge_postgres::{Database, Logins};
use selvedge_realtime::{Realtime, RealtimeConfig};
use selvedge_testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing, development, unix_now};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Time limit for every wait of a test; generous, because test machines are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server with two workers, so that members of one topic are on different threads.
pub(crate) struct TestServer {
    pub(crate) database: Rc<TestDatabase>,
    pub(crate) realtime: Realtime,
    ring: Arc<KeyRing>,
    port: u16,
    handle: ServerHandle,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(RealtimeConfig::default()).await
    }

    pub(crate) async fn start_with(config: RealtimeConfig) -> Self {
        let database = Rc::new(TestDatabase::create().await);
        Self::start_on(database, config).await
    }

    /// Starts another node on a database that a node already uses.
    pub(crate) async fn start_on(database: Rc<TestDatabase>, config: RealtimeConfig) -> Self {
        let login = |role| database.config(role);
        let logins = Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        )
        .with_replication(login("supabase_replication_admin"));
        let shared = Database::connect(logins).await.expect("the database lets us in");
        let signing_keys = [development::signing_key()];
        let ring = KeyRing::new(development::JWT_SECRET.as_bytes(), &signing_keys).expect("usable keys");
        let ring = Arc::new(ring);
        let api_keys = Arc::new(ApiKeys::new(
            vec![development::publishable_key().into()],
            vec![development::secret_key().into()],
        ));
        let realtime = Realtime::start(config, &shared, ring.clone(), api_keys.clone()).expect("a thread");
        let keys = Keys::new(ring.clone(), api_keys, false);
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (for_app, for_upgrades) = (realtime.clone(), realtime.clone());
        let application = move || {
            let worker = for_app.worker();
            App::new()
                .wrap(Gateway::new(keys.clone(), GatewayConfig::default()))
                .service(web::scope("/realtime/v1").configure(worker.configure()))
        };
        let upgrades = move || Some(for_upgrades.worker().upgrades());
        let builder = ServerBuilder::new()
            .workers(2)
            .shutdown_timeout(1)
            .disable_signals();
        let builder =
            listen_with_upgrades(builder, Listener::from(listener), PATIENCE, application, upgrades);
        let server = builder.expect("the listener works").run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self {
            database,
            realtime,
            ring,
            port,
            handle,
        }
    }

    /// A token of the project with these claims, valid for an hour unless they say otherwise.
    pub(crate) fn token(&self, mut claims: Value) -> String {
        if claims.get("exp").is_none() {
            claims["exp"] = (unix_now() + 3600).into();
        }
        self.ring.sign_hs256(&claims).expect("claims can be signed")
    }

    /// A token of a user.
    pub(crate) fn user_token(&self, id: &str) -> String {
        self.token(json!({ "role": "authenticated", "sub": id }))
    }

    /// Opens a socket.
    pub(crate) async fn connect(&self, vsn: &str, key: &str) -> Client {
        self.try_connect(vsn, key, &[])
            .await
            .expect("the upgrade is accepted")
    }

    /// Opens a socket of version 2 with the anon key.
    pub(crate) async fn connect_anon(&self) -> Client {
        self.connect("2.0.0", &development::anon_key()).await
    }

    /// Opens a socket of version 2 with the anon key, for which the kernel keeps few bytes.
    pub(crate) async fn connect_with_small_buffer(&self) -> Client {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(32 * 1024).expect("a size");
        let address = ([127, 0, 0, 1], self.port).into();
        let stream = socket.connect(address).await.expect("it listens");
        self.open_socket(stream, "2.0.0", &development::anon_key(), &[])
            .await
            .expect("the upgrade is accepted")
    }

    /// Opens a socket, or returns status and body of the refusal.
    pub(crate) async fn try_connect(
        &self,
        vsn: &str,
        key: &str,
        headers: &[(&'static str, &'static str)],
    ) -> Result<Client, (u16, String)> {
        let stream = self.connect_tcp().await;
        self.open_socket(stream, vsn, key, headers).await
    }

    async fn open_socket(
        &self,
        stream: TcpStream,
        vsn: &str,
        key: &str,
        headers: &[(&'static str, &'static str)],
    ) -> Result<Client, (u16, String)> {
        let url = format!(
            "ws://127.0.0.1:{}/realtime/v1/websocket?apikey={key}&vsn={vsn}",
            self.port
        );
        let mut request = url.into_client_request().expect("a valid URL");
        for (name, value) in headers {
            request
                .headers_mut()
                .insert(*name, value.parse().expect("a header"));
        }
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((stream, _)) => Ok(Client { stream }),
            Err(Error::Http(response)) => {
                let body = response.body().clone().unwrap_or_default();
                Err((
                    response.status().as_u16(),
                    String::from_utf8_lossy(&body).into_owned(),
                ))
            }
            Err(error) => panic!("neither accepted nor refused: {error}"),
        }
    }

    /// A TCP connection to the server.
    pub(crate) async fn connect_tcp(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port))
            .await
            .expect("it listens")
    }

    /// Sends a request of [`TestServer::request`]; returns status and body.
    pub(crate) async fn post(&self, token: &str, request: reqwest::RequestBuilder) -> (u16, String) {
        let response = request.bearer_auth(token).send().await.expect("it responds");
        let status = response.status().as_u16();
        (status, response.text().await.expect("a body"))
    }

    /// A POST request below `/realtime/v1/api`.
    pub(crate) fn request(&self, path: &str) -> reqwest::RequestBuilder {
        reqwest::Client::new().post(format!("http://127.0.0.1:{}/realtime/v1/api{path}", self.port))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // Calling `stop` is enough; the future that it returns need not be awaited.
        drop(self.handle.stop(false));
    }
}

/// A WebSocket client for tests.
pub(crate) struct Client {
    pub(crate) stream: WebSocketStream<TcpStream>,
}

impl Client {
    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_message(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        self.stream.send(message).await.expect("the socket is open");
    }

    /// Waits for the next message of the server.
    pub(crate) async fn next_message(&mut self) -> Message {
        let next = timeout(PATIENCE, self.stream.next())
            .await
            .expect("a message in time");
        next.expect("the socket is open").expect("a message")
    }

    /// The next text frame as JSON.
    pub(crate) async fn next(&mut self) -> Value {
        let message = self.next_message().await;
        serde_json::from_str(message.to_text().expect("text")).expect("JSON")
    }

    /// Joins on a version 2 socket, with `1` for both references; returns the reply's payload.
    pub(crate) async fn join(&mut self, topic: &str, payload: Value) -> Value {
        self.send(json!(["1", "1", topic, "phx_join", payload])).await;
        let reply = self.next().await;
        assert_eq!(reply[3], "phx_reply", "{reply}");
        reply[4].clone()
    }

    /// Joins a channel and fails the test when the join is refused.
    pub(crate) async fn join_ok(&mut self, topic: &str, config: Value) {
        let reply = self.join(topic, json!({ "config": config })).await;
        assert_eq!(reply["status"], "ok", "{reply}");
    }

    /// Broadcasts on a version 2 socket.
    pub(crate) async fn broadcast(&mut self, topic: &str, event: &str) {
        let payload = json!({ "type": "broadcast", "event": event, "payload": {} });
        self.send(json!(["1", "9", topic, "broadcast", payload])).await;
    }

    /// Asserts that nothing has been sent to this socket: frames are in order, and the next one answers a heartbeat.
    pub(crate) async fn expect_nothing(&mut self) {
        self.send(json!([null, "silence", "phoenix", "heartbeat", {}]))
            .await;
        let next = self.next().await;
        assert_eq!(next[1], "silence", "{next}");
    }

    /// The code with which the server closes the socket; messages before it are skipped.
    pub(crate) async fn close_code(&mut self) -> u16 {
        loop {
            match timeout(PATIENCE, self.stream.next())
                .await
                .expect("it closes in time")
            {
                Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
                Some(Ok(_)) => {}
                other => panic!("closed without a code: {other:?}"),
            }
        }
    }
}
