//! Policies decide about each version: who reads, signs, lists, removes and hides what.

use serde_json::json;

use crate::object_history::{app_with_versions, check_invariants, store};
use crate::support::{TestApp, user_id};

/// Users see, change and delete the files that are their own. Ana has `a` in two versions, the second of which is the service's.
async fn app_with_owners() -> (TestApp, Vec<String>) {
    let app = app_with_versions().await;
    app.sql("update storage.buckets set public = false").await;
    for action in ["select", "update", "delete"] {
        app.sql(&format!(
            "create policy own_{action} on storage.objects for {action} to authenticated using (owner_id = (select auth.uid())::text)"
        ))
        .await;
    }
    app.sql(
        "create policy own_insert on storage.objects for insert to authenticated with check (owner_id = (select auth.uid())::text)",
    )
    .await;
    app.user("ana").upload("b/a", "one").await.ok();
    let first = app.service_role().version("a").await;
    let superuser = app.database.superuser().await;
    app.service_role().upsert("b/a", "two").await.ok();
    // The service leaves the owner as it is.
    superuser
        .batch_execute(
            "set role supabase_storage_admin; update only storage.objects set owner_id = 'another'",
        )
        .await
        .expect("another owner");
    let second = app.service_role().version("a").await;
    (app, vec![first, second])
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_policies_decide_about_the_very_version() {
    let (app, versions) = app_with_owners().await;
    let ana = app.user("ana");
    let path = |version: &str| format!("/object/authenticated/b/a?versionId={version}");

    assert_eq!(ana.get(&path(&versions[0])).await.ok().text(), "one");
    ana.get(&path(&versions[1])).await.is(400, "404", "NoSuchKey");
    ana.get("/object/authenticated/b/a")
        .await
        .is(400, "404", "NoSuchKey");
    app.user("bea")
        .get(&path(&versions[0]))
        .await
        .is(400, "404", "NoSuchKey");
    for (version, status) in [(&versions[0], 200), (&versions[1], 400)] {
        let body = json!({"expiresIn": 60, "versionId": version});
        assert_eq!(ana.post("/object/sign/b/a", body).await.status, status);
    }
    let body = json!({"prefix": "", "noncurrentVersions": "include"});
    let listed = ana.post("/object/list/b", body).await.ok().json();
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["version"]),
        (Some(1), &json!(versions[0]))
    );
    assert_eq!(
        ana.list("b", "").await.ok().names(),
        Vec::<String>::new(),
        "only current rows"
    );

    let other = json!([{"path": "a", "versionId": versions[1]}]);
    assert_eq!(ana.remove_entries(other).await, json!([]));
    let own = json!([{"path": "a", "versionId": versions[0]}]);
    assert_eq!(ana.remove_entries(own).await.as_array().map(Vec::len), Some(1));
    assert_eq!(app.service_role().read("a").await.as_deref(), Some("two"));
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_nobody_hides_the_file_of_another_and_markers_are_their_makers() {
    let (app, _) = app_with_owners().await;
    let ana = app.user("ana");

    assert_eq!(ana.remove_entries(json!(["a", "mine"])).await[0]["name"], "mine");
    assert_eq!(app.service_role().read("a").await.as_deref(), Some("two"));
    let owner = format!(
        "select count(*) from storage.objects where is_delete_marker and owner_id = '{}'",
        user_id("ana")
    );
    assert_eq!(app.count(&owner).await, 1);
    // A marker that another user has made does not keep her from storing an object under its key.
    app.user("bea").upload("b/mine", "mine").await.ok();
    assert_eq!(
        app.user("bea")
            .get("/object/authenticated/b/mine")
            .await
            .ok()
            .text(),
        "mine"
    );
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_223_without_a_policy_for_deletion_nothing_is_marked_or_removed() {
    let (app, versions) = app_with_owners().await;
    app.sql("drop policy own_delete on storage.objects").await;
    let ana = app.user("ana");
    store(&app.service_role(), "x", &["x"]).await;

    let entries = json!(["a", "never", {"path": "a", "versionId": versions[0]}]);
    assert_eq!(ana.remove_entries(entries).await, json!([]));
    let version = format!("/object/b/a?versionId={}", versions[0]);
    ana.delete(&version).await.is(400, "403", "AccessDenied");
    assert_eq!(
        app.count("select count(*) from storage.objects where is_delete_marker")
            .await,
        0
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_sql_of_users_means_current_objects_and_reaches_no_history() {
    let app = app_with_versions().await;
    store(&app.service_role(), "a", &["one", "two"]).await;
    app.sql(
        "create policy everything on storage.objects for all to authenticated using (true) with check (true);
         grant usage on schema storage to authenticated",
    )
    .await;
    let client = app.database.connect("authenticator").await;
    client
        .batch_execute("set role authenticated")
        .await
        .expect("the role");
    let count = async || -> i64 {
        let row = client
            .query_one("select count(*) from storage.objects", &[])
            .await;
        row.expect("a count").get(0)
    };

    assert_eq!(count().await, 1);
    client
        .batch_execute("set storage.object_versions = 'all'")
        .await
        .expect("a setting");
    assert_eq!(count().await, 2, "the policies let the user see it");
    let stolen = "update storage.objects set version = '00000000-0000-4000-8000-000000000000' where archived_at is not null";
    assert!(client.batch_execute(stolen).await.is_err());
    for table in [
        "select from storage.object_history",
        "delete from storage.object_history",
    ] {
        assert!(client.batch_execute(table).await.is_err(), "{table}");
    }
    let direct = "select storage.remove_object_version('b', 'a', 'x')";
    assert!(client.batch_execute(direct).await.is_err());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_sql_that_passes_policies_over_changes_current_objects_alone() {
    let app = app_with_versions().await;
    let versions = store(&app.service_role(), "a", &["one", "two"]).await;

    app.sql(
        "begin; set local role service_role; set local storage.allow_delete_query = 'true';
         update storage.objects set user_metadata = '{}'; delete from storage.objects; commit",
    )
    .await;

    let client = app.service_role();
    assert_eq!(client.read("a").await, None);
    for (version, text) in versions.iter().zip(["one", "two"]) {
        assert_eq!(client.read_version("a", version).await.as_deref(), Some(text));
    }
    check_invariants(&app).await;
}

/// While versioning is paused a key has one slot, and who writes there, or hides what was there, needs the right to remove it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_while_versioning_is_paused_nobody_destroys_the_version_of_another() {
    let app = app_with_owners().await.0;
    let service = app.service_role();
    app.sql(
        "create policy any_update on storage.objects for update to authenticated using (name = 'shared')",
    )
    .await;
    app.sql("create policy any_select on storage.objects for select to authenticated using (name = 'shared' and is_versioned)")
        .await;
    app.sql("insert into storage.buckets (id, name) values ('s', 's')")
        .await;
    let (ana, bea) = (app.user("ana"), app.user("bea"));
    for key in ["k", "shared"] {
        ana.upload(&format!("s/{key}"), "first").await.ok();
    }
    app.sql("update storage.buckets set versioning_status = 'ENABLED' where id = 's'")
        .await;
    ana.upsert("s/k", "second").await.ok();
    ana.remove("s", &["k"]).await.ok();
    service.upsert("s/shared", "second").await.ok();
    app.sql("update storage.buckets set versioning_status = 'SUSPENDED' where id = 's'")
        .await;
    let first = "select count(*) from storage.objects where bucket_id = 's' and not is_versioned and not is_delete_marker \
                 and archived_at is not null";
    assert_eq!(app.count(first).await, 2);

    assert_eq!(bea.remove("s", &["k", "shared"]).await.ok().json(), json!([]));
    bea.upload("s/k", "of bea").await.is(400, "403", "AccessDenied");
    bea.upsert("s/shared", "of bea")
        .await
        .is(400, "403", "AccessDenied");
    bea.upload("s/new", "of bea").await.ok();
    let body = json!({"bucketId": "s", "sourceKey": "new", "destinationKey": "k"});
    bea.post("/object/move", body)
        .await
        .is(400, "403", "AccessDenied");
    let body = json!({"bucketId": "s", "sourceKey": "new", "destinationKey": "k"});
    bea.post("/object/copy", body)
        .await
        .is(400, "403", "AccessDenied");
    // The current object of a key becomes bea's own, and what ana has written before does not.
    let owned = format!(
        "set role supabase_storage_admin; update only storage.objects set owner_id = '{}' where bucket_id = 's' and name = 'shared'",
        user_id("bea")
    );
    app.database
        .superuser()
        .await
        .batch_execute(&owned)
        .await
        .expect("another owner");
    let gone = bea.remove("s", &["shared", "new"]).await.ok().json();
    assert_eq!(
        (gone.as_array().map(Vec::len), &gone[0]["name"]),
        (Some(1), &json!("new"))
    );
    assert_eq!(app.count(first).await, 2);

    ana.upload("s/k", "third").await.ok();
    service.upsert("s/shared", "third").await.ok();
    assert_eq!(app.count(first).await, 0);
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_210_nobody_takes_the_way_back_from_another_and_a_key_has_one_marker() {
    let (app, _) = app_with_owners().await;
    let (ana, bea) = (app.user("ana"), app.user("bea"));
    ana.upload("b/mine", "mine").await.ok();
    let marker = ana.remove_entries(json!(["mine"])).await[0]["version"].clone();

    assert_eq!(bea.remove_entries(json!(["mine"])).await, json!([]));
    for _ in 0..3 {
        assert_eq!(ana.remove_entries(json!(["mine"])).await[0]["version"], marker);
    }

    let markers = "select count(*) from storage.objects where name = 'mine' and is_delete_marker";
    assert_eq!(app.count(markers).await, 1);
    ana.remove_entries(json!([{"path": "mine", "versionId": marker}]))
        .await;
    let mine = ana.get("/object/authenticated/b/mine").await;
    assert_eq!(mine.ok().text(), "mine");
}

/// Not even for a moment, which would leave a dead row.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_223_strangers_make_no_markers_of_keys_that_they_think_of() {
    let app = app_with_versions().await;
    let keys: Vec<String> = (0..1000).map(|n| format!("none{n}")).collect();
    let body = json!({ "prefixes": keys });

    let request = app.anon().request(reqwest::Method::DELETE, "/object/b");
    assert_eq!(request.json(body.clone()).send().await.ok().json(), json!([]));
    assert_eq!(
        app.count("select pg_relation_size('storage.object_history')")
            .await,
        0
    );

    app.sql("create policy own on storage.objects for delete to anon using (owner_id = 'nobody')")
        .await;
    let request = app.anon().request(reqwest::Method::DELETE, "/object/b");
    let before = app.count("select count(*) from storage.objects").await;
    assert_eq!(request.json(body).send().await.ok().json(), json!([]));
    assert_eq!(app.count("select count(*) from storage.objects").await, before);
}

/// A type of this name in the schema of temporary objects would run its check as the owner of the tables.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_functions_with_the_owners_rights_find_no_types_of_others() {
    let app = TestApp::start().await;

    let open = "select count(*) from pg_proc p, unnest(p.proconfig) c where p.prosecdef \
                and p.pronamespace = 'storage'::regnamespace and c like 'search_path=%' and c <> 'search_path=pg_catalog, pg_temp'";
    assert_eq!(app.count(open).await, 0);
}
