//! A tiny vocabulary for talking to the service: start it, call it, read its mails, look into its tables.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use deadpool_postgres::{Manager, Pool};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, redirect};
use selvedge_auth::{AuthConfig, AuthState};
use selvedge_gateway::{Gateway, GatewayConfig, Keys};
use selvedge_mail::{Inbox, MailTemplates, Mailer, Sender};
use selvedge_postgres::testing::TestDatabase;
use selvedge_token::{ApiKeys, KeyRing, development};
use serde_json::{Value, json};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub(crate) const PASSWORD: &str = "correct horse";

/// The service on a port and a database of its own.
pub(crate) struct TestApp {
    pub(crate) base: String,
    pub(crate) inbox: Inbox,
    pub(crate) keys: Arc<KeyRing>,
    database: TestDatabase,
    http: Client,
    server: ServerHandle,
}

/// How the service is put together.
pub(crate) struct Setup {
    pub(crate) config: AuthConfig,
    pub(crate) keys: KeyRing,
    pub(crate) mailer: Option<Mailer>,
    pub(crate) templates: MailTemplates,
}

impl Default for Setup {
    /// Addresses must be confirmed; mails may follow each other at once.
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
        config.password.bcrypt_cost = 4;
        config.password.hash_threads = 2;
        config.refresh.reuse_interval = Duration::ZERO;
        let keys = KeyRing::new(development::JWT_SECRET.as_bytes(), &[]).unwrap();
        Self {
            config,
            keys,
            mailer: None,
            templates: MailTemplates::default(),
        }
    }
}

impl TestApp {
    /// The service as [`Setup::default`] describes it.
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// The same where nobody needs to confirm addresses.
    pub(crate) async fn autoconfirm() -> Self {
        Self::with(|config| config.email.autoconfirm = true).await
    }

    /// The service with a changed configuration.
    pub(crate) async fn with(change: impl FnOnce(&mut AuthConfig)) -> Self {
        let mut setup = Setup::default();
        change(&mut setup.config);
        Self::from(setup).await
    }

    pub(crate) async fn from(mut setup: Setup) -> Self {
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
        actix_web::rt::spawn(selvedge_auth::deliver_forever(state.clone()));
        let api_keys = Arc::new(ApiKeys::new(
            vec![development::publishable_key().into()],
            vec![development::secret_key().into()],
        ));
        let gateway_keys = Keys::new(keys.clone(), api_keys, false);
        let server = HttpServer::new(move || {
            App::new()
                .wrap(Gateway::new(gateway_keys.clone(), GatewayConfig::default()))
                .service(web::scope("/auth/v1").configure(selvedge_auth::configure(state.clone())))
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
            .build()
            .unwrap();
        Self {
            base,
            inbox,
            keys,
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

    /// A call as the stock client makes it.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.base)
        };
        let request = self.http.request(method, url);
        let request = request
            .header("apikey", development::anon_key())
            .header("x-supabase-api-version", "2024-01-01");
        Call { request }
    }

    /// Signs up by e-mail.
    pub(crate) async fn sign_up(&self, email: &str, password: &str) -> Answer {
        self.post("/signup", json!({"email": email, "password": password}))
            .send()
            .await
    }

    /// Signs in by e-mail.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Answer {
        self.post(
            "/token?grant_type=password",
            json!({"email": email, "password": password}),
        )
        .send()
        .await
    }

    /// Exchanges a refresh token.
    pub(crate) async fn refresh(&self, token: &str) -> Answer {
        self.post("/token?grant_type=refresh_token", json!({"refresh_token": token}))
            .send()
            .await
    }

    /// Creates a confirmed user and signs in.
    pub(crate) async fn user(&self, email: &str) -> Session {
        let created = self
            .admin_create(json!({"email": email, "password": PASSWORD, "email_confirm": true}))
            .await;
        assert_eq!(created.status, 200, "{}", created.body);
        self.sign_in(email, PASSWORD).await.session()
    }

    /// Creates a user as an administrator.
    pub(crate) async fn admin_create(&self, body: Value) -> Answer {
        self.post("/admin/users", body).admin().send().await
    }

    /// The newest mail to an address.
    pub(crate) fn mail_to(&self, address: &str) -> Letter {
        let mails = self.inbox.list();
        let mail = mails.iter().find(|mail| mail.to[0].address == address);
        Letter::of(mail.unwrap_or_else(|| panic!("no mail to {address}")))
    }

    pub(crate) fn mail_count(&self) -> usize {
        self.inbox.list().len()
    }

    /// Runs SQL as the superuser.
    pub(crate) async fn sql(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Vec<Row> {
        self.database.superuser().await.query(sql, params).await.unwrap()
    }

    /// Runs a query as the API does: under a role, with these claims.
    pub(crate) async fn sql_as(&self, role: &str, claims: &str, sql: &str) -> Vec<Row> {
        let mut client = self.database.superuser().await;
        let transaction = client.transaction().await.unwrap();
        const CONTEXT: &str =
            "select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)";
        transaction.query(CONTEXT, &[&claims, &role]).await.unwrap();
        transaction.query(sql, &[]).await.unwrap()
    }

    /// Runs a query again and again until its rows are as expected: for what happens after an answer.
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

    /// A connection of the superuser.
    pub(crate) async fn superuser(&self) -> tokio_postgres::Client {
        self.database.superuser().await
    }

    /// Runs SQL as a project's migrations do.
    pub(crate) async fn migrate(&self, sql: &str) {
        self.database
            .connect("postgres")
            .await
            .batch_execute(sql)
            .await
            .unwrap();
    }

    /// The number that a query counts.
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

/// A request on its way.
pub(crate) struct Call {
    request: RequestBuilder,
}

impl Call {
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn admin(self) -> Self {
        self.bearer(&development::service_role_key())
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

    pub(crate) fn raw(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            request: self.request.header("content-type", "application/json").body(body),
        }
    }

    pub(crate) async fn send(self) -> Answer {
        let response = self.request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        Answer {
            status,
            headers,
            body: match text.is_empty() {
                true => Value::Null,
                false => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            },
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    /// Status and error code.
    pub(crate) fn error(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }

    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The session in a successful answer.
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

    /// The fragment of a redirect, taken apart.
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

    /// One member of the fragment.
    pub(crate) fn in_fragment(&self, name: &str) -> Option<String> {
        self.fragment()
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

/// What a client keeps.
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

/// The parts of a mail that tests act on.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) subject: String,
    pub(crate) link: String,
    pub(crate) code: String,
}

impl Letter {
    fn of(mail: &selvedge_mail::inbox::StoredMail) -> Self {
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

    /// One parameter of the link.
    pub(crate) fn param(&self, name: &str) -> String {
        let url = url::Url::parse(&self.link).unwrap();
        let value = url
            .query_pairs()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned());
        value.unwrap_or_default()
    }
}
