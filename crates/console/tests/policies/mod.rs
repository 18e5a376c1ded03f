//! Access matrix, simulator, advisors, slow queries and sizes over HTTP on a real PostgreSQL.

mod console;

use reqwest::Method;
use serde_json::{Value, json};

use console::ConsoleWithUsers;

const ANA: &str = "11111111-1111-4111-8111-111111111111";

#[actix_web::test]
async fn console_080_access_and_simulator_answer_over_http() {
    let console = ConsoleWithUsers::start(false).await;
    console
        .sql(&format!(
            "create table notes (id int primary key, owner uuid, team text);
             alter table notes enable row level security;
             insert into notes values (1, '{ANA}', null), (2, null, 'red'), (3, null, null);
             create policy own on notes to authenticated using (owner = auth.uid());
             create policy team on notes for select using (team = auth.jwt() ->> 'team')"
        ))
        .await;
    let table = console.oid("notes").await;

    let matrix = console.get("/api/access").await;
    let tables = matrix["tables"].as_array().expect("tables");
    let notes = tables
        .iter()
        .find(|found| found["oid"] == table)
        .expect("the table");
    assert_eq!(notes["cells"]["anon"]["select"], "policy");
    assert_eq!(notes["cells"]["anon"]["insert"], "none");

    let request = json!({"kind": "verb", "verb": "select", "table": table});
    let report = console
        .simulate(json!({"subject": {"kind": "user", "id": ANA}, "request": request}))
        .await;
    let allowed: Vec<_> = report["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| &row["allowed"])
        .collect();
    assert_eq!(json!(allowed), json!([true, true, false]));
    assert_eq!(
        (&report["agrees"], &report["subject"]["claims"]["team"]),
        (&json!(true), &json!("red"))
    );

    let claims = json!({"kind": "claims", "claims": {"team": "red"}});
    let report = console
        .simulate(json!({"subject": claims, "request": request}))
        .await;
    assert_eq!(
        (&report["subject"]["role"], &report["truth"]["count"]),
        (&json!("anon"), &json!(1))
    );

    for (subject, request, status) in [
        (json!({"kind": "admin"}), request.clone(), 422),
        (
            json!({"kind": "anon"}),
            json!({"kind": "verb", "verb": "select", "table": "1"}),
            404,
        ),
        (
            json!({"kind": "claims", "claims": {"role": "nobody"}}),
            request.clone(),
            422,
        ),
        (
            json!({"kind": "claims", "claims": {"role": "postgres"}}),
            request,
            403,
        ),
    ] {
        let body = json!({"subject": subject, "request": request});
        let (answered, error) = console.send(Method::POST, "/api/simulate", Some(&body)).await;
        assert_eq!(answered, status, "{body} {error}");
    }
}

#[actix_web::test]
async fn console_083_a_write_is_rolled_back_and_in_the_audit_and_viewers_run_nothing() {
    let console = ConsoleWithUsers::start(false).await;
    console
        .sql("create table t (id int primary key); alter table t enable row level security; create policy p on t using (true)")
        .await;
    let table = console.oid("t").await;
    let insert = json!({"kind": "verb", "verb": "insert", "table": table, "values": {"id": "7"}});
    let anon = json!({"kind": "anon"});

    let report = console
        .simulate(json!({"subject": anon, "request": insert}))
        .await;

    assert_eq!(
        (&report["truth"]["count"], &report["agrees"]),
        (&json!(1), &json!(true))
    );
    let select = json!({"kind": "verb", "verb": "select", "table": table});
    let report = console
        .simulate(json!({"subject": {"kind": "service_role"}, "request": select}))
        .await;
    assert_eq!(report["truth"]["count"], 0);
    let audit = console.get("/api/audit?action=policies.simulate").await;
    assert_eq!(audit["entries"].as_array().map(Vec::len), Some(1));

    let viewers = ConsoleWithUsers::start(true).await;
    viewers
        .sql("create table t (id int primary key); insert into t values (1); alter table t enable row level security; create policy p on t using (true)")
        .await;
    let select = json!({"kind": "verb", "verb": "select", "table": viewers.oid("t").await});
    let report = viewers
        .simulate(json!({"subject": anon, "request": select}))
        .await;
    assert_eq!(
        (&report["rows"][0]["allowed"], &report["truth"]),
        (&json!(true), &Value::Null)
    );
    let text = json!({"subject": anon, "request": {"kind": "sql", "text": "select 1"}});
    let (status, _) = viewers.send(Method::POST, "/api/simulate", Some(&text)).await;
    assert_eq!(status, 422);
}

#[actix_web::test]
async fn console_042_findings_are_listed_muted_and_shown_again() {
    let console = ConsoleWithUsers::start(false).await;
    console
        .sql("create table open_table (id int primary key); grant select on open_table to anon")
        .await;
    let key = "rls_disabled_in_public:public.open_table:";

    let body = console.get("/api/advisors").await;
    assert_eq!(
        (&body["findings"][0]["key"], &body["findings"][0]["level"]),
        (&json!(key), &json!("error"))
    );
    assert_eq!(body["muted"], json!([]));

    let path = format!("/api/advisors/muted/{key}");
    assert_eq!(console.send(Method::PUT, &path, None).await.0, 204);
    assert_eq!(console.get("/api/advisors").await["muted"], json!([key]));
    assert_eq!(console.send(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(console.get("/api/advisors").await["muted"], json!([]));

    console.sql("alter table open_table enable row level security; create policy p on open_table for select using (id = 1)").await;
    assert_eq!(console.get("/api/advisors").await["findings"], json!([]));
}

#[actix_web::test]
async fn console_041_slow_queries_are_listed_or_their_remedy_is_named() {
    let console = ConsoleWithUsers::start(false).await;

    let client = console.database.superuser().await;
    let example = "create extension if not exists pg_stat_statements with schema extensions; select 41 + 1";
    client.batch_execute(example).await.expect("the extension");
    // PostgreSQL keeps the texts of such statements with everything that is in them.
    let secret = "create role console_slow password 'kept-to-itself'; drop role console_slow";
    client.batch_execute(secret).await.expect("a superuser");
    for order in ["total", "mean", "calls"] {
        let body = console.get(&format!("/api/slow-queries?order={order}")).await;
        assert_eq!(body["available"], true);
        assert!(body["queries"][0]["calls"].as_i64() > Some(0), "{body}");
        assert!(!body.to_string().contains("kept-to-itself"), "{body}");
    }

    let drop = "drop extension pg_stat_statements";
    client.batch_execute(drop).await.expect("it is not needed");
    let missing = console.get("/api/slow-queries").await;
    assert_eq!(
        (&missing["available"], &missing["queries"]),
        (&json!(false), &json!([]))
    );
    assert!(missing["remedy"].to_string().contains("create extension"));
    let (status, _) = console
        .send(Method::GET, "/api/slow-queries?order=name", None)
        .await;
    assert_eq!(status, 422);

    let sizes = console.get("/api/sizes").await;
    assert!(sizes["database_bytes"].as_i64() > Some(0) && sizes["storage_bytes"] == 0);
    let largest = &sizes["tables"][0];
    assert!(largest["bytes"].as_i64() > Some(0), "{sizes}");
}
