//! An OpenID provider inside the test, whose claims, responses and signing key the test chooses. It also has the
//! endpoints of GitHub, Keycloak and Twitter (OAuth 1.0a).

use std::net::TcpListener;
use std::sync::Mutex;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use selvedge_auth::ProviderConfig;
use selvedge_token::{JsonWebKey, KeyAlgorithm, KeyRing, generate_signing_key, unix_now};
use serde_json::{Value, json};

pub(crate) const CLIENT_ID: &str = "our-client";
pub(crate) const CLIENT_SECRET: &str = "our-secret";

/// A received request to a token endpoint, or a signed OAuth 1.0a request.
#[derive(Debug, Clone)]
pub(crate) struct TokenRequest {
    /// The `Authorization` header; empty when there was none.
    pub(crate) authorization: String,
    /// Fields of the form body, or the parameters in an OAuth 1.0a header.
    pub(crate) form: Vec<(String, String)>,
}

impl TokenRequest {
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.form.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// What the provider responds with, and what it has received.
struct Script {
    base: String,
    ring: KeyRing,
    /// Claims of ID tokens, except issuer, audience and times.
    claims: Value,
    userinfo: Value,
    /// Body of token responses; an ID token is added unless the body has one.
    response: Value,
    requests: Vec<TokenRequest>,
}

type Shared = web::Data<Mutex<Script>>;

/// A running provider with its own port.
pub(crate) struct IdentityProvider {
    pub(crate) base: String,
    script: Shared,
    server: ServerHandle,
}

impl IdentityProvider {
    /// Starts a provider with one user, Ana, whose address is verified.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let script = Script {
            base: base.clone(),
            ring: build_key_ring(generate_signing_key(KeyAlgorithm::Es256)),
            claims: json!({
                "sub": "ana-1", "email": "Ana@Example.com", "email_verified": true,
                "name": "Ana Lind", "picture": "https://img.example/ana.png",
            }),
            userinfo: json!({}),
            response: json!({"access_token": "their-access", "refresh_token": "their-refresh", "token_type": "bearer"}),
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
                .route("/sso/token", web::post().to(token))
                .route("/oauth/request_token", web::post().to(signed_token))
                .route("/oauth/access_token", web::post().to(signed_token))
                .route(
                    "/1.1/account/verify_credentials.json",
                    web::get().to(signed_userinfo),
                )
                .route("/userinfo", web::get().to(userinfo))
                .route("/protocol/openid-connect/token", web::post().to(token))
                .route("/protocol/openid-connect/userinfo", web::get().to(userinfo))
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

    /// Builds the service's configuration for this provider, under the name of a supported provider such as `google`.
    pub(crate) fn config(&self, name: &str) -> ProviderConfig {
        ProviderConfig {
            name: name.to_owned(),
            client_ids: vec![CLIENT_ID.to_owned(), "our-app".to_owned()],
            secret: CLIENT_SECRET.into(),
            redirect_uri: "https://api.example/auth/v1/callback".to_owned(),
            url: Some(self.base.clone()),
            skip_nonce_check: false,
            email_optional: false,
            development_url: None,
        }
    }

    /// Changes claims of future ID tokens; issuer, audience and times are set by the provider.
    pub(crate) fn set_claims(&self, claims: Value) {
        let mut script = self.script.lock().unwrap();
        for (name, value) in claims.as_object().unwrap() {
            script.claims[name.as_str()] = value.clone();
        }
    }

    /// Sets the response of the userinfo endpoint.
    pub(crate) fn set_userinfo(&self, userinfo: Value) {
        self.script.lock().unwrap().userinfo = userinfo;
    }

    /// Changes one member of the token response.
    pub(crate) fn set_token_response(&self, member: &str, value: Value) {
        self.script.lock().unwrap().response[member] = value;
    }

    /// Replaces the signing key, also in the published key set, as a key rotation at the provider does.
    pub(crate) fn rotate(&self, algorithm: KeyAlgorithm) {
        self.script.lock().unwrap().ring = build_key_ring(generate_signing_key(algorithm));
    }

    /// Signs an ID token with the current key after `change` has edited its claims.
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

/// Builds a key ring with one asymmetric key; the symmetric secret is required but never used.
fn build_key_ring(key: JsonWebKey) -> KeyRing {
    KeyRing::new(b"nobody-signs-with-this-secret-here", &[key]).unwrap()
}

/// Completes the test's claims to those of a valid ID token.
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

/// Records the request and sends the token response of the test.
async fn token(script: Shared, request: HttpRequest, body: web::Bytes) -> HttpResponse {
    let mut script = script.lock().unwrap();
    let header = request.headers().get("authorization");
    script.requests.push(TokenRequest {
        authorization: header.map_or("", |value| value.to_str().unwrap()).to_owned(),
        form: url::form_urlencoded::parse(&body).into_owned().collect(),
    });
    let mut response = script.response.clone();
    if response.get("id_token").is_none() {
        response["id_token"] = json!(script.ring.sign(&full_claims(&script)).unwrap());
    }
    HttpResponse::Ok().json(response)
}

/// Responds to the OAuth 1.0a requests for a request token and for an access token, both with the same tokens.
async fn signed_token(script: Shared, request: HttpRequest) -> HttpResponse {
    record_signed_request(&script, &request);
    HttpResponse::Ok()
        .body("oauth_token=their-token&oauth_token_secret=their%2Fsecret&oauth_callback_confirmed=true")
}

async fn signed_userinfo(script: Shared, request: HttpRequest) -> HttpResponse {
    record_signed_request(&script, &request);
    HttpResponse::Ok().json(&script.lock().unwrap().userinfo)
}

/// Records the OAuth 1.0a parameters, which are in the Authorization header.
fn record_signed_request(script: &Shared, request: &HttpRequest) {
    let header = request.headers().get("authorization").unwrap().to_str().unwrap();
    let parts = header.strip_prefix("OAuth ").unwrap().split(", ");
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap();
        // OAuth 1.0a (RFC 5849 §3.6) encodes a space as `%20`, so a `+` is a plus sign, unlike in forms.
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
