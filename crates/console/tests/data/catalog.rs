//! The catalog is sent once per change, and single objects are described.

use serde_json::Value;

use crate::support::TestConsole;

#[tokio::test]
async fn console_032_the_catalog_is_sent_once_per_change() {
    let console = TestConsole::start().await;
    console
        .sql("create table notes (id int primary key, body text)")
        .await;

    let first = console.get("/api/catalog").send().await.expect("a response");
    let etag = first.headers()["etag"].to_str().expect("text").to_owned();
    let catalog: Value = first.json().await.expect("JSON");
    let tables: Vec<&str> = catalog["tables"]["name"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(tables.contains(&"notes"), "{tables:?}");

    let same = console
        .get("/api/catalog")
        .header("if-none-match", &etag)
        .send()
        .await
        .expect("a response");
    assert_eq!(same.status(), 304);
    console.sql("alter table notes add column title text").await;
    let changed = console
        .get("/api/catalog")
        .header("if-none-match", &etag)
        .send()
        .await
        .expect("a response");
    assert_eq!(changed.status(), 200);
    let compressed = console
        .get("/api/catalog")
        .header("accept-encoding", "br")
        .send()
        .await
        .expect("a response");
    assert_eq!(compressed.headers()["content-encoding"], "br");
}

#[tokio::test]
async fn console_070_objects_are_listed_and_described() {
    let console = TestConsole::start().await;
    console
        .sql("create table notes (id int primary key); create view recent as select * from notes")
        .await;
    let oid = console.oid("notes").await;

    let list: Value = console
        .get("/api/objects/views?schema=public")
        .send()
        .await
        .expect("a response")
        .json()
        .await
        .expect("JSON");
    assert_eq!(list["objects"][0]["name"], "recent");
    let table: Value = console
        .get(&format!("/api/objects/tables/{oid}"))
        .send()
        .await
        .expect("a response")
        .json()
        .await
        .expect("JSON");
    assert!(
        table["definition"]
            .as_str()
            .expect("SQL")
            .starts_with("create table public.notes"),
        "{table}"
    );
    assert!(
        table["dependants"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|one| one["name"] == "public.recent"),
        "{table}"
    );
    for missing in [
        "/api/objects/nothing",
        "/api/objects/tables/1",
        "/api/objects/tables/x'",
    ] {
        let response = console.get(missing).send().await.expect("a response");
        assert_eq!(response.status(), 404, "{missing}");
    }
}
