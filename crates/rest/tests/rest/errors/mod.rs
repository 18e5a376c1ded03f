//! Every code of the error table over HTTP: status, body and headers, to the letter.

mod authentication;
mod functions;
mod preferences;
mod requests;

use selvedge_rest::{OpenApiMode, RestConfig};
use serde_json::{Value, json};

use crate::standalone_app::{StandaloneApp, Start};
use crate::support::TestResponse;

const LIBRARY: &str = r#"
create table public.authors (id int primary key, name text not null);
create table public.books (
  id int primary key, title text,
  author_id int references public.authors, editor_id int references public.authors
);
insert into public.authors values (1, 'Ana'), (2, 'Ben');
insert into public.books values (1, 'First', 1, 2), (2, 'Second', 1, 1);
create table public.hidden (id int);
create function public.add(a int, b int) returns int language sql immutable as 'select a + b';
create function public.pick(a int) returns int language sql immutable as 'select 1';
create function public.pick(a text) returns int language sql immutable as 'select 2';
create function public.response(headers text, status text) returns text language plpgsql volatile as $$ begin
  perform set_config('response.headers', headers, true);
  perform set_config('response.status', status, true);
  return 'answered';
end $$;
create function public.raise(code text, message text, detail text) returns void language plpgsql volatile as $$ begin
  if detail is null then
    raise exception using errcode = code, message = message;
  end if;
  raise exception using errcode = code, message = message, detail = detail, hint = 'a hint';
end $$;
grant usage on schema public to anon, authenticated;
grant all on public.authors, public.books to anon, authenticated;
revoke all on public.hidden from anon, authenticated;
"#;

/// A request and the response that it must get.
struct Case {
    request_line: (&'static str, &'static str),
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
    status: u16,
    response: Value,
    challenge: Option<&'static str>,
}

/// `code`, `message`, `details`, `hint`.
fn error_body(code: &str, message: &str, details: impl Into<Value>, hint: impl Into<Value>) -> Value {
    json!({ "code": code, "message": message, "details": details.into(), "hint": hint.into() })
}

const NULL: Value = Value::Null;

impl Case {
    fn get(path: &'static str, status: u16, response: Value) -> Self {
        Self {
            request_line: ("GET", path),
            headers: Vec::new(),
            body: None,
            status,
            response,
            challenge: None,
        }
    }

    fn new(method: &'static str, path: &'static str, body: Value, status: u16, response: Value) -> Self {
        Self {
            request_line: (method, path),
            body: Some(body),
            ..Self::get(path, status, response)
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn with_challenge(self, challenge: &'static str) -> Self {
        Self {
            challenge: Some(challenge),
            ..self
        }
    }

    async fn check(&self, app: &StandaloneApp) {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let (method, path) = self.request_line;
        let body = self
            .body
            .as_ref()
            .filter(|body| !body.is_null())
            .map(Value::to_string);
        let response = app.anon().send(method, path, &headers, body).await;
        let shown = format!("{method} {path}: {response:?}");

        assert_eq!(response.status, self.status, "{shown}");
        assert_eq!(response.json(), self.response, "{shown}");
        let code = self.response["code"].as_str().expect("a code");
        assert_eq!(
            response.header("proxy-status"),
            Some(format!("PostgREST; error={code}").as_str()),
            "{shown}"
        );
        assert_eq!(
            response.header("content-type"),
            Some("application/json; charset=utf-8"),
            "{shown}"
        );
        assert_eq!(response.header("www-authenticate"), self.challenge, "{shown}");
        assert_eq!(
            response.header("content-length"),
            Some(response.text.len().to_string().as_str()),
            "{shown}"
        );
        for absent in [
            "vary",
            "content-range",
            "content-profile",
            "preference-applied",
            "server-timing",
        ] {
            assert_eq!(response.header(absent), None, "{shown}");
        }
        if method == "GET" {
            self.check_head(app, &headers, &response).await;
        }
    }

    /// HEAD has the same status and headers, without a body.
    async fn check_head(&self, app: &StandaloneApp, headers: &[(&str, &str)], get: &TestResponse) {
        let head = app.anon().send("HEAD", self.request_line.1, headers, None).await;
        assert_eq!(
            (head.status, head.text.as_str()),
            (get.status, ""),
            "HEAD {}",
            self.request_line.1
        );
        for name in ["proxy-status", "content-type", "www-authenticate"] {
            assert_eq!(
                head.header(name),
                get.header(name),
                "HEAD {}",
                self.request_line.1
            );
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_077_every_error_code_has_its_status_body_and_headers() {
    let app = Start::on(LIBRARY).run().await;
    let cases = [
        requests::malformed_requests(),
        preferences::refused_preferences(),
        functions::invalid_responses(),
        preferences::unknown_names(),
        authentication::refused_callers(&app),
    ];

    for case in cases.into_iter().flatten() {
        case.check(&app).await;
    }

    // PGRST103 for an offset beyond the total: a normal response with an error as its body.
    let beyond = app
        .anon()
        .get_with("/books?offset=9", &[("prefer", "count=exact")])
        .await;
    assert_eq!(
        (beyond.status, beyond.header("content-range")),
        (416, Some("*/2"))
    );
    assert_eq!(
        (beyond.header("proxy-status"), beyond.header("vary")),
        (None, Some("Accept, Prefer, Range"))
    );
    assert_eq!(
        beyond.json(),
        error_body(
            "PGRST103",
            "Requested range not satisfiable",
            "An offset of 9 was requested, but there are only 2 rows.",
            NULL
        )
    );
    // The refused requests have written nothing.
    let books = app.anon().get("/books?select=id&order=id").await;
    assert_eq!(books.json(), json!([{"id": 1}, {"id": 2}]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_077_error_codes_of_other_configurations_have_their_status_body_and_headers() {
    let configured = |change: fn(&mut RestConfig)| {
        let mut start = Start::on(LIBRARY);
        change(&mut start.config);
        start
    };
    let app = configured(|config| {
        config.openapi_mode = OpenApiMode::Disabled;
        config.aggregates_enabled = true;
        config.anon_role = None;
        config.jwt_audience = Some("us".to_owned());
    })
    .run()
    .await;
    let bearer = |claims: Value| format!("Bearer {}", app.with_claims(&claims).token.expect("a token"));
    let anybody = bearer(json!({"role": "authenticated", "aud": ["them", "us"]}));
    for case in [
        Case::get(
            "/books",
            401,
            error_body("PGRST302", "Anonymous access is disabled", NULL, NULL),
        )
        .with_challenge("Bearer"),
        Case::get(
            "/books",
            401,
            error_body("PGRST303", "JWT not in audience", NULL, NULL),
        )
        .with(
            "authorization",
            bearer(json!({"role": "authenticated", "aud": ["them"]})),
        )
        .with_challenge("Bearer error=\"invalid_token\", error_description=\"JWT not in audience\""),
        Case::get(
            "/",
            404,
            error_body("PGRST126", "Root endpoint metadata is disabled", NULL, NULL),
        )
        .with("authorization", anybody.clone()),
        Case::get(
            "/authors?select=name,...books!books_author_id_fkey(id.sum())",
            400,
            error_body(
                "PGRST127",
                "Feature not implemented",
                "Aggregates are not implemented for one-to-many or many-to-many spreads.",
                NULL,
            ),
        )
        .with("authorization", anybody),
    ] {
        case.check(&app).await;
    }

    let app = configured(|config| config.jwt_secret = None).run().await;
    Case::get(
        "/books",
        500,
        error_body("PGRST300", "Server lacks JWT secret", NULL, NULL),
    )
    .with("authorization", "Bearer a.b.c")
    .check(&app)
    .await;
}

/// The status line with its reason phrase, which HTTP clients hide.
async fn status_line(app: &StandaloneApp, path: &str, body: &str) -> String {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let response = app.raw(request.as_bytes()).await;
    response.split("\r\n").next().unwrap_or_default().to_owned()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_075_unusual_statuses_have_no_reason_phrase_and_503_has_retry_after() {
    let app = Start::on(LIBRARY).run().await;
    let answered = |status: &'static str| {
        let client = app.anon();
        async move {
            let body = json!({"headers": "[]", "status": status});
            client.post("/rpc/response", &body).await
        }
    };

    assert_eq!(answered("299").await.status, 299);
    assert_eq!(answered("503").await.header("retry-after"), Some("0"));
    assert_eq!(answered("200").await.header("retry-after"), None);
    let raised = json!({"code": "PT503", "message": "x", "detail": "d"});
    assert_eq!(
        app.anon().post("/rpc/raise", &raised).await.header("retry-after"),
        Some("0")
    );
    let raised = json!({
        "code": "PGRST", "message": r#"{"code":"X","message":"m"}"#, "detail": r#"{"status":503,"headers":{}}"#,
    });
    assert_eq!(
        app.anon().post("/rpc/raise", &raised).await.header("retry-after"),
        Some("0")
    );

    let phrase = status_line(&app, "/rpc/response", r#"{"headers":"[]","status":"299"}"#).await;
    assert_eq!(phrase, "HTTP/1.1 299 ");
    let phrase = status_line(
        &app,
        "/rpc/raise",
        r#"{"code":"PTXYZ","message":"no number","detail":"d"}"#,
    )
    .await;
    assert_eq!(phrase, "HTTP/1.1 500 Internal Server Error");
}
