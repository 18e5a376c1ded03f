//! Both list operations, and what they cost.

use serde_json::{Value, json};

use crate::support::TestApp;

/// The service with a bucket `b` and these objects in it, uploaded in this order.
async fn app_with_objects(keys: &[&str]) -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    for key in keys {
        app.service_role().upload(&format!("b/{key}"), key).await.ok();
    }
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_021_a_list_has_one_level_with_folders_as_rows_without_id() {
    let app = app_with_objects(&["a.txt", "docs/one.txt", "docs/sub/deep.txt"]).await;

    let rows = app.service_role().list("b", "docs").await.ok().json();

    assert_eq!(rows[0]["name"], "one.txt");
    assert_eq!(rows[0]["metadata"]["size"], json!(12));
    let folder = json!({"name": "sub", "id": null, "updated_at": null, "created_at": null, "last_accessed_at": null, "metadata": null});
    assert_eq!(rows[1], folder);
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_022_pages_neither_skip_nor_repeat_entries() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_023_listing_an_unknown_bucket_returns_an_empty_list() {
    let app = app_with_objects(&["a"]).await;

    assert_eq!(app.service_role().list("nope", "").await.ok().json(), json!([]));
    assert_eq!(app.user("ana").list("b", "").await.ok().json(), json!([]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_075_and_076_search_is_literal_and_may_contain_folders() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_077_folders_come_first_when_sorted_by_time() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
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

/// A policy that shows objects in the user's own folder, and objects whose name contains `open`.
const POLICY: &str = "create policy seen on storage.objects for select to authenticated \
     using (name like '%open%' or owner_id = auth.uid()::text)";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_022_lists_of_any_shape_are_paged_alike_for_all_roles() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app.sql(POLICY).await;
    // Sequences of files with folders between them, names and folders that differ only in case, and hidden objects.
    app.sql(
        "insert into storage.objects (bucket_id, name)
         select 'b', 'open-' || lpad(i::text, 3, '0') from generate_series(1, 120) i
         union all select 'b', 'open-060' || x from unnest(array['/a', '/b/c', 'A', 'a']) x
         union all select 'b', 'Dir-' || i % 30 || '/open' || i from generate_series(1, 90) i
         union all select 'b', x from unnest(array['DIR-7/open', 'hidden', 'hidden-dir/x', 'z/open', 'z/y', '-open']) x",
    )
    .await;
    let listed = async |client: &crate::support::Client<'_>, body: Value| {
        client.post("/object/list/b", body).await.ok().names()
    };
    let folded = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();

    let everything = listed(&app.service_role(), json!({"prefix": "", "limit": 1000})).await;
    let seen = listed(&app.user("ana"), json!({"prefix": "", "limit": 1000})).await;
    // 120 files; the folder `open-060` and two files that extend its name; 30 folders, because `DIR-7` and `Dir-7` are
    // one; and `hidden`, `hidden-dir`, `z` and `-open`.
    assert_eq!(everything.len(), 120 + 3 + 30 + 4);
    let visible: Vec<_> = everything
        .iter()
        .filter(|name| !name.starts_with("hidden"))
        .cloned()
        .collect();
    assert_eq!(seen, visible);
    for client in [app.service_role(), app.user("ana")] {
        let whole = listed(&client, json!({"prefix": "", "limit": 1000})).await;
        for order in ["asc", "desc"] {
            let mut paged = Vec::new();
            for offset in (0..whole.len()).step_by(7) {
                let body = json!({"prefix": "", "limit": 7, "offset": offset, "sortBy": {"column": "name", "order": order}});
                paged.extend(listed(&client, body).await);
            }
            let mut expected = folded(&whole);
            if order == "desc" {
                expected.reverse();
            }
            assert_eq!(folded(&paged), expected, "{order}");
        }
        let by_time = json!({"prefix": "", "limit": 1000, "sortBy": {"column": "created_at"}});
        let mut by_time = folded(&listed(&client, by_time).await);
        assert!(
            // Sorted by time, folders come first, and `DIR-7` and `Dir-7` are two rows.
            by_time[..31].iter().all(|name| name.starts_with("dir-")),
            "{by_time:?}"
        );
        let mut names = folded(&whole);
        for names in [&mut by_time, &mut names] {
            names.sort();
            names.dedup();
        }
        assert_eq!(by_time, names);
        assert_eq!(listed(&client, json!({"prefix": "DIR-7"})).await.len(), 4);
        assert_eq!(
            listed(&client, json!({"prefix": "dir-7/", "search": "OPEN3"})).await,
            ["open37"]
        );
    }
    assert_eq!(listed(&app.user("ana"), json!({"prefix": "z"})).await, ["open"]);
    assert_eq!(
        listed(&app.user("ana"), json!({"prefix": "hidden-dir"})).await,
        [""; 0]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_022_a_list_reads_only_the_rows_that_it_shows() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app.sql(POLICY).await;
    app.sql(
        "insert into storage.objects (bucket_id, name)
         select 'b', 'd' || i % 10 || '/open' || i from generate_series(1, 5000) i; analyze storage.objects",
    )
    .await;
    let read = "select idx_tup_fetch::bigint + seq_tup_read::bigint from pg_stat_user_tables \
                where schemaname = 'storage' and relname = 'objects'";
    let client = app.database.superuser().await;
    client
        .batch_execute("select set_config('request.jwt.claims', '{}', false)")
        .await
        .expect("set");
    let read_so_far = async || -> i64 {
        client
            // Statistics are otherwise published at most once a second.
            .batch_execute("select pg_stat_force_next_flush()")
            .await
            .expect("flushed");
        client.query_one(read, &[]).await.expect("counted").get(0)
    };
    let rows_read = async |function: &str| {
        let before = read_so_far().await;
        client
            .batch_execute("set role authenticated")
            .await
            .expect("a role");
        let rows = client
            .query(&format!("select * from {function}"), &[])
            .await
            .expect("listed");
        client.batch_execute("reset role").await.expect("a role");
        assert_eq!(rows.len(), 10, "{function}");
        read_so_far().await - before
    };

    for function in [
        "storage.walk_folder('b', '', '')",
        "storage.walk_folder_backwards('b', '', '')",
        "storage.walk_level('b', '', '/', '')",
        "storage.walk_level_backwards('b', '', '/', '')",
        "storage.search('', 'b', sortcolumn => 'created_at')",
    ] {
        let read = rows_read(function).await;
        // Ten folders are shown. A listing that read below the folders would count all 5000 rows.
        assert!(read < 100, "{function} read {read} of 5000 rows");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_022_lists_by_name_descending_show_folders_of_one_object() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let admin = app.service_role();
    for key in ["a/only", "b", "c/only", "d"] {
        admin.upload(&format!("b/{key}"), "x").await.ok();
    }

    let listed = async |order: &str| -> Vec<String> {
        let body = json!({"prefix": "", "sortBy": {"column": "name", "order": order}});
        let list = admin.post("/object/list/b", body).await.ok().json();
        let entries = list.as_array().expect("a list").iter();
        entries
            .map(|entry| entry["name"].as_str().expect("a name").to_owned())
            .collect()
    };

    assert_eq!(listed("asc").await, ["a", "b", "c", "d"]);
    assert_eq!(listed("desc").await, ["d", "c", "b", "a"]);
}
