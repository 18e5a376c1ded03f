//! Both ways to list.

use serde_json::{Value, json};

use crate::support::TestApp;

async fn app_with_objects(keys: &[&str]) -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    for key in keys {
        app.service_role().upload(&format!("b/{key}"), key).await.ok();
    }
    app
}

#[actix_web::test]
async fn store_021_one_level_with_folders_as_rows_without_id() {
    let app = app_with_objects(&["a.txt", "docs/one.txt", "docs/sub/deep.txt"]).await;

    let rows = app.service_role().list("b", "docs").await.ok().json();

    assert_eq!(rows[0]["name"], "one.txt");
    assert_eq!(rows[0]["metadata"]["size"], json!(12));
    let folder = json!({"name": "sub", "id": null, "updated_at": null, "created_at": null, "last_accessed_at": null, "metadata": null});
    assert_eq!(rows[1], folder);
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
}

#[actix_web::test]
async fn store_022_pages_have_no_gaps_and_no_repeats() {
    let app = app_with_objects(&["B", "a", "c/1", "c/2", "d", "E/x", "f"]).await;
    let page = async |body: Value| app.service_role().post("/object/list/b", body).await.ok().names();

    let whole = page(json!({"prefix": ""})).await;
    let mut paged = Vec::new();
    for offset in [0, 2, 4, 6] {
        paged.extend(page(json!({"prefix": "", "limit": 2, "offset": offset})).await);
    }

    assert_eq!(whole, ["a", "B", "c", "d", "E", "f"]);
    assert_eq!(paged, whole);
}

#[actix_web::test]
async fn store_023_an_unknown_bucket_is_an_empty_list() {
    let app = app_with_objects(&["a"]).await;

    assert_eq!(app.service_role().list("nope", "").await.ok().json(), json!([]));
    assert_eq!(app.user("ana").list("b", "").await.ok().json(), json!([]));
}

#[actix_web::test]
async fn store_075_and_076_search_is_literal_and_spans_folders() {
    let app = app_with_objects(&["c_1", "cx1", "docs/Sub/File.png"]).await;
    let search = async |search: &str| {
        app.service_role()
            .post("/object/list/b", json!({"prefix": "", "search": search}))
            .await
            .ok()
            .names()
    };

    assert_eq!(search("C_").await, ["c_1"]);
    assert_eq!(search("%").await, Vec::<String>::new());
    assert_eq!(search("DOCS/s").await, ["docs/Sub"]);
    assert_eq!(search("docs/sub/f").await, ["docs/Sub/File.png"]);
}

#[actix_web::test]
async fn store_077_sorted_by_time_folders_come_first() {
    let app = app_with_objects(&["z", "m/1", "a", "k/1"]).await;
    let sorted = async |order: &str| {
        let body = json!({"prefix": "", "sortBy": {"column": "created_at", "order": order}});
        app.service_role().post("/object/list/b", body).await.ok().names()
    };

    assert_eq!(sorted("asc").await, ["k", "m", "z", "a"]);
    assert_eq!(sorted("desc").await, ["m", "k", "a", "z"]);
    let unknown = json!({"prefix": "", "sortBy": {"column": "size"}});
    app.service_role()
        .post("/object/list/b", unknown)
        .await
        .is(400, "400", "InvalidRequest");
}

#[actix_web::test]
async fn store_073_and_074_list_v2_pages_flat_and_by_level() {
    let app = app_with_objects(&["n1", "n3/x", "n3/y", "n4", "N0", "n5/z", "n2"]).await;

    for (delimiter, expected) in [
        (false, vec!["N0", "n1", "n2", "n3/x", "n3/y", "n4", "n5/z"]),
        (true, vec!["N0", "n1", "n2", "n3/", "n4", "n5/"]),
    ] {
        for (column, order) in [
            ("name", "asc"),
            ("name", "desc"),
            ("created_at", "asc"),
            ("updated_at", "desc"),
        ] {
            let mut seen = Vec::new();
            let mut cursor = Value::Null;
            loop {
                let mut body = json!({"limit": 2, "with_delimiter": delimiter, "sortBy": {"column": column, "order": order}});
                if cursor.is_string() {
                    body["cursor"] = cursor;
                }
                let page = app
                    .service_role()
                    .post("/object/list-v2/b", body)
                    .await
                    .ok()
                    .json();
                for kind in ["folders", "objects"] {
                    let rows = page[kind].as_array().expect("rows").clone();
                    seen.extend(
                        rows.iter()
                            .map(|row| row["name"].as_str().expect("a name").to_owned()),
                    );
                }
                if page["hasNext"] != json!(true) {
                    break;
                }
                cursor = page["nextCursor"].clone();
            }
            seen.sort();
            assert_eq!(seen, expected, "{delimiter} {column} {order}");
        }
    }
    let bad = app
        .service_role()
        .post("/object/list-v2/b", json!({"cursor": "%"}))
        .await;
    assert_eq!(bad.message(), "Invalid Parameter continuation token");
}
