//! Row-level security, with policies as real projects have them.

use serde_json::json;

use crate::support::{Part, Response, TestApp, user_id};

/// A bucket in which each user may use the folder named by their id: the example of the Supabase documentation.
const OWN_FOLDER: &str = "
    insert into storage.buckets (id, name) values ('docs', 'docs');
    create policy \"own folder: see\" on storage.objects for select to authenticated
      using (bucket_id = 'docs' and (storage.foldername(name))[1] = (select auth.uid())::text);
    create policy \"own folder: add\" on storage.objects for insert to authenticated
      with check (bucket_id = 'docs' and (storage.foldername(name))[1] = (select auth.uid())::text);
    create policy \"own folder: change\" on storage.objects for update to authenticated
      using (bucket_id = 'docs' and (storage.foldername(name))[1] = (select auth.uid())::text);
    create policy \"own folder: remove\" on storage.objects for delete to authenticated
      using (bucket_id = 'docs' and (storage.foldername(name))[1] = (select auth.uid())::text);";

/// Panics unless a policy refused the request.
#[track_caller]
fn assert_denied(response: &Response) {
    response.is(400, "403", "AccessDenied");
    assert_eq!(response.json()["error"], "Unauthorized");
    assert_eq!(response.message(), "new row violates row-level security policy");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_009_uploads_without_a_policy_are_refused() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;

    assert_denied(&app.anon().upload("b/x", "x").await);
    assert_denied(&app.user("ana").upload("b/x", "x").await);
    // A caller without an INSERT policy must not learn that the key exists.
    app.service_role().upload("b/x", "x").await.ok();
    assert_denied(&app.anon().upload("b/x", "x").await);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_010_and_011_upsert_needs_insert_update_and_select() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"add\" on storage.objects for insert to anon with check (bucket_id = 'b')",
    )
    .await;
    let upsert = async |key: &str| {
        app.anon()
            .upload_request(key, "x")
            .header("x-upsert", "true")
            .send()
            .await
    };

    app.anon().upload("b/1", "x").await.ok();
    // `returning` makes PostgreSQL apply the SELECT policies, of which there are none yet.
    assert_denied(&upsert("b/2").await);
    app.anon()
        .upload("b/1", "x")
        .await
        .is(400, "409", "KeyAlreadyExists");

    app.sql("create policy \"see\" on storage.objects for select to anon using (bucket_id = 'b')")
        .await;
    upsert("b/2").await.ok();
    // The row exists now, so the upsert becomes an UPDATE, for which there is no policy yet.
    assert_denied(&upsert("b/1").await);

    app.sql("create policy \"change\" on storage.objects for update to anon using (bucket_id = 'b')")
        .await;
    upsert("b/1").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_012_a_policy_can_give_each_user_a_folder() {
    let app = TestApp::start().await;
    app.sql(OWN_FOLDER).await;
    let (ana, bob) = (app.user("ana"), app.user("bob"));
    let own = format!("docs/{}/a.txt", user_id("ana"));
    let key = format!("{}/a.txt", user_id("ana"));

    ana.upload(&own, "mine").await.ok();
    assert_denied(&bob.upload(&format!("docs/{}/b.txt", user_id("ana")), "x").await);
    assert_denied(&app.anon().upload(&own, "x").await);
    assert_denied(&ana.upload("docs/top-level.txt", "x").await);

    assert_eq!(ana.get(&format!("/object/{own}")).await.ok().text(), "mine");
    bob.get(&format!("/object/{own}"))
        .await
        .is(400, "404", "NoSuchKey");
    assert_eq!(ana.list("docs", &user_id("ana")).await.ok().names(), ["a.txt"]);
    assert_eq!(
        bob.list("docs", &user_id("ana")).await.ok().names(),
        Vec::<String>::new()
    );
    assert_eq!(bob.list("docs", "").await.ok().names(), Vec::<String>::new());
    bob.post(&format!("/object/sign/{own}"), json!({"expiresIn": 60}))
        .await
        .is(400, "404", "NoSuchKey");

    // Deleting a list skips what the caller may not delete; deleting one object reports it.
    assert_eq!(bob.remove("docs", &[&key]).await.ok().json(), json!([]));
    let forbidden = bob.delete(&format!("/object/{own}")).await;
    forbidden.is(400, "403", "AccessDenied");
    assert_eq!(forbidden.message(), "Access denied");
    assert_eq!(ana.remove("docs", &[&key]).await.ok().names(), [key]);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_013_the_service_role_bypasses_policies() {
    let app = TestApp::start().await;
    app.sql(OWN_FOLDER).await;
    let service = app.service_role();

    service.upload("docs/x", "x").await.ok();
    service.get("/object/docs/x").await.ok();
    assert_eq!(service.list("docs", "").await.ok().names(), ["x"]);
    service
        .post("/object/sign/docs/x", json!({"expiresIn": 60}))
        .await
        .ok();
    service
        .post(
            "/object/move",
            json!({"bucketId": "docs", "sourceKey": "x", "destinationKey": "y"}),
        )
        .await
        .ok();
    service
        .post(
            "/object/copy",
            json!({"bucketId": "docs", "sourceKey": "y", "destinationKey": "z"}),
        )
        .await
        .ok();
    service.delete("/object/docs/y").await.ok();
    assert_eq!(service.remove("docs", &["z"]).await.ok().names(), ["z"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_017_signing_needs_select_also_on_public_buckets() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('p', 'p', true)")
        .await;
    app.service_role().upload("p/x", "x").await.ok();

    app.user("ana")
        .post("/object/sign/p/x", json!({"expiresIn": 60}))
        .await
        .is(400, "404", "NoSuchKey");

    app.sql("create policy \"see\" on storage.objects for select using (bucket_id = 'p')")
        .await;
    app.user("ana")
        .post("/object/sign/p/x", json!({"expiresIn": 60}))
        .await
        .ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_042_a_move_out_of_the_users_folder_is_refused() {
    let app = TestApp::start().await;
    app.sql(OWN_FOLDER).await;
    let (own, other) = (user_id("ana"), user_id("bob"));
    app.user("ana").upload(&format!("docs/{own}/a"), "x").await.ok();
    let body =
        |from: String, to: String| json!({"bucketId": "docs", "sourceKey": from, "destinationKey": to});

    let ana = app.user("ana");
    assert_denied(
        &ana.post("/object/move", body(format!("{own}/a"), format!("{other}/a")))
            .await,
    );
    assert_denied(
        &ana.post("/object/copy", body(format!("{own}/a"), format!("{other}/a")))
            .await,
    );
    let taken = app
        .user("bob")
        .post("/object/move", body(format!("{own}/a"), format!("{other}/a")))
        .await;
    taken.is(400, "404", "NoSuchKey");

    ana.post("/object/move", body(format!("{own}/a"), format!("{own}/b")))
        .await
        .ok();
    ana.post("/object/copy", body(format!("{own}/b"), format!("{own}/c")))
        .await
        .ok();
    app.settle(2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_053_policies_see_type_size_and_user_metadata_of_an_upload() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"small images of a project\" on storage.objects for insert to authenticated with check (
           bucket_id = 'b' and metadata ->> 'mimetype' like 'image/%'
           and (metadata ->> 'contentLength')::int < 100 and user_metadata ->> 'project' = 'apollo')",
    )
    .await;
    let upload = async |key: &str, content_type: &str, size: usize, metadata: &str| {
        let request = app
            .user("ana")
            .request(reqwest::Method::POST, &format!("/object/b/{key}"));
        request
            .header("content-type", content_type)
            .header("x-metadata", metadata)
            .body("x".repeat(size))
            .send()
            .await
    };
    let apollo = "eyJwcm9qZWN0IjoiYXBvbGxvIn0=";

    upload("good", "image/png", 10, apollo).await.ok();
    assert_denied(&upload("type", "text/plain", 10, apollo).await);
    assert_denied(&upload("size", "image/png", 100, apollo).await);
    assert_denied(&upload("metadata", "image/png", 10, "e30=").await);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_054_policies_see_caller_operation_and_headers() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"everything at hand\" on storage.objects for select to authenticated using (
           bucket_id = 'b' and auth.role() = 'authenticated' and auth.jwt() ->> 'aud' = 'authenticated'
           and auth.uid() is not null and storage.operation() = 'storage.object.get_authenticated'
           and storage.allow_only_operation('object.get_authenticated')
           and current_setting('request.headers')::json ->> 'x-key' = 'sesame'
           and current_setting('request.method') = 'GET')",
    )
    .await;
    app.service_role().upload("b/x", "x").await.ok();
    let request = app.user("ana").request(reqwest::Method::GET, "/object/b/x");

    request.header("x-key", "sesame").send().await.ok();

    app.user("ana")
        .get("/object/b/x")
        .await
        .is(400, "404", "NoSuchKey");
    assert_eq!(app.user("ana").list("b", "").await.ok().json(), json!([]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_054_policies_may_join_other_tables() {
    let app = TestApp::start().await;
    app.sql(&format!(
        "insert into storage.buckets (id, name) values ('teams', 'teams');
         create table public.members (team text, user_id uuid);
         grant select on public.members to authenticated;
         insert into public.members values ('red', '{}');
         create policy \"team\" on storage.objects for all to authenticated
           using (bucket_id = 'teams' and exists (select 1 from public.members m
             where m.team = (storage.foldername(name))[1] and m.user_id = auth.uid()))",
        user_id("ana")
    ))
    .await;

    app.user("ana").upload("teams/red/plan", "x").await.ok();

    assert_denied(&app.user("ana").upload("teams/blue/plan", "x").await);
    assert_denied(&app.user("bob").upload("teams/red/other", "x").await);
    app.user("bob")
        .get("/object/teams/red/plan")
        .await
        .is(400, "404", "NoSuchKey");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_009_a_permission_check_changes_nothing() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"add\" on storage.objects for insert to anon with check (bucket_id = 'b')",
    )
    .await;

    app.anon().post("/object/upload/sign/b/x", json!({})).await.ok();

    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_057_deleting_rows_by_sql_is_refused() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app.service_role().upload("b/x", "x").await.ok();

    let error = app
        .database
        .connect("postgres")
        .await
        .batch_execute("delete from storage.objects")
        .await;

    let error = error.expect_err("the trigger refuses");
    assert_eq!(
        error.code().map(tokio_postgres::error::SqlState::code),
        Some("42501")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_053_policies_see_form_fields_behind_the_file() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create policy \"tagged images\" on storage.objects for insert to authenticated
           with check (user_metadata ->> 'tag' = 'x' and metadata ->> 'mimetype' = 'image/png')",
    )
    .await;
    let upload = async |key: &str, bytes: &[u8]| {
        let file = Part::File {
            name: "",
            content_type: Some("text/plain"),
            bytes,
        };
        let fields = [
            Part::Field("metadata", "{\"tag\":\"x\"}"),
            Part::Field("contentType", "image/png"),
        ];
        let [metadata, content_type] = fields;
        app.user("ana")
            .upload_form(key, &[file, metadata, content_type])
            .await
    };

    upload("b/small", b"bytes").await.ok();
    // A file that does not fit into memory is stored before the fields behind it are known, so the policy cannot see
    // them.
    assert_denied(&upload("b/large", &vec![b'x'; 3 << 20]).await);
    app.settle(1).await;
}
