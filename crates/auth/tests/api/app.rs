//! The test harness: starts the service on a database of its own, sends requests, reads mails and tables.
//!
//! Requests go over a real socket through the gateway, as clients' requests do; only mails stay in memory unless a test
//! sets SMTP.

use std::net::TcpListener;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use deadpool_postgres::{Manager, Pool};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, redirect};
use selvedge_auth::{AuthConfig, AuthState};
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_mail::{Inbox, MailTemplates, Mailer, Sender};
use selvedge_testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing, development};
use serde_json::{Value, json};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// The password of every user whose password the test does not choose.
pub(crate) const PASSWORD: &str = "correct horse";

/// The keys of every request, which are signed once.
static ANON_KEY: LazyLock<String> = LazyLock::new(development::anon_key);
static SERVICE_ROLE_KEY: LazyLock<String> = LazyLock::new(development::service_role_key);

/// A running service with its own port and database. Dropping it stops the service.
pub(crate) struct TestApp {
    /// URL of the service: `http://127.0.0.1:<port>/auth/v1`.
    pub(crate) base: String,
    /// Receives all mails, unless [`Setup::mailer`] is set.
    pub(crate) inbox: Inbox,
    pub(crate) keys: Arc<KeyRing>,
    state: web::Data<AuthState>,
    database: TestDatabase,
    http: Client,
    server: ServerHandle,
}

/// Configuration, keys and mail transport that the service is started with.
pub(crate) struct Setup {
    pub(crate) config: AuthConfig,
    pub(crate) keys: KeyRing,
    /// `None` delivers mails to [`TestApp::inbox`].
    pub(crate) mailer: Option<Mailer>,
    pub(crate) templates: MailTemplates,
    /// How many proxies are in front of the service.
    pub(crate) trusted_proxies: usize,
}

impl Default for Setup {
    /// E-mail addresses must be confirmed; `max_frequency` is zero.
    fn default() -> Self {
        let mut config = AuthConfig {
            site_url: "https://site.example".to_owned(),
            uri_allow_list: vec![
                "https://*.preview.example/**".to_owned(),
                "myapp://callback".to_owned(),
            ],
            ..AuthConfig::default()
        };
        config.email.autoconfirm = false;
        config.email.max_frequency = Duration::ZERO;
        // Hooks and providers of the tests listen on this machine.
        config.calls_private_addresses = true;
        // bcrypt's lowest cost: tests create many users.
        config.password.bcrypt_cost = 4;
        config.password.hash_threads = 2;
        config.refresh.reuse_interval = Duration::ZERO;
        // Tests refresh one session many times at once, which takes long on a busy machine.
        config.refresh.lock_wait = Duration::from_secs(120);
        let keys = KeyRing::new(development::JWT_SECRET.as_bytes(), &[]).unwrap();
        Self {
            config,
            keys,
            mailer: None,
            templates: MailTemplates::default(),
            trusted_proxies: 0,
        }
    }
}

impl TestApp {
    /// Starts the service with [`Setup::default`].
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts the service with `autoconfirm`: a sign-up returns a session at once.
    pub(crate) async fn autoconfirm() -> Self {
        Self::start_with(|config| config.email.autoconfirm = true).await
    }

    /// Starts the service with a changed configuration.
    pub(crate) async fn start_with(change: impl FnOnce(&mut AuthConfig)) -> Self {
        let mut setup = Setup::default();
        change(&mut setup.config);
        Self::start_setup(setup).await
    }

    /// Starts the service behind a proxy, so that tests send requests from several addresses, see [`Call::sent_from`].
    pub(crate) async fn start_behind_proxy(change: impl FnOnce(&mut AuthConfig)) -> Self {
        let mut setup = Setup {
            trusted_proxies: 1,
            ..Setup::default()
        };
        setup.config.rate_limits.client = selvedge_auth::ClientAddress::Peer;
        change(&mut setup.config);
        Self::start_setup(setup).await
    }

    /// Starts the service; `external_url` is replaced by the URL of the port that the system has chosen.
    pub(crate) async fn start_setup(mut setup: Setup) -> Self {
        let database = TestDatabase::create().await;
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(8).build().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/auth/v1", listener.local_addr().unwrap());
        setup.config.external_url.clone_from(&base);
        let inbox = Inbox::default();
        let mailer = setup
            .mailer
            .unwrap_or_else(|| Mailer::Inbox(inbox.clone(), Sender::default()));
        let keys = Arc::new(setup.keys);
        let state = AuthState::new(setup.config, pool, keys.clone(), mailer, setup.templates).unwrap();
        let state = web::Data::new(state);
        actix_web::rt::spawn(selvedge_auth::deliver_mails_forever(state.clone()));
        let api_keys = Arc::new(ApiKeys::new(
            vec![development::publishable_key().into()],
            vec![development::secret_key().into()],
        ));
        let gateway_keys = Keys::new(keys.clone(), api_keys, false);
        let gateway = GatewayConfig {
            trusted_proxies: setup.trusted_proxies,
            // A set of recovery codes is ten hashes, which wait on a busy machine for everything else.
            request_timeout: Duration::from_secs(600),
            ..GatewayConfig::default()
        };
        let served = state.clone();
        let server = HttpServer::new(move || {
            App::new()
                .wrap(Gateway::new(gateway_keys.clone(), gateway.clone()))
                .service(web::scope("/auth/v1").configure(selvedge_auth::configure(served.clone())))
        });
        let server = server
            .workers(1)
            .disable_signals()
            .listen(listener)
            .unwrap()
            .run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let http = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            // Sooner than the server ends idle connections: a request on one that is just being closed would fail.
            .pool_idle_timeout(Duration::from_secs(1))
            .build()
            .unwrap();
        Self {
            base,
            inbox,
            keys,
            state,
            database,
            http,
            server: handle,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Call {
        self.call(Method::PUT, path).json(&body)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Call {
        self.call(Method::POST, path).json(&body)
    }

    /// Starts a request with the headers of supabase-js: the anon key and the API version. `path` may be a whole URL,
    /// such as the link of a mail.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.base)
        };
        let request = self.http.request(method, url);
        let request = request
            .header("apikey", ANON_KEY.as_str())
            .header("x-supabase-api-version", "2024-01-01");
        Call { request }
    }

    /// Signs up by e-mail.
    pub(crate) async fn sign_up(&self, email: &str, password: &str) -> Response {
        self.post("/signup", json!({"email": email, "password": password}))
            .send()
            .await
    }

    /// Signs in by e-mail.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Response {
        self.post(
            "/token?grant_type=password",
            json!({"email": email, "password": password}),
        )
        .send()
        .await
    }

    /// Exchanges a refresh token.
    pub(crate) async fn refresh(&self, token: &str) -> Response {
        self.post("/token?grant_type=refresh_token", json!({"refresh_token": token}))
            .send()
            .await
    }

    /// Creates a confirmed user with [`PASSWORD`] and signs in.
    pub(crate) async fn user(&self, email: &str) -> Session {
        let created = self
            .admin_create(json!({"email": email, "password": PASSWORD, "email_confirm": true}))
            .await;
        assert_eq!(created.status, 200, "{}", created.body);
        self.sign_in(email, PASSWORD).await.session()
    }

    /// Deletes expired rows, as the service does every ten minutes.
    pub(crate) async fn clean_up(&self) {
        selvedge_auth::delete_expired_rows(&self.state).await;
    }

    /// Creates a user as an administrator.
    pub(crate) async fn admin_create(&self, body: Value) -> Response {
        self.post("/admin/users", body).admin().send().await
    }

    /// Returns the newest mail to an address; panics when there is none.
    pub(crate) fn mail_to(&self, address: &str) -> ReceivedMail {
        let mails = self.inbox.list_mails();
        let mail = mails.iter().find(|mail| mail.to[0].address == address);
        ReceivedMail::from_stored(mail.unwrap_or_else(|| panic!("no mail to {address}")))
    }

    pub(crate) fn mail_count(&self) -> usize {
        self.inbox.list_mails().len()
    }

    /// Runs SQL as the superuser.
    pub(crate) async fn sql(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Vec<Row> {
        self.database.superuser().await.query(sql, params).await.unwrap()
    }

    /// Runs a query as the REST service does: under a role, with these claims.
    pub(crate) async fn sql_as(&self, role: &str, claims: &str, sql: &str) -> Vec<Row> {
        let mut client = self.database.superuser().await;
        let transaction = client.transaction().await.unwrap();
        const CONTEXT: &str =
            "select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)";
        transaction.query(CONTEXT, &[&claims, &role]).await.unwrap();
        transaction.query(sql, &[]).await.unwrap()
    }

    /// Polls a query until its rows are as expected, for effects that follow a response. Panics after 30 s.
    pub(crate) async fn eventually(&self, sql: &str, expected: impl Fn(&[Row]) -> bool) -> Vec<Row> {
        let client = self.database.superuser().await;
        for _ in 0..1500 {
            let rows = client.query(sql, &[]).await.unwrap();
            if expected(&rows) {
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("never came true: {sql}");
    }

    /// Opens a connection as the superuser.
    pub(crate) async fn superuser(&self) -> tokio_postgres::Client {
        self.database.superuser().await
    }

    /// Runs SQL as `postgres`, the role of a project's migrations.
    pub(crate) async fn migrate(&self, sql: &str) {
        self.database
            .connect("postgres")
            .await
            .batch_execute(sql)
            .await
            .unwrap();
    }

    /// Runs a `select count(*)`.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.sql(sql, &[]).await[0].get(0)
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let stopping = self.server.stop(false);
        actix_web::rt::spawn(stopping);
    }
}

/// A request that is being built.
pub(crate) struct Call {
    request: RequestBuilder,
}

impl Call {
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Sends the request from this address, by the proxy of [`TestApp::start_behind_proxy`].
    pub(crate) fn sent_from(self, ip: &str) -> Self {
        self.header("x-forwarded-for", ip)
    }

    /// Sends the service role key as bearer.
    pub(crate) fn admin(self) -> Self {
        self.bearer(&SERVICE_ROLE_KEY)
    }

    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
        Self {
            request: self.request.headers(headers),
        }
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        Self {
            request: self.request.json(body),
        }
    }

    /// Sends these bytes with the content type of JSON, whatever they are.
    pub(crate) fn json_bytes(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            request: self.request.header("content-type", "application/json").body(body),
        }
    }

    /// Sets an urlencoded form as the body.
    pub(crate) fn form(self, fields: &[(&str, &str)]) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        Self {
            request: self
                .request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(body),
        }
    }

    pub(crate) async fn send(self) -> Response {
        let response = self.request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        Response {
            status,
            headers,
            body: match text.is_empty() {
                true => Value::Null,
                false => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            },
        }
    }
}

/// A response with its body parsed as JSON: a string when it is other text, null when it is empty.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Response {
    /// Returns the status and the error code, which is empty when the body has none.
    pub(crate) fn error(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }

    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Reads the session of a successful response.
    pub(crate) fn session(&self) -> Session {
        assert_eq!(self.status, 200, "{}", self.body);
        let text = |name: &str| self.body[name].as_str().unwrap_or_default().to_owned();
        let user = self.body["user"].clone();
        Session {
            access_token: text("access_token"),
            refresh_token: text("refresh_token"),
            user,
        }
    }

    /// Parses the fragment of the `location` header of a 303 response.
    pub(crate) fn fragment(&self) -> Vec<(String, String)> {
        assert_eq!(self.status, 303, "{}", self.body);
        let fragment = self
            .header("location")
            .split_once('#')
            .map_or("", |(_, fragment)| fragment);
        url::form_urlencoded::parse(fragment.as_bytes())
            .into_owned()
            .collect()
    }

    /// Returns one parameter of the fragment.
    pub(crate) fn in_fragment(&self, name: &str) -> Option<String> {
        self.fragment()
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

/// The parts of a session that a client stores.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) access_token: String,
    pub(crate) refresh_token: String,
    pub(crate) user: Value,
}

impl Session {
    pub(crate) fn user_id(&self) -> uuid::Uuid {
        self.user["id"].as_str().unwrap().parse().unwrap()
    }
}

/// The parts of a received mail that tests use.
#[derive(Debug)]
pub(crate) struct ReceivedMail {
    pub(crate) subject: String,
    /// The link to `/verify`; empty when the mail has none.
    pub(crate) link: String,
    /// The six digits of the code; empty when the mail has none.
    pub(crate) code: String,
}

impl ReceivedMail {
    pub(crate) fn from_stored(mail: &selvedge_mail::inbox::StoredMail) -> Self {
        let link = mail
            .text
            .split_whitespace()
            .find(|word| word.contains("/verify?"))
            .unwrap_or_default();
        let is_code = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        let code = mail.text.split_whitespace().find(is_code).unwrap_or_default();
        Self {
            subject: mail.subject.clone(),
            link: link.to_owned(),
            code: code.to_owned(),
        }
    }

    /// Returns one parameter of the link in the mail.
    pub(crate) fn param(&self, name: &str) -> String {
        let url = url::Url::parse(&self.link).unwrap();
        let value = url
            .query_pairs()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned());
        value.unwrap_or_default()
    }
}
