//! S3 clients with the session token of a user, under that user's policies.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};
use serde_json::json;

use crate::s3_client::{refusal, refused, text, user};
use crate::support::{TestApp, user_id};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_096_a_session_token_applies_the_users_policies() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('docs', 'docs');
         create policy own on storage.objects for all to authenticated
           using (bucket_id = 'docs' and (storage.foldername(name))[1] = auth.uid()::text)
           with check (bucket_id = 'docs' and (storage.foldername(name))[1] = auth.uid()::text)",
    )
    .await;
    let (ana, bob) = (user(&app, "ana"), user(&app, "bob"));
    let mine = format!("{}/x", user_id("ana"));

    ana.put_object()
        .bucket("docs")
        .key(&mine)
        .body(text("private"))
        .send()
        .await
        .expect("her own folder");
    assert_eq!(
        refusal(
            bob.put_object()
                .bucket("docs")
                .key(&mine)
                .body(text("no"))
                .send()
                .await
        ),
        refused(403, "AccessDenied")
    );
    ana.get_object()
        .bucket("docs")
        .key(&mine)
        .send()
        .await
        .expect("her own");
    assert_eq!(
        // Reading what a policy hides gives the same error as reading a missing key.
        refusal(bob.get_object().bucket("docs").key(&mine).send().await),
        refused(404, "NoSuchKey")
    );
    assert_eq!(
        refusal(
            bob.copy_object()
                .bucket("docs")
                .key("x")
                .copy_source(format!("docs/{mine}"))
                .send()
                .await
        ),
        refused(404, "NoSuchKey")
    );
    assert!(
        bob.list_objects_v2()
            .bucket("docs")
            .send()
            .await
            .expect("listed")
            .contents()
            .is_empty()
    );
    assert!(
        bob.list_buckets()
            .send()
            .await
            .expect("listed")
            .buckets()
            .is_empty()
    );
    assert_eq!(
        refusal(bob.delete_object().bucket("docs").key(&mine).send().await),
        refused(403, "AccessDenied")
    );
    let object = |key: &str| ObjectIdentifier::builder().key(key).build().expect("a key");
    let delete = Delete::builder()
        .objects(object(&mine))
        .objects(object("never"))
        .build()
        .expect("a list");
    let response = bob
        .delete_objects()
        .bucket("docs")
        .delete(delete.clone())
        .send()
        .await
        .expect("answered");
    assert_eq!(response.errors()[0].code(), Some("AccessDenied"));
    // As in S3, deleting a key that does not exist succeeds.
    assert_eq!(response.deleted()[0].key(), Some("never"));

    let owner = app
        .service_role()
        .post("/object/list/docs", json!({"prefix": user_id("ana")}))
        .await;
    assert_eq!(owner.names(), ["x"]);
    let response = ana
        .delete_objects()
        .bucket("docs")
        .delete(delete)
        .send()
        .await
        .expect("answered");
    assert_eq!((response.errors().len(), response.deleted().len()), (0, 2));
    app.settle(0).await;
}
