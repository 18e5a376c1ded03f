//! Lists of versions and markers.

use serde_json::{Value, json};

use crate::object_history::{app_with_versions, store};
use crate::support::{Client, TestApp};

/// `f/a` with two versions, deleted and stored again; `f/b` deleted; `f/d/e` stored once.
async fn app_with_history() -> TestApp {
    let app = app_with_versions().await;
    let client = app.service_role();
    store(&client, "f/a", &["one", "two"]).await;
    client.delete("/object/b/f/a").await.ok();
    store(&client, "f/a", &["three"]).await;
    store(&client, "f/b", &["b"]).await;
    client.delete("/object/b/f/b").await.ok();
    store(&client, "f/d/e", &["e"]).await;
    app
}

/// Names of rows with what they are: `+` current, `-` superseded, `x` a current marker, `~` a superseded one.
fn describe(rows: &Value) -> Vec<String> {
    let rows = rows.as_array().expect("a list").iter();
    let describe = |row: &Value| {
        let name = row["name"].as_str().expect("a name");
        if row["id"].is_null() {
            return format!("{name}/");
        }
        let (archived, marker) = (!row["archived_at"].is_null(), row["is_delete_marker"] == true);
        let kind = match (archived, marker) {
            (false, false) => "+",
            (true, false) => "-",
            (false, true) => "x",
            (true, true) => "~",
        };
        format!("{kind}{name}")
    };
    rows.map(describe).collect()
}

async fn list(client: &Client<'_>, noncurrent: &str, markers: &str) -> (Vec<String>, Vec<String>) {
    let body = json!({"prefix": "f/", "noncurrentVersions": noncurrent, "deleteMarkers": markers});
    let first = client.post("/object/list/b", body.clone()).await.ok().json();
    let second = client.post("/object/list-v2/b", body).await.ok().json();
    assert_eq!(
        (&second["hasNext"], &second["folders"]),
        (&json!(false), &json!([]))
    );
    (describe(&first), describe(&second["objects"]))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_214_the_nine_combinations_of_both_lists() {
    let app = app_with_history().await;
    let client = app.service_role();

    for (noncurrent, markers, first, second) in [
        ("exclude", "exclude", vec!["+a", "d/"], vec!["+f/a", "+f/d/e"]),
        (
            "exclude",
            "include",
            vec!["+a", "xb", "d/"],
            vec!["+f/a", "xf/b", "+f/d/e"],
        ),
        ("exclude", "only", vec!["xb"], vec!["xf/b"]),
        (
            "include",
            "exclude",
            vec!["+a", "-a", "-a", "-b", "d/"],
            vec!["+f/a", "-f/a", "-f/a", "-f/b", "+f/d/e"],
        ),
        (
            "include",
            "include",
            vec!["+a", "~a", "-a", "-a", "xb", "-b", "d/"],
            vec!["+f/a", "~f/a", "-f/a", "-f/a", "xf/b", "-f/b", "+f/d/e"],
        ),
        ("include", "only", vec!["~a", "xb"], vec!["~f/a", "xf/b"]),
        (
            "only",
            "exclude",
            vec!["-a", "-a", "-b"],
            vec!["-f/a", "-f/a", "-f/b"],
        ),
        (
            "only",
            "include",
            vec!["~a", "-a", "-a", "-b"],
            vec!["~f/a", "-f/a", "-f/a", "-f/b"],
        ),
        ("only", "only", vec!["~a"], vec!["~f/a"]),
    ] {
        let (of_list, of_second) = list(&client, noncurrent, markers).await;
        let mut expected = first.clone();
        if (noncurrent, markers) == ("exclude", "exclude") {
            // The list of current objects has no columns of versions.
            expected = vec!["+a", "d/"];
        }
        assert_eq!(of_list, expected, "{noncurrent} {markers}");
        assert_eq!(of_second, second, "{noncurrent} {markers}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_215_pages_neither_lose_nor_repeat_a_version() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let texts: Vec<String> = (0..7).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut stored = store(&client, "f/a", &texts).await;
    stored.extend(store(&client, "f/b", &texts[..3]).await);
    stored.sort_unstable();

    for (column, order) in [
        ("name", "asc"),
        ("name", "desc"),
        ("created_at", "asc"),
        ("updated_at", "desc"),
    ] {
        let sort = json!({"column": column, "order": order});
        let (mut found, mut cursor, mut newest_first) = (Vec::new(), Value::Null, Vec::new());
        loop {
            let mut body =
                json!({"prefix": "f/", "noncurrentVersions": "include", "limit": 2, "sortBy": sort});
            if !cursor.is_null() {
                body["cursor"] = cursor;
            }
            let page = client.post("/object/list-v2/b", body).await.ok().json();
            for row in page["objects"].as_array().expect("a list") {
                found.push(row["version"].as_str().expect("a version").to_owned());
                newest_first.push((row["name"].clone(), row["archived_at"].clone()));
            }
            cursor = page["nextCursor"].clone();
            if page["hasNext"] == false {
                break;
            }
        }
        if column == "name" {
            assert!(newest_first[0].1.is_null(), "{newest_first:?}");
        }
        found.sort_unstable();
        assert_eq!(found, stored, "{column} {order}");

        let mut found = Vec::new();
        for offset in 0..10 {
            let body = json!({"prefix": "f", "noncurrentVersions": "include", "limit": 1, "offset": offset, "sortBy": sort});
            let page = client.post("/object/list/b", body).await.ok().json();
            found.push(page[0]["version"].as_str().expect("a version").to_owned());
        }
        found.sort_unstable();
        assert_eq!(found, stored, "{column} {order}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_216_the_versions_of_one_key() {
    let app = app_with_history().await;
    let client = app.service_role();
    store(&client, "f/a/deeper", &["x"]).await;

    let body = json!({"prefix": "f/a", "exactMatch": true, "noncurrentVersions": "include", "deleteMarkers": "include"});
    let first = client.post("/object/list/b", body.clone()).await.ok().json();
    let second = client.post("/object/list-v2/b", body).await.ok().json();

    assert_eq!(describe(&first), ["+a", "~a", "-a", "-a"]);
    assert_eq!(describe(&second["objects"]), ["+f/a", "~f/a", "-f/a", "-f/a"]);
}

/// The lists that know nothing of versions tell those of current objects, in every order and form.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_214_default_lists_tell_the_versions_of_current_objects() {
    let app = app_with_history().await;
    let client = app.service_role();
    client.post("/bucket", json!({"name": "plain"})).await.ok();
    client.upload("plain/f/a", "text").await.ok();
    let version = client.version("f/a").await;

    let sorts = ["name", "created_at"]
        .map(|column| ["asc", "desc"].map(|order| json!({"column": column, "order": order})));
    for sort in sorts.as_flattened() {
        for shape in [
            json!({}),
            json!({"exactMatch": true}),
            json!({"with_delimiter": true}),
        ] {
            let mut body = json!({"prefix": "f/a", "sortBy": sort});
            body.as_object_mut()
                .expect("an object")
                .extend(shape.as_object().expect("an object").clone());
            for bucket in ["b", "plain"] {
                if shape.get("exactMatch").is_none() {
                    body["prefix"] = json!("f/");
                }
                let first = client
                    .post(&format!("/object/list/{bucket}"), body.clone())
                    .await
                    .ok();
                let second = client
                    .post(&format!("/object/list-v2/{bucket}"), body.clone())
                    .await
                    .ok();
                let (first, second) = (first.json(), second.json());
                for row in [find(&first, "a"), find(&second["objects"], "f/a")] {
                    let told = ["version", "archived_at", "is_delete_marker", "is_versioned"];
                    let told = told.map(|name| row.get(name).cloned());
                    let expected = match bucket {
                        "b" => [json!(version), json!(null), json!(false), json!(true)].map(Some),
                        _ => [None, None, None, None],
                    };
                    assert_eq!(told, expected, "{bucket} {body}");
                }
            }
        }
    }
}

fn find<'r>(rows: &'r Value, name: &str) -> &'r Value {
    let rows = rows.as_array().expect("a list");
    let mut found = rows.iter().filter(|row| row["name"] == name);
    found.next().unwrap_or_else(|| panic!("no {name} in {rows:?}"))
}
