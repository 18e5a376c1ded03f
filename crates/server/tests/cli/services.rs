//! The services behind their prefixes in a running project: keys, CORS, mail, buckets, catalog reload.

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};

use crate::support::{Project, Running};

const MIGRATION: &str = "
    create table notes (id int primary key, body text not null, is_public boolean not null);
    alter table notes enable row level security;
    create policy \"public notes\" on notes for select to anon using (is_public);
";
const SEED: &str = "insert into notes values (1, 'for all', true), (2, 'for few', false);";

async fn project_with_notes() -> (Project, Running) {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    project.write("seed.sql", SEED);
    let running = project.start().await;
    (project, running)
}

async fn send(running: &Running, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = headers.iter().fold(
        Client::new().request(method, running.url(path)),
        |request, (name, value)| request.header(*name, *value),
    );
    request.send().await.expect("a response")
}

/// The number of notes that a request with these headers returns.
async fn count_notes(running: &Running, path: &str, headers: &[(&str, &str)]) -> usize {
    let response = send(running, Method::GET, path, headers).await;
    let body: Value = response.json().await.expect("JSON");
    body.as_array().unwrap_or_else(|| panic!("{body}")).len()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_002_well_known_keys_select_their_roles_in_header_and_query() {
    let (project, running) = project_with_notes().await;
    let keys: Value =
        serde_json::from_str(&project.run_and_expect_success(&["status", "-o", "json"])).unwrap();
    let key = |name: &str| keys[name].as_str().unwrap().to_owned();

    for (name, expected) in [
        ("ANON_KEY", 1),
        ("PUBLISHABLE_KEY", 1),
        ("SERVICE_ROLE_KEY", 2),
        ("SECRET_KEY", 2),
    ] {
        let value = key(name);
        let bearer = format!("Bearer {value}");
        assert_eq!(
            count_notes(&running, "/rest/v1/notes", &[("apikey", &value)]).await,
            expected,
            "{name}"
        );
        assert_eq!(
            count_notes(
                &running,
                "/rest/v1/notes",
                &[("apikey", &value), ("authorization", &bearer)]
            )
            .await,
            expected
        );
        let path = format!("/rest/v1/notes?select=id&apikey={value}");
        assert_eq!(
            count_notes(&running, &path, &[]).await,
            expected,
            "{name} in the query"
        );
    }
    assert_eq!(
        count_notes(&running, "/rest/v1/notes", &[]).await,
        1,
        "without a key: anon, as with the CLI"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_007_and_008_responses_have_cors_headers_and_a_request_id_and_preflights_pass() {
    let (_project, running) = project_with_notes().await;

    for path in [
        "/rest/v1/notes",
        "/rest/v1/nothing",
        "/auth/v1/settings",
        "/storage/v1/bucket",
        "/functions/v1/x",
        "/nothing",
        "/health",
    ] {
        let response = send(
            &running,
            Method::GET,
            path,
            &[("origin", "http://localhost:3000")],
        )
        .await;
        assert_eq!(response.headers()["access-control-allow-origin"], "*", "{path}");
        assert!(response.headers().contains_key("x-request-id"), "{path}");

        let preflight = [
            ("origin", "http://localhost:3000"),
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "apikey,x-new-header"),
        ];
        let response = send(&running, Method::OPTIONS, path, &preflight).await;
        assert!(response.status().is_success(), "{path}");
        assert_eq!(
            response.headers()["access-control-allow-headers"],
            "apikey,x-new-header",
            "{path}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_020_tables_created_in_psql_are_served_without_a_restart() {
    let (project, running) = project_with_notes().await;

    project
        .database()
        .await
        .batch_execute("create table late as select 1 as n")
        .await
        .unwrap();

    // The catalog is reloaded when PostgreSQL's notification arrives, shortly after the statement.
    for _ in 0..3000 {
        if running.get("/rest/v1/late").await == (200, json!([{ "n": 1 }])) {
            return;
        }
        actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the new table is not served");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_034_auth_mail_arrives_in_the_inbox_and_its_link_works_without_a_key() {
    let project = Project::new();
    project.write("config.toml", "[auth.email]\nenable_confirmations = true\n");
    let running = project.start().await;
    let inbox = format!("http://127.0.0.1:{}", project.ports.inbox);
    let account = json!({ "email": "ana@example.com", "password": "correct horse battery" });

    let signup = Client::new()
        .post(running.url("/auth/v1/signup"))
        .json(&account)
        .send()
        .await
        .unwrap();
    assert_eq!(signup.status(), 200);

    let list: Value = reqwest::get(format!("{inbox}/api/v1/messages"))
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let id = list["messages"][0]["ID"].as_str().unwrap();
    let mail: Value = reqwest::get(format!("{inbox}/api/v1/message/{id}"))
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let text = mail["Text"].as_str().unwrap();
    let start = text
        .find(&running.url("/auth/v1/verify"))
        .unwrap_or_else(|| panic!("no link in: {text}"));
    let link = text[start..].split_whitespace().next().unwrap();
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let confirmed = client.get(link).send().await.unwrap();
    assert_eq!(confirmed.status(), 303);
    let signed_in = Client::new()
        .post(running.url("/auth/v1/token?grant_type=password"))
        .json(&account)
        .send()
        .await
        .unwrap();
    assert_eq!(signed_in.status(), 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_027_configured_buckets_contain_their_files_after_the_first_start() {
    let project = Project::new();
    project.write(
        "config.toml",
        "[storage.buckets.pictures]\npublic = true\nobjects_path = \"./pictures\"\n",
    );
    project.write("pictures/deep/one.txt", "a picture");

    let running = project.start().await;

    let object = reqwest::get(running.url("/storage/v1/object/public/pictures/deep/one.txt"))
        .await
        .unwrap();
    assert_eq!(object.status(), 200);
    assert_eq!(object.text().await.unwrap(), "a picture");
    assert!(
        running.output().contains("1 bucket, 1 object"),
        "{}",
        running.output()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_028_switched_off_services_have_no_route() {
    let project = Project::new();
    project.write(
        "config.toml",
        "[auth]\nenabled = false\n[storage]\nenabled = false\n[inbucket]\nenabled = false\n",
    );
    let running = project.start().await;

    for path in ["/auth/v1/settings", "/storage/v1/bucket"] {
        let (status, body) = running.get(path).await;
        assert_eq!(
            (status, body["message"].as_str()),
            (404, Some("no Route matched with those values"))
        );
    }
    assert_eq!(running.get("/rest/v1/").await.0, 200);
    assert!(
        reqwest::get(format!("http://127.0.0.1:{}/", project.ports.inbox))
            .await
            .is_err()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn slow_statements_are_logged_with_their_sql_and_without_values() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_nap.sql",
        "create function nap(seconds float8, secret text) returns void language sql
           as 'select pg_sleep(seconds)';",
    );
    let limit = [("SELVEDGE_LIMITS_SLOW_QUERY", "200ms")];
    let running = project.spawn(&project.start_arguments(), &limit);
    running.wait_until_ready().await;

    for seconds in ["0", "0.3"] {
        let path = format!("/rest/v1/rpc/nap?seconds={seconds}&secret=hunter2");
        assert_eq!(running.get(&path).await.0, 204);
    }

    let log = running.stop();
    let slow: Vec<&str> = log.lines().filter(|line| line.contains("slow query")).collect();
    assert_eq!(slow.len(), 1, "{log}");
    assert!(slow[0].contains("nap") && slow[0].contains("/rpc/nap"), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_002_pg_answers_the_service_role_alone_with_the_rights_of_postgres() {
    let (project, running) = project_with_notes().await;
    let keys: Value =
        serde_json::from_str(&project.run_and_expect_success(&["status", "-o", "json"])).unwrap();
    let key = |name: &str| keys[name].as_str().unwrap().to_owned();
    let (anon, service) = (key("ANON_KEY"), key("SERVICE_ROLE_KEY"));
    let signed_up: Value = Client::new()
        .post(running.url("/auth/v1/signup"))
        .header("apikey", &anon)
        .json(&json!({ "email": "ada@example.com", "password": "correct horse" }))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let user = format!("Bearer {}", signed_up["access_token"].as_str().unwrap());
    // The signature of the service key on other claims.
    let forged = format!("Bearer {}", service.replacen('.', ".e30", 1));

    let refused: [&[(&str, &str)]; 5] = [
        &[],
        &[("apikey", &anon)],
        &[("apikey", &anon), ("authorization", &user)],
        &[("apikey", &service), ("authorization", &user)],
        &[("apikey", &service), ("authorization", &forged)],
    ];
    for headers in refused {
        // The same route in letters that the router decodes.
        for path in ["/pg/tables", "/%70g/tables", "/p%67/%74ables", "/%70%67/query"] {
            let response = send(&running, Method::GET, path, headers).await;
            assert_eq!(response.status(), 403, "{path} {headers:?}");
        }
        for path in ["//pg/tables", "/pg%2ftables", "/PG/tables", "/pg;/tables"] {
            let response = send(&running, Method::GET, path, headers).await;
            assert_eq!(response.status(), 404, "{path} {headers:?}");
        }
    }
    for name in ["SERVICE_ROLE_KEY", "SECRET_KEY"] {
        let value = key(name);
        let headers = [("apikey", value.as_str())];
        let path = "/pg/tables?included_schemas=public";
        let tables: Value = send(&running, Method::GET, path, &headers)
            .await
            .json()
            .await
            .unwrap();
        assert_eq!(tables[0]["name"], "notes", "{name}");
    }
    let response = Client::new()
        .post(running.url("/pg/query"))
        .header("apikey", &service)
        .json(&json!({ "query": "select current_user::text as who; select count(*)::int as notes, current_user::text as who from notes" }))
        .send()
        .await
        .unwrap();
    let rows: Value = response.json().await.unwrap();
    assert_eq!(rows, json!([{ "notes": 2, "who": "postgres" }]));
}
