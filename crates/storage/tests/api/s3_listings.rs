//! Listings of the S3 protocol, with the AWS SDK.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_list_objects_pages_in_both_versions() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    // Characters that XML and URLs must escape. Keys cannot contain `<` and `>`, so these become quotes.
    for key in ["a.txt", "dir/1", "dir/2", "dir_x/1", "e & <f>", "z"] {
        let key = key.replace(['<', '>'], "'");
        s3.put_object()
            .bucket("b")
            .key(key)
            .body(text("x"))
            .send()
            .await
            .expect("stored");
    }

    let all = s3.list_objects_v2().bucket("b").send().await.expect("listed");
    let keys: Vec<_> = all.contents().iter().filter_map(|o| o.key()).collect();
    assert_eq!(keys, ["a.txt", "dir/1", "dir/2", "dir_x/1", "e & 'f'", "z"]);
    assert_eq!(all.contents()[0].size(), Some(1));
    assert!(all.contents()[0].last_modified().is_some() && all.contents()[0].e_tag().is_some());

    let (mut seen, mut token) = (Vec::new(), None);
    loop {
        let page = s3
            .list_objects_v2()
            .bucket("b")
            .delimiter("/")
            .max_keys(2)
            .encoding_type(aws_sdk_s3::types::EncodingType::Url)
            .set_continuation_token(token)
            .send()
            .await
            .expect("listed");
        seen.extend(page.contents().iter().filter_map(|o| o.key()).map(str::to_owned));
        seen.extend(
            page.common_prefixes()
                .iter()
                .filter_map(|p| p.prefix())
                .map(str::to_owned),
        );
        assert_eq!(
            page.key_count(),
            Some((page.contents().len() + page.common_prefixes().len()) as i32)
        );
        token = page.next_continuation_token().map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, ["a.txt", "dir/", "dir_x/", "e%20%26%20%27f%27", "z"]);

    let below = s3
        .list_objects_v2()
        .bucket("b")
        .prefix("dir/")
        .start_after("dir/1")
        .send()
        .await
        .expect("listed");
    assert_eq!(
        below
            .contents()
            .iter()
            .filter_map(|o| o.key())
            .collect::<Vec<_>>(),
        ["dir/2"]
    );
    let first = s3
        .list_objects()
        .bucket("b")
        .delimiter("/")
        .max_keys(2)
        .send()
        .await
        .expect("listed");
    assert_eq!(
        (first.is_truncated(), first.next_marker()),
        (Some(true), Some("dir/"))
    );
    let second = s3
        .list_objects()
        .bucket("b")
        .delimiter("/")
        .marker("dir/")
        .send()
        .await
        .expect("listed");
    assert_eq!(
        second
            .contents()
            .iter()
            .filter_map(|o| o.key())
            .collect::<Vec<_>>(),
        ["e & 'f'", "z"]
    );
    let prefixes: Vec<_> = second
        .common_prefixes()
        .iter()
        .filter_map(|p| p.prefix())
        .collect();
    assert_eq!(prefixes, ["dir_x/"]);
    assert_eq!(
        refusal(s3.list_objects_v2().bucket("none").send().await),
        refused(404, "NoSuchBucket")
    );
    let broken = s3
        .list_objects_v2()
        .bucket("b")
        .continuation_token("%")
        .send()
        .await;
    assert_eq!(refusal(broken), refused(400, "InvalidParameter"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_lists_work_when_the_originals_functions_replace_ours() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    for key in ["a.txt", "dir/1"] {
        let put = s3.put_object().bucket("b").key(key).body(text("x"));
        put.send().await.expect("stored");
    }
    let begun = s3.create_multipart_upload().bucket("b").key("dir/2");
    begun.send().await.expect("begun");
    // Migrations of the original define functions of these names; here their bodies return nothing.
    let replace = "set role supabase_storage_admin;
        create or replace function storage.get_common_prefix(p_key text, p_prefix text, p_delimiter text) returns text
          language sql immutable return null;
        create or replace function storage.list_objects_with_delimiter(_bucket_id text, prefix_param text,
          delimiter_param text, max_keys integer default 100, start_after text default '', next_token text default '',
          sort_order text default 'asc') returns table (name text, id uuid, metadata jsonb, updated_at timestamptz,
          created_at timestamptz, last_accessed_at timestamptz) language plpgsql as 'begin return; end';
        create or replace function storage.list_multipart_uploads_with_delimiter(bucket_id text, prefix_param text,
          delimiter_param text, max_keys integer default 100, next_key_token text default '',
          next_upload_token text default '') returns table (key text, id text, created_at timestamptz)
          language plpgsql as 'begin return; end'";
    let superuser = app.database.superuser().await;
    superuser.batch_execute(replace).await.expect("replaced");

    let listed = s3
        .list_objects_v2()
        .bucket("b")
        .delimiter("/")
        .send()
        .await
        .expect("listed");
    let uploads = s3
        .list_multipart_uploads()
        .bucket("b")
        .delimiter("/")
        .send()
        .await
        .expect("listed");
    let v2 = app
        .service_role()
        .post("/object/list-v2/b", serde_json::json!({"with_delimiter": true}))
        .await
        .ok()
        .json();

    assert_eq!((listed.contents().len(), listed.common_prefixes().len()), (1, 1));
    assert_eq!(uploads.common_prefixes().len(), 1);
    assert_eq!(v2["folders"][0]["name"], "dir/");
    assert_eq!(v2["objects"][0]["name"], "a.txt");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_list_buckets_takes_a_prefix() {
    let app = app_with_bucket().await;
    app.sql("insert into storage.buckets (id, name) values ('other', 'other')")
        .await;

    let listed = service(&app)
        .list_buckets()
        .prefix("o")
        .send()
        .await
        .expect("listed");

    let names: Vec<_> = listed
        .buckets()
        .iter()
        .filter_map(|bucket| bucket.name())
        .collect();
    assert_eq!(names, ["other"]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_delete_objects_takes_a_thousand_keys_at_most() {
    let app = app_with_bucket().await;
    let delete = async |count: usize| {
        let objects = (0..count).map(|number| {
            let object = ObjectIdentifier::builder().key(number.to_string());
            object.build().expect("a key")
        });
        let delete = Delete::builder()
            .set_objects(Some(objects.collect()))
            .build()
            .expect("a list");
        service(&app)
            .delete_objects()
            .bucket("b")
            .delete(delete)
            .send()
            .await
    };

    assert_eq!(delete(1000).await.expect("deleted").deleted().len(), 1000);
    assert_eq!(refusal(delete(1001).await), refused(400, "MalformedXML"));
}
