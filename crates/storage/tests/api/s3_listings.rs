//! Listings of the S3 protocol, with the AWS SDK.

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};

#[actix_web::test]
async fn store_095_listings_page_in_both_versions() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
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
