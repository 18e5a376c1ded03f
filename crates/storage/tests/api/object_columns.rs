//! What users may write into the columns of `storage.objects` where REST exposes the schema. The service writes all of
//! them; its own tests show that.

use serde_json::Value;

use crate::support::{TestApp, user_id};

/// The service with the object `open/theirs` of the service, the object `open/mine` of ana, and policies that let users
/// write what they own.
async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, public) values ('open', 'open', true), ('other', 'other', true);
         create policy \"see\" on storage.objects for select to authenticated using (true);
         create policy \"add\" on storage.objects for insert to authenticated with check (true);
         create policy \"own\" on storage.objects for update to authenticated
           using (owner_id = (select auth.uid())::text);
         create policy \"remove\" on storage.objects for delete to authenticated
           using (owner_id = (select auth.uid())::text)",
    )
    .await;
    app.service_role()
        .upload("open/theirs", "foreign bytes")
        .await
        .ok();
    app.user("ana").upload("open/mine", "my bytes").await.ok();
    app
}

/// Runs a statement as REST runs one of ana; returns the error's code, or the row that `returning` gives.
async fn as_ana(app: &TestApp, statement: &str) -> Result<Value, String> {
    let client = app.database.connect("authenticator").await;
    let claims = format!("{{\"sub\": \"{}\", \"role\": \"authenticated\"}}", user_id("ana"));
    client
        .batch_execute(&format!(
            "select set_config('request.jwt.claims', '{claims}', false); set role authenticated"
        ))
        .await
        .expect("authenticator becomes authenticated");
    let query = format!("with w as ({statement} returning *) select to_jsonb(w) from w");
    match client.query_one(&query, &[]).await {
        Ok(row) => Ok(row.get(0)),
        Err(error) => Err(error
            .code()
            .map(|code| code.code().to_owned())
            .unwrap_or_default()),
    }
}

async fn version_of(app: &TestApp, name: &str) -> String {
    let superuser = app.database.superuser().await;
    let query = "select version from storage.objects where name = $1";
    let row = superuser.query_one(query, &[&name]).await;
    row.expect("the object").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn users_cannot_give_a_row_the_bytes_of_another_object() {
    let app = app().await;
    let theirs = version_of(&app, "theirs").await;
    let spellings = [
        theirs.clone(),
        theirs.to_uppercase(),
        theirs.replace('-', ""),
        format!("{{{theirs}}}"),
    ];

    for version in &spellings {
        let insert = format!(
            "insert into storage.objects (bucket_id, name, owner_id, version) values ('open', 'copy', '{}', '{version}')",
            user_id("ana")
        );
        let update = format!("update storage.objects set version = '{version}' where name = 'mine'");
        for statement in [insert, update] {
            let written = as_ana(&app, &statement).await;
            assert_eq!(written, Err("42501".to_owned()), "{statement}");
        }
    }

    app.user("ana").delete("/object/open/copy").await;
    app.user("ana").delete("/object/open/mine").await;
    app.settle(1).await;
    let got = app.nobody().get("/object/public/open/theirs").await.ok();
    assert_eq!(got.text(), "foreign bytes");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn users_cannot_change_what_describes_the_bytes() {
    let app = app().await;

    for change in [
        "metadata = metadata || '{\"mimetype\": \"text/html\"}'",
        "metadata = '{\"size\": 0}'",
        "metadata = null",
        "bucket_id = 'other'",
        "version = gen_random_uuid()::text",
        "version = null",
        "version = '1', metadata = '{}'",
    ] {
        let written = as_ana(
            &app,
            &format!("update storage.objects set {change} where name = 'mine'"),
        )
        .await;
        assert_eq!(written, Err("42501".to_owned()), "{change}");
    }
    let size =
        "insert into storage.objects (bucket_id, name, metadata) values ('open', 'a', '{\"size\": \"x\"}')";
    assert_eq!(as_ana(&app, size).await, Err("22023".to_owned()));
    let nested = format!("{}{}", "[".repeat(70), "]".repeat(70));
    let deep = format!("update storage.objects set user_metadata = '{nested}' where name = 'mine'");
    assert_eq!(as_ana(&app, &deep).await, Err("22023".to_owned()));
    // Renaming within the bucket, and what users say of their own object.
    let renamed = as_ana(
        &app,
        "update storage.objects set name = 'renamed', user_metadata = '{\"a\": 1}' where name = 'mine'",
    )
    .await
    .expect("allowed");
    assert_eq!(renamed["user_metadata"]["a"], 1);
    let got = app.nobody().get("/object/public/open/renamed").await.ok();
    assert_eq!(got.text(), "my bytes");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn times_and_versioning_of_a_row_are_not_the_users() {
    let app = app().await;
    let columns = "created_at = 'infinity', last_accessed_at = '294276-12-31', updated_at = 'infinity', \
         archived_at = '-infinity', is_delete_marker = true, is_versioned = true";

    let updated = as_ana(
        &app,
        &format!("update storage.objects set {columns} where name = 'mine'"),
    )
    .await
    .expect("allowed");
    let inserted = as_ana(
        &app,
        &format!(
            "insert into storage.objects (bucket_id, name, owner_id, created_at, updated_at, last_accessed_at, archived_at, \
             is_delete_marker, is_versioned) values ('open', 'new', '{}', 'infinity', 'infinity', '294276-12-31', 'infinity', \
             true, true)",
            user_id("ana")
        ),
    )
    .await
    .expect("allowed");

    for row in [updated, inserted] {
        for column in ["created_at", "updated_at", "last_accessed_at"] {
            let time = row[column].as_str().expect("a time");
            assert!(time.starts_with("20"), "{column}: {time}");
        }
        assert_eq!(row["archived_at"], Value::Null);
        assert_eq!(
            (&row["is_delete_marker"], &row["is_versioned"]),
            (&false.into(), &false.into())
        );
    }
    assert_eq!(
        app.user("ana").list("open", "").await.ok().names(),
        ["mine", "new", "theirs"]
    );
}
