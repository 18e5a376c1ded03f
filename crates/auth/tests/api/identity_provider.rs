//! An OpenID provider inside the test: what it says, and with which key it signs, is for the test to choose.

use std::net::TcpListener;
use std::sync::Mutex;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use selvedge_auth::ProviderConfig;
use selvedge_token::{JsonWebKey, KeyAlgorithm, KeyRing, generate_signing_key, unix_now};
use serde_json::{Value, json};

pub(crate) const CLIENT_ID: &str = "our-client";
pub(crate) const CLIENT_SECRET: &str = "our-secret";

/// One request for tokens, as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct TokenRequest {
    pub(crate) authorization: String,
    pub(crate) form: Vec<(String, String)>,
}

impl TokenRequest {
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.form.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

struct Script {
    base: String,
    ring: KeyRing,
    claims: Value,
    userinfo: Value,
    answer: Value,
    requests: Vec<TokenRequest>,
}

type Shared = web::Data<Mutex<Script>>;

/// The provider on a port of its own.
pub(crate) struct IdentityProvider {
    pub(crate) base: String,
    script: Shared,
    server: ServerHandle,
}

impl IdentityProvider {
    /// A provider that knows Ana, whose address it has proven.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let script = Script {
            base: base.clone(),
            ring: ring(generate_signing_key(KeyAlgorithm::Es256)),
            claims: json!({
                "sub": "ana-1", "email": "Ana@Example.com", "email_verified": true,
                "name": "Ana Lind", "picture": "https://img.example/ana.png",
            }),
            userinfo: json!({}),
            answer: json!({"access_token": "their-access", "refresh_token": "their-refresh", "token_type": "bearer"}),
            requests: Vec::new(),
        };
        let script: Shared = web::Data::new(Mutex::new(script));
        let shared = script.clone();
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .route("/.well-known/openid-configuration", web::get().to(discovery))
                .route("/jwks", web::get().to(jwks))
                .route("/token", web::post().to(token))
                .route("/login/oauth/access_token", web::post().to(token))
                .route("/oauth/request_token", web::post().to(signed_token))
                .route("/oauth/access_token", web::post().to(signed_token))
                .route(
                    "/1.1/account/verify_credentials.json",
                    web::get().to(signed_userinfo),
                )
                .route("/userinfo", web::get().to(userinfo))
                .route("/api/v3/user", web::get().to(userinfo))
                .route("/api/v3/user/emails", web::get().to(emails))
        });
        let server = server
            .workers(1)
            .disable_signals()
            .listen(listener)
            .unwrap()
            .run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self {
            base,
            script,
            server: handle,
        }
    }

    /// The provider under a name that the service knows.
    pub(crate) fn config(&self, name: &str) -> ProviderConfig {
        ProviderConfig {
            name: name.to_owned(),
            client_ids: vec![CLIENT_ID.to_owned(), "our-app".to_owned()],
            secret: CLIENT_SECRET.into(),
            redirect_uri: "https://api.example/auth/v1/callback".to_owned(),
            url: Some(self.base.clone()),
            skip_nonce_check: false,
            email_optional: false,
        }
    }

    /// Changes what ID tokens say, beside issuer, audience and times.
    pub(crate) fn says(&self, claims: Value) {
        let mut script = self.script.lock().unwrap();
        for (name, value) in claims.as_object().unwrap() {
            script.claims[name.as_str()] = value.clone();
        }
    }

    /// What the endpoint for the access token says.
    pub(crate) fn shows(&self, userinfo: Value) {
        self.script.lock().unwrap().userinfo = userinfo;
    }

    /// Changes the answer that carries the tokens.
    pub(crate) fn answers(&self, member: &str, value: Value) {
        self.script.lock().unwrap().answer[member] = value;
    }

    /// From now on a new key signs, and the old one is not listed any more.
    pub(crate) fn rotate(&self, algorithm: KeyAlgorithm) {
        self.script.lock().unwrap().ring = ring(generate_signing_key(algorithm));
    }

    /// An ID token, signed properly; `change` may make it say anything.
    pub(crate) fn id_token(&self, change: impl FnOnce(&mut Value)) -> String {
        let script = self.script.lock().unwrap();
        let mut claims = full_claims(&script);
        change(&mut claims);
        script.ring.sign(&claims).unwrap()
    }

    pub(crate) fn public_jwks(&self) -> Value {
        self.script.lock().unwrap().ring.public_jwks()
    }

    pub(crate) fn requests(&self) -> Vec<TokenRequest> {
        self.script.lock().unwrap().requests.clone()
    }
}

impl Drop for IdentityProvider {
    fn drop(&mut self) {
        actix_web::rt::spawn(self.server.stop(false));
    }
}

fn ring(key: JsonWebKey) -> KeyRing {
    KeyRing::new(b"nobody-signs-with-this-secret-here", &[key]).unwrap()
}

fn full_claims(script: &Script) -> Value {
    let mut claims = script.claims.clone();
    claims["iss"] = json!(script.base);
    claims["aud"] = json!(CLIENT_ID);
    claims["iat"] = json!(unix_now());
    claims["exp"] = json!(unix_now() + 300);
    claims
}

async fn discovery(script: Shared) -> HttpResponse {
    let base = script.lock().unwrap().base.clone();
    HttpResponse::Ok().json(json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "userinfo_endpoint": format!("{base}/userinfo"),
        "jwks_uri": format!("{base}/jwks"),
    }))
}

async fn jwks(script: Shared) -> HttpResponse {
    HttpResponse::Ok().json(script.lock().unwrap().ring.public_jwks())
}

async fn token(script: Shared, request: HttpRequest, body: web::Bytes) -> HttpResponse {
    let mut script = script.lock().unwrap();
    let header = request.headers().get("authorization");
    script.requests.push(TokenRequest {
        authorization: header.map_or("", |value| value.to_str().unwrap()).to_owned(),
        form: url::form_urlencoded::parse(&body).into_owned().collect(),
    });
    let mut answer = script.answer.clone();
    if answer.get("id_token").is_none() {
        answer["id_token"] = json!(script.ring.sign(&full_claims(&script)).unwrap());
    }
    HttpResponse::Ok().json(answer)
}

/// OAuth 1.0a: the same answer before and after the visit.
async fn signed_token(script: Shared, request: HttpRequest) -> HttpResponse {
    note_signed(&script, &request);
    HttpResponse::Ok()
        .body("oauth_token=their-token&oauth_token_secret=their%2Fsecret&oauth_callback_confirmed=true")
}

async fn signed_userinfo(script: Shared, request: HttpRequest) -> HttpResponse {
    note_signed(&script, &request);
    HttpResponse::Ok().json(&script.lock().unwrap().userinfo)
}

/// The parameters of OAuth 1.0a travel in the header.
fn note_signed(script: &Shared, request: &HttpRequest) {
    let header = request.headers().get("authorization").unwrap().to_str().unwrap();
    let parts = header.strip_prefix("OAuth ").unwrap().split(", ");
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap();
        let value = value.trim_matches('"').replace('+', "%2B");
        let mut decoded = url::form_urlencoded::parse(value.as_bytes());
        (name.to_owned(), decoded.next().unwrap().0.into_owned())
    };
    script.lock().unwrap().requests.push(TokenRequest {
        authorization: header.to_owned(),
        form: parts.map(pair).collect(),
    });
}

async fn userinfo(script: Shared) -> HttpResponse {
    HttpResponse::Ok().json(&script.lock().unwrap().userinfo)
}

async fn emails(script: Shared) -> HttpResponse {
    HttpResponse::Ok().json(&script.lock().unwrap().userinfo["emails"])
}
