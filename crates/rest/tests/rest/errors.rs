//! Every code of the contract's table over HTTP: status, body and headers, to the letter.

use crate::alone::{Alone, Start};
use crate::support::Answer;
use selvedge_rest::{OpenApiMode, RestConfig};
use serde_json::{Value, json};

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
create function public.answer(headers text, status text) returns text language plpgsql volatile as $$ begin
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

/// A request and what must come back.
struct Case {
    asked: (&'static str, &'static str),
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
    status: u16,
    answer: Value,
    challenge: Option<&'static str>,
}

/// `code`, `message`, `details`, `hint`.
fn error(code: &str, message: &str, details: impl Into<Value>, hint: impl Into<Value>) -> Value {
    json!({ "code": code, "message": message, "details": details.into(), "hint": hint.into() })
}

const NONE: Value = Value::Null;

impl Case {
    fn get(path: &'static str, status: u16, answer: Value) -> Self {
        Self {
            asked: ("GET", path),
            headers: Vec::new(),
            body: None,
            status,
            answer,
            challenge: None,
        }
    }

    fn of(method: &'static str, path: &'static str, body: Value, status: u16, answer: Value) -> Self {
        Self {
            asked: (method, path),
            body: Some(body),
            ..Self::get(path, status, answer)
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn challenged(self, challenge: &'static str) -> Self {
        Self {
            challenge: Some(challenge),
            ..self
        }
    }

    async fn check(&self, app: &Alone) {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let (method, path) = self.asked;
        let body = self
            .body
            .as_ref()
            .filter(|body| !body.is_null())
            .map(Value::to_string);
        let answer = app.anon().send(method, path, &headers, body).await;
        let shown = format!("{method} {path}: {answer:?}");

        assert_eq!(answer.status, self.status, "{shown}");
        assert_eq!(answer.json(), self.answer, "{shown}");
        let code = self.answer["code"].as_str().expect("a code");
        assert_eq!(
            answer.header("proxy-status"),
            Some(format!("PostgREST; error={code}").as_str()),
            "{shown}"
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/json; charset=utf-8"),
            "{shown}"
        );
        assert_eq!(answer.header("www-authenticate"), self.challenge, "{shown}");
        assert_eq!(
            answer.header("content-length"),
            Some(answer.text.len().to_string().as_str()),
            "{shown}"
        );
        for absent in [
            "vary",
            "content-range",
            "content-profile",
            "preference-applied",
            "server-timing",
        ] {
            assert_eq!(answer.header(absent), None, "{shown}");
        }
        if method == "GET" {
            self.check_head(app, &headers, &answer).await;
        }
    }

    /// HEAD says the same without a body.
    async fn check_head(&self, app: &Alone, headers: &[(&str, &str)], get: &Answer) {
        let head = app.anon().send("HEAD", self.asked.1, headers, None).await;
        assert_eq!(
            (head.status, head.text.as_str()),
            (get.status, ""),
            "HEAD {}",
            self.asked.1
        );
        for name in ["proxy-status", "content-type", "www-authenticate"] {
            assert_eq!(head.header(name), get.header(name), "HEAD {}", self.asked.1);
        }
    }
}

fn bad_requests() -> Vec<Case> {
    let malformed = |message: &str| error("PGRST102", message, NONE, NONE);
    vec![
        Case::get(
            "/books?id=1",
            400,
            error(
                "PGRST100",
                "\"failed to parse filter (1)\" (line 1, column 1)",
                "unexpected \"1\" expecting \"not\" or operator (eq, gt, ...)",
                NONE,
            ),
        ),
        Case::of(
            "PATCH",
            "/rpc/add",
            json!({}),
            405,
            error("PGRST101", "Cannot use the PATCH method on RPC", NONE, NONE),
        ),
        Case::of(
            "POST",
            "/books",
            json!([{"id": 1}, {"title": "x"}]),
            400,
            malformed("All object keys must match"),
        ),
        Case::of(
            "POST",
            "/books",
            json!({}),
            400,
            malformed("Content-Type not acceptable: application/xml"),
        )
        .with("content-type", "application/xml"),
        Case::get(
            "/books?limit=-1",
            416,
            error(
                "PGRST103",
                "Requested range not satisfiable",
                "Limit should be greater than or equal to zero.",
                NONE,
            ),
        ),
        Case::of(
            "PUT",
            "/books?title=eq.x",
            json!({"id": 1}),
            405,
            error(
                "PGRST105",
                "Filters must include all and only primary key columns with 'eq' operators",
                NONE,
                NONE,
            ),
        ),
        Case::get(
            "/books",
            406,
            error(
                "PGRST106",
                "Invalid schema: hidden",
                NONE,
                "Only the following schemas are exposed: public",
            ),
        )
        .with("accept-profile", "hidden"),
        Case::get(
            "/books",
            406,
            error(
                "PGRST107",
                "None of these media types are available: application/xml, image/png",
                NONE,
                NONE,
            ),
        )
        .with("accept", "application/xml, image/png"),
        Case::get(
            "/books?authors.id=eq.1",
            400,
            error(
                "PGRST108",
                "'authors' is not an embedded resource in this request",
                NONE,
                "Verify that 'authors' is included in the 'select' query parameter.",
            ),
        ),
        Case::of(
            "PUT",
            "/books?id=eq.1&limit=1",
            json!({"id": 1}),
            400,
            error(
                "PGRST114",
                "limit/offset querystring parameters are not allowed for PUT",
                NONE,
                NONE,
            ),
        ),
        Case::of(
            "PUT",
            "/books?id=eq.1",
            json!({"id": 2}),
            400,
            error(
                "PGRST115",
                "Payload values do not match URL in primary key column(s)",
                NONE,
                NONE,
            ),
        ),
        Case::get(
            "/books",
            406,
            error(
                "PGRST116",
                "Cannot coerce the result to a single JSON object",
                "The result contains 2 rows",
                NONE,
            ),
        )
        .with("accept", "application/vnd.pgrst.object+json"),
        Case::of(
            "TRACE",
            "/books",
            NONE,
            405,
            error("PGRST117", "Unsupported HTTP method: TRACE", NONE, NONE),
        ),
        Case::get(
            "/authors?select=id,books!books_author_id_fkey(id)&order=books(id)",
            400,
            error(
                "PGRST118",
                "A related order on 'books' is not possible",
                "'authors' and 'books' do not form a many-to-one or one-to-one relationship",
                NONE,
            ),
        ),
    ]
}

fn refused_wishes() -> Vec<Case> {
    vec![
        Case::get(
            "/books",
            400,
            error(
                "PGRST122",
                "Invalid preferences given with handling=strict",
                "Invalid preferences: a=b, c",
                NONE,
            ),
        )
        .with("prefer", "handling=strict, a=b, count=exact, c"),
        Case::get(
            "/books?select=id.sum()",
            400,
            error("PGRST123", "Use of aggregate functions is not allowed", NONE, NONE),
        ),
        Case::of(
            "DELETE",
            "/books",
            NONE,
            400,
            error(
                "PGRST124",
                "Query result exceeds max-affected preference constraint",
                "The query affects 2 rows",
                NONE,
            ),
        )
        .with("prefer", "handling=strict, max-affected=1"),
        Case::get("/books/1", 404, error("PGRST125", "Invalid path specified in request URL", NONE, NONE)),
        Case::of(
            "POST",
            "/rpc/add",
            json!({"a": 1, "b": 2}),
            400,
            error(
                "PGRST128",
                "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
                NONE,
                NONE,
            ),
        )
        .with("prefer", "handling=strict, max-affected=1"),
    ]
}

fn answers_of_functions() -> Vec<Case> {
    let headers =
        "response.headers guc must be a JSON array composed of objects with a single key and a string value";
    let answer = |headers: &str, status: &str| json!({"headers": headers, "status": status});
    let raise =
        |message: &str, detail: Option<&str>| json!({"code": "PGRST", "message": message, "detail": detail});
    let unparsable = |details: &str, hint: &str| {
        error(
            "PGRST121",
            "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
            details,
            hint,
        )
    };
    let of_message = "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
    let of_detail = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";
    let good = r#"{"code":"X1","message":"m"}"#;
    let mut cases = vec![
        Case::of(
            "POST",
            "/rpc/answer",
            answer("[]", "no status"),
            500,
            error(
                "PGRST112",
                "response.status guc must be a valid status code",
                NONE,
                NONE,
            ),
        ),
        Case::of(
            "POST",
            "/rpc/raise",
            raise("x", None),
            500,
            unparsable("Invalid JSON value for MESSAGE: 'x'", of_message),
        ),
        Case::of(
            "POST",
            "/rpc/raise",
            raise(r#"{"code":"X1"}"#, Some("{}")),
            500,
            unparsable(r#"Invalid JSON value for MESSAGE: '{"code":"X1"}'"#, of_message),
        ),
        Case::of(
            "POST",
            "/rpc/raise",
            raise(good, None),
            500,
            unparsable("DETAIL is missing in the RAISE statement", of_detail),
        ),
        Case::of(
            "POST",
            "/rpc/raise",
            raise(good, Some(r#"{"status":402}"#)),
            500,
            unparsable(r#"Invalid JSON value for DETAIL: '{"status":402}'"#, of_detail),
        ),
    ];
    for wrong in [
        "{}",
        "[1]",
        r#"[{"A":1}]"#,
        r#"[{"A":"b","C":"d"}]"#,
        r#"[{}]"#,
        "nonsense",
        r#"[{"bad name":"x"}]"#,
    ] {
        let refused = error("PGRST111", headers, NONE, NONE);
        cases.push(Case::of(
            "POST",
            "/rpc/answer",
            answer(wrong, "200"),
            500,
            refused,
        ));
    }
    cases
}

fn unknown_names() -> Vec<Case> {
    let of_key = |column: &str| {
        json!({
            "cardinality": "many-to-one",
            "embedding": "books with authors",
            "relationship": format!("books_{column}_fkey using books({column}) and authors(id)"),
        })
    };
    vec![
        Case::get(
            "/books?select=id,autors!books_author_id_fkey(id)",
            400,
            error(
                "PGRST200",
                "Could not find a relationship between 'books' and 'autors' in the schema cache",
                "Searched for a foreign key relationship between 'books' and 'autors' using the hint \
                 'books_author_id_fkey' in the schema 'public', but no matches were found.",
                "Perhaps you meant 'authors' instead of 'autors'.",
            ),
        ),
        Case::get(
            "/books?select=id,authors(id)",
            300,
            error(
                "PGRST201",
                "Could not embed because more than one relationship was found for 'books' and 'authors'",
                json!([of_key("author_id"), of_key("editor_id")]),
                "Try changing 'authors' to one of the following: 'authors!books_author_id_fkey', \
                 'authors!books_editor_id_fkey'. Find the desired relationship in the 'details' key.",
            ),
        ),
        Case::of(
            "POST",
            "/rpc/add",
            json!({"c": 1, "a": 2}),
            404,
            error(
                "PGRST202",
                "Could not find the function public.add(a, c) in the schema cache",
                "Searched for the function public.add with parameters a, c or with a single unnamed json/jsonb \
                 parameter, but no matches were found in the schema cache.",
                "Perhaps you meant to call the function public.add(a, b)",
            ),
        ),
        Case::get(
            "/rpc/pick?a=1",
            300,
            error(
                "PGRST203",
                "Could not choose the best candidate function between: public.pick(a => integer), public.pick(a => text)",
                NONE,
                "Try renaming the parameters or the function itself in the database so function overloading can be \
                 resolved",
            ),
        ),
        Case::of(
            "POST",
            "/books",
            json!({"colour": "red"}),
            400,
            error(
                "PGRST204",
                "Could not find the 'colour' column of 'books' in the schema cache",
                NONE,
                NONE,
            ),
        ),
        Case::get(
            "/boks",
            404,
            error(
                "PGRST205",
                "Could not find the table 'public.boks' in the schema cache",
                NONE,
                "Perhaps you meant the table 'public.books'",
            ),
        ),
    ]
}

fn callers(app: &Alone) -> Vec<Case> {
    const INVALID: &str =
        "Bearer error=\"invalid_token\", error_description=\"No suitable key or wrong key type\"";
    let bearer = |claims: Value| format!("Bearer {}", app.with_claims(&claims).token.expect("a token"));
    let refused = |message: &str, header: String, challenge: &'static str| {
        Case::get("/books", 401, error("PGRST303", message, NONE, NONE))
            .with("authorization", header)
            .challenged(challenge)
    };
    let good = bearer(json!({"role": "anon"}));
    let (unsigned, _) = good.rsplit_once('.').expect("three parts");
    vec![
        Case::get(
            "/books",
            401,
            error(
                "PGRST301",
                "Empty JWT is sent in Authorization header",
                NONE,
                NONE,
            ),
        )
        .with("authorization", "Bearer ")
        .challenged(
            "Bearer error=\"invalid_token\", error_description=\"Empty JWT is sent in Authorization header\"",
        ),
        Case::get(
            "/books",
            401,
            error("PGRST301", "Expected 3 parts in JWT; got 2", NONE, NONE),
        )
        .with("authorization", "bearer a.b")
        .challenged("Bearer error=\"invalid_token\", error_description=\"Expected 3 parts in JWT; got 2\""),
        Case::get(
            "/books",
            401,
            error(
                "PGRST301",
                "No suitable key or wrong key type",
                "None of the keys was able to decode the JWT",
                NONE,
            ),
        )
        .with("authorization", format!("{unsigned}.{}", "A".repeat(43)))
        .challenged(INVALID),
        refused(
            "JWT expired",
            bearer(json!({"role": "anon", "exp": 1})),
            "Bearer error=\"invalid_token\", error_description=\"JWT expired\"",
        ),
        refused(
            "JWT not yet valid",
            bearer(json!({"role": "anon", "nbf": 9_999_999_999_u64})),
            "Bearer error=\"invalid_token\", error_description=\"JWT not yet valid\"",
        ),
        refused(
            "JWT issued at future",
            bearer(json!({"role": "anon", "iat": 9_999_999_999_u64})),
            "Bearer error=\"invalid_token\", error_description=\"JWT issued at future\"",
        ),
        refused(
            "The JWT 'exp' claim must be a number",
            bearer(json!({"role": "anon", "exp": "soon"})),
            "Bearer error=\"invalid_token\", error_description=\"The JWT 'exp' claim must be a number\"",
        ),
        refused(
            "The JWT 'aud' claim must be a string or an array of strings",
            bearer(json!({"role": "anon", "aud": [1]})),
            "Bearer error=\"invalid_token\", \
             error_description=\"The JWT 'aud' claim must be a string or an array of strings\"",
        ),
        // what PostgreSQL says about the role
        Case::get(
            "/books",
            401,
            error("22023", "role \"nobody_here\" does not exist", NONE, NONE),
        )
        .with("authorization", bearer(json!({"role": "nobody_here"})))
        .challenged("Bearer"),
        Case::get(
            "/hidden",
            401,
            error("42501", "permission denied for table hidden", NONE, NONE),
        )
        .challenged("Bearer"),
        Case::get(
            "/hidden",
            403,
            error("42501", "permission denied for table hidden", NONE, NONE),
        )
        .with("authorization", bearer(json!({"role": "authenticated"}))),
    ]
}

#[actix_web::test]
async fn rest_077_every_code_has_its_status_body_and_headers() {
    let app = Start::on(LIBRARY).run().await;
    let cases = [
        bad_requests(),
        refused_wishes(),
        answers_of_functions(),
        unknown_names(),
        callers(&app),
    ];

    for case in cases.into_iter().flatten() {
        case.check(&app).await;
    }

    // the one that is a normal response with an error for its body
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
        error(
            "PGRST103",
            "Requested range not satisfiable",
            "An offset of 9 was requested, but there are only 2 rows.",
            NONE
        )
    );
    // nothing was written by what was refused
    let books = app.anon().get("/books?select=id&order=id").await;
    assert_eq!(books.json(), json!([{"id": 1}, {"id": 2}]));
}

#[actix_web::test]
async fn rest_077_codes_of_other_configurations_have_theirs_too() {
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
            error("PGRST302", "Anonymous access is disabled", NONE, NONE),
        )
        .challenged("Bearer"),
        Case::get(
            "/books",
            401,
            error("PGRST303", "JWT not in audience", NONE, NONE),
        )
        .with(
            "authorization",
            bearer(json!({"role": "authenticated", "aud": ["them"]})),
        )
        .challenged("Bearer error=\"invalid_token\", error_description=\"JWT not in audience\""),
        Case::get(
            "/",
            404,
            error("PGRST126", "Root endpoint metadata is disabled", NONE, NONE),
        )
        .with("authorization", anybody.clone()),
        Case::get(
            "/authors?select=name,...books!books_author_id_fkey(id.sum())",
            400,
            error(
                "PGRST127",
                "Feature not implemented",
                "Aggregates are not implemented for one-to-many or many-to-many spreads.",
                NONE,
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
        error("PGRST300", "Server lacks JWT secret", NONE, NONE),
    )
    .with("authorization", "Bearer a.b.c")
    .check(&app)
    .await;
}

/// The status line as it stands on the wire; HTTP clients hide it.
async fn status_line(app: &Alone, path: &str, body: &str) -> String {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = app.raw(request.as_bytes()).await;
    answer.split("\r\n").next().unwrap_or_default().to_owned()
}

#[actix_web::test]
async fn rest_075_statuses_without_a_phrase_of_their_own_get_none_and_503_says_when_to_come_back() {
    let app = Start::on(LIBRARY).run().await;
    let answered = |status: &'static str| {
        let client = app.anon();
        async move {
            let body = json!({"headers": "[]", "status": status});
            client.post("/rpc/answer", &body).await
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

    let phrase = status_line(&app, "/rpc/answer", r#"{"headers":"[]","status":"299"}"#).await;
    assert_eq!(phrase, "HTTP/1.1 299 ");
    let phrase = status_line(
        &app,
        "/rpc/raise",
        r#"{"code":"PTXYZ","message":"no number","detail":"d"}"#,
    )
    .await;
    assert_eq!(phrase, "HTTP/1.1 500 Internal Server Error");
}
