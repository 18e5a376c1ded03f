//! The catalog is sent once per change, and single objects are described.

use serde_json::Value;

use super::support::TestConsole;

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
async fn console_032_a_change_is_seen_when_its_transaction_ends_and_rows_are_no_change() {
    let console = TestConsole::start().await;
    console.sql("create table notes (id int primary key)").await;
    let etag = async || {
        let response = console.get("/api/catalog").send().await.expect("a response");
        response.headers()["etag"].to_str().expect("text").to_owned()
    };
    let first = etag().await;

    console.sql("insert into notes values (1)").await;
    assert_eq!(etag().await, first, "a row is no change of the catalog");

    let other = console.database.superuser().await;
    let alter = "begin; alter table notes rename column id to key";
    other.batch_execute(alter).await.expect("an open transaction");
    assert_eq!(
        etag().await,
        first,
        "nobody sees a transaction that has not ended"
    );
    other.batch_execute("commit").await.expect("a commit");
    assert_ne!(
        etag().await,
        first,
        "the change is there as soon as the transaction is over"
    );
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

#[tokio::test]
async fn console_005_the_catalog_lists_each_levels_privileges() {
    let console = TestConsole::start().await;
    console.sql("create table own (id int)").await;
    let superuser = console.database.superuser().await;
    superuser
        .batch_execute(
            "create table kept (id int, body text);
             revoke all on kept from public, anon, authenticated, service_role, postgres;
             grant select, insert (body) on kept to postgres",
        )
        .await
        .expect("a table of somebody else");
    let rights = |catalog: &Value, schema: &str, table: &str| {
        let tables = &catalog["tables"];
        let names = tables["name"].as_array().expect("a list");
        let index = (0..names.len())
            .find(|index| names[*index] == table && tables["schema"][*index] == schema)
            .expect("a table");
        tables["rights"][index].as_str().expect("text").to_owned()
    };
    let read = async |console: &TestConsole| -> Value {
        let response = console.get("/api/catalog").send().await.expect("a response");
        response.json().await.expect("JSON")
    };
    let catalog = read(&console).await;
    assert_eq!(rights(&catalog, "public", "own"), "iudo");
    assert_eq!(rights(&catalog, "public", "kept"), "i");
    assert_eq!(rights(&catalog, "selvedge_console", "selvedge_audit"), "");
    let is_member = |name: &str| {
        let roles = catalog["roles"].as_array().expect("a list");
        let role = roles.iter().find(|role| role["name"] == name).expect("a role");
        role["member"].as_bool().expect("true or false")
    };
    assert!(is_member("postgres") && is_member("service_role") && !is_member("supabase_admin"));
    superuser
        .batch_execute("grant update, delete on kept to postgres")
        .await
        .expect("further rights");
    assert_eq!(
        rights(&read(&console).await, "public", "kept"),
        "iud",
        "asked anew"
    );

    let viewers = TestConsole::start_for_viewers().await;
    viewers.sql("create table own (id int)").await;
    assert_eq!(rights(&read(&viewers).await, "public", "own"), "");
}
