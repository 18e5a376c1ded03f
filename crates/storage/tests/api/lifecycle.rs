//! Rules that remove old versions.

use reqwest::Method;
use serde_json::{Value, json};

use crate::object_history::{app_with_versions, check_invariants, store};
use crate::s3_client::{refusal, refused, service};
use crate::support::{Client, TestApp};

fn rules(expiration: Value) -> Value {
    json!({"rules": [{"id": "r", "status": "Enabled", "filter": {}, "noncurrentVersionExpiration": expiration}]})
}

async fn set(client: &Client<'_>, body: Value) -> crate::support::Response {
    client.put("/bucket/b/lifecycle", body).await
}

/// Waits until as many rows are left.
async fn wait_for_rows(app: &TestApp, count: i64) {
    for _ in 0..6000 {
        if app.count("select count(*) from storage.objects").await == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{count} rows expected");
}

async fn age(app: &TestApp, days: i64) {
    let age = format!(
        "set storage.object_history = 'kept'; update storage.object_history set archived_at = archived_at - interval '{days} days' where archived_at is not null"
    );
    app.database
        .superuser()
        .await
        .batch_execute(&age)
        .await
        .expect("older rows");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_230_231_rules_are_set_read_replaced_and_removed() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let get = async || client.get("/bucket/b/lifecycle").await;
    get().await.is(400, "404", "NoSuchLifecycleConfiguration");
    client
        .get("/bucket/none/lifecycle")
        .await
        .is(400, "404", "NoSuchBucket");

    let stored = set(&client, rules(json!({"noncurrentDays": 30})))
        .await
        .ok()
        .json();
    assert_eq!(get().await.ok().json(), stored);
    let generation = "select lifecycle_generation from storage.buckets";
    set(&client, rules(json!({"noncurrentDays": "30"}))).await.ok();
    assert_eq!(app.count(generation).await, 1, "an equal configuration");
    set(&client, rules(json!({"noncurrentDays": 0})))
        .await
        .is(400, "400", "InvalidParameter");
    assert_eq!(get().await.ok().json(), stored);
    let included = client.get("/bucket/b?include=lifecycle").await.ok().json();
    assert_eq!(included["lifecycle_configuration"], stored);
    assert!(
        client
            .get("/bucket/b")
            .await
            .ok()
            .json()
            .get("lifecycle_configuration")
            .is_none()
    );
    assert!(
        client.get("/bucket").await.ok().json()[0]
            .get("lifecycle_configuration")
            .is_none()
    );
    for (method, path) in [(Method::POST, "/bucket"), (Method::PUT, "/bucket/b")] {
        let body = json!({"name": "m", "public": true, "lifecycle_configuration": stored});
        client
            .request(method, path)
            .json(body)
            .send()
            .await
            .is(400, "400", "InvalidRequest");
    }
    for _ in 0..2 {
        let removed = client.delete("/bucket/b/lifecycle").await.ok().json();
        assert_eq!(removed["message"], "Successfully deleted");
    }
    get().await.is(400, "404", "NoSuchLifecycleConfiguration");
    client.get("/bucket/b?include=lifecycle").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_234_rules_need_the_right_to_change_the_bucket_and_sql_of_users_sets_none() {
    let app = app_with_versions().await;
    app.sql("create policy seen on storage.buckets for select to authenticated using (true)")
        .await;
    let ana = app.user("ana");
    let body = rules(json!({"noncurrentDays": 1}));

    set(&ana, body.clone()).await.is(400, "403", "AccessDenied");
    ana.delete("/bucket/b/lifecycle")
        .await
        .is(400, "403", "AccessDenied");
    app.user("ana")
        .get("/bucket/b/lifecycle")
        .await
        .is(400, "404", "NoSuchLifecycleConfiguration");
    app.sql("create policy changed on storage.buckets for update to authenticated using (true)")
        .await;
    let client = app.database.connect("authenticator").await;
    client
        .batch_execute("set role authenticated; update storage.buckets set lifecycle_configuration = '{}', lifecycle_generation = 7")
        .await
        .expect("an update");
    assert_eq!(
        app.count("select count(lifecycle_configuration) from storage.buckets")
            .await,
        0
    );
    set(&ana, body).await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_234_sql_sets_no_rules_that_stop_the_removal_of_versions() {
    let app = app_with_versions().await;
    let superuser = app.database.superuser().await;
    let update = async |rules: Value| {
        let update = "update storage.buckets set lifecycle_configuration = $1::text::jsonb";
        superuser.execute(update, &[&rules.to_string()]).await
    };
    let rule = |expiration: Value| json!({"status": "Enabled", "noncurrentVersionExpiration": expiration});

    for bad in [
        json!([]),
        json!({"rules": {}}),
        json!({"rules": [[rule(json!({"noncurrentDays": 1}))]]}),
        json!({"rules": [{"status": "Enabled"}]}),
        json!({"rules": [rule(json!({"noncurrentDays": "soon"}))]}),
        json!({"rules": [rule(json!({"noncurrentDays": -1}))]}),
        json!({"rules": [rule(json!({"noncurrentDays": 1.5}))]}),
        json!({"rules": [rule(json!({"noncurrentDays": [1]}))]}),
        json!({"rules": [rule(json!({"noncurrentDays": 1, "newerNoncurrentVersions": "2"}))]}),
        json!({"rules": [rule(json!({"noncurrentDays": 1})), rule(json!({}))]}),
    ] {
        assert!(update(bad.clone()).await.is_err(), "{bad}");
    }
    let good = json!({"rules": [rule(json!({"noncurrentDays": 1, "newerNoncurrentVersions": 2}))]});
    update(good).await.expect("rules");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_235_236_versions_go_by_age_and_count_and_current_rows_stay() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        resumable_sweep_interval: std::time::Duration::from_millis(200),
        ..config
    })
    .await;
    let client = app.service_role();
    let bucket = json!({"name": "b", "public": true, "versioning_status": "ENABLED"});
    client.post("/bucket", bucket).await.ok();
    store(&client, "a", &["one", "two", "three", "four"]).await;
    store(&client, "c", &["old", "new"]).await;
    client.delete("/object/b/c").await.ok();

    age(&app, 10).await;
    set(&client, rules(json!({"noncurrentDays": 11}))).await.ok();
    let mut disabled = rules(json!({"noncurrentDays": 1}));
    disabled["rules"][0]["status"] = json!("Disabled");
    set(&client, disabled).await.ok();
    set(
        &client,
        rules(json!({"noncurrentDays": 5, "newerNoncurrentVersions": 2})),
    )
    .await
    .ok();
    wait_for_rows(&app, 6).await;
    assert_eq!(client.read("a").await.as_deref(), Some("four"));
    set(&client, rules(json!({"noncurrentDays": 5}))).await.ok();
    wait_for_rows(&app, 2).await;

    assert_eq!(client.read("a").await.as_deref(), Some("four"));
    let markers = "select count(*) from storage.objects where is_delete_marker and archived_at is null";
    assert_eq!(app.count(markers).await, 1);
    check_invariants(&app).await;
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_237_238_rules_by_the_s3_protocol() {
    use aws_sdk_s3::types::{
        BucketLifecycleConfiguration, ExpirationStatus, LifecycleRule, LifecycleRuleFilter,
        NoncurrentVersionExpiration,
    };

    let app = app_with_versions().await;
    let s3 = service(&app);
    let get = async || s3.get_bucket_lifecycle_configuration().bucket("b").send().await;
    assert_eq!(refusal(get().await), refused(404, "NoSuchLifecycleConfiguration"));
    let put = async |prefix: &str| {
        let expiration = NoncurrentVersionExpiration::builder()
            .noncurrent_days(7)
            .newer_noncurrent_versions(3);
        let rule = LifecycleRule::builder()
            .id("old")
            .status(ExpirationStatus::Enabled)
            .filter(LifecycleRuleFilter::builder().prefix(prefix).build())
            .noncurrent_version_expiration(expiration.build())
            .build()
            .expect("a rule");
        let rules = BucketLifecycleConfiguration::builder()
            .rules(rule)
            .build()
            .expect("rules");
        let put = s3.put_bucket_lifecycle_configuration().bucket("b");
        put.lifecycle_configuration(rules).send().await
    };

    put("").await.expect("set");
    let rule = get().await.expect("rules").rules()[0].clone();
    let expiration = rule.noncurrent_version_expiration().expect("an expiration");
    assert_eq!(
        (
            rule.id(),
            expiration.noncurrent_days(),
            expiration.newer_noncurrent_versions()
        ),
        (Some("old"), Some(7), Some(3))
    );
    assert_eq!(refusal(put("logs/").await), refused(400, "InvalidRequest"));
    s3.delete_bucket_lifecycle()
        .bucket("b")
        .send()
        .await
        .expect("removed");
    assert_eq!(refusal(get().await), refused(404, "NoSuchLifecycleConfiguration"));
}
