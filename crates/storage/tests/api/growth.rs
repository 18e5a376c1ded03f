//! Lists in a bucket with many objects read a page, not the bucket. What PostgreSQL reads is counted, not the time.

use crate::support::TestApp;

const OBJECTS: &str = "
    insert into storage.buckets (id, name) values ('many', 'many');
    insert into storage.objects (bucket_id, name, version, metadata)
    select 'many', 'folder' || lpad((n % 100)::text, 2, '0') || '/' || lpad(n::text, 6, '0') || '.png', gen_random_uuid()::text,
      '{\"size\": 1, \"mimetype\": \"image/png\"}'
    from generate_series(1, 100000) n";

/// How often the transaction has read all objects, and how many it has read by an index.
const READ: &str = "select seq_scan, coalesce(idx_tup_fetch, 0) from pg_stat_xact_all_tables where relid = 'storage.objects'::regclass";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_019_pages_of_a_hundred_thousand_objects_read_no_more_than_they_show() {
    let app = TestApp::start().await;
    app.sql(OBJECTS).await;
    app.sql("vacuum analyze storage.objects").await;
    let mut client = app.database.superuser().await;
    let (by_name, v2) = (
        include_str!("../../src/sql/list_by_name.sql"),
        include_str!("../../src/sql/list_v2_by_name.sql"),
    );

    for (what, sql, values) in [
        ("the folders", by_name, "'many', '', '', 100, 0, 'asc'"),
        ("a folder", by_name, "'many', 'folder42/', '', 100, 0, 'asc'"),
        (
            "a folder backwards",
            by_name,
            "'many', 'folder42/', '', 100, 0, 'desc'",
        ),
        (
            "names behind one",
            v2,
            "'many', '', false, 'asc', 100, 'folder42/050042.png'",
        ),
        ("folders of list-v2", v2, "'many', '', true, 'desc', 100, null"),
    ] {
        let transaction = client.transaction().await.expect("begins");
        // What earlier transactions of the session have read may still be counted.
        let before = transaction.query_one(READ, &[]).await.expect("counted");
        let page = format!("prepare page as {sql}; execute page ({values}); deallocate page");
        transaction.batch_execute(&page).await.expect(what);
        let read = transaction.query_one(READ, &[]).await.expect("counted");
        let difference = |column: usize| read.get::<_, i64>(column) - before.get::<_, i64>(column);
        let (all, by_index) = (difference(0), difference(1));
        transaction.rollback().await.expect("ends");

        assert_eq!(all, 0, "{what}: all objects are read");
        assert!(by_index <= 200, "{what}: {by_index} objects are read");
    }
}
