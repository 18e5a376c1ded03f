//! Functions, guards and listings of schema `storage`.

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{api, query_sqlstate, query_value};

async fn bucket_with(database: &TestDatabase, names: &[&str]) -> Client {
    let client = database.connect("supabase_storage_admin").await;
    client
        .batch_execute("insert into storage.buckets (id, name) values ('b', 'b')")
        .await
        .expect("a bucket");
    for name in names {
        client
            .execute(
                "insert into storage.objects (bucket_id, name, metadata) values ('b', $1, '{\"size\":2}')",
                &[name],
            )
            .await
            .expect("an object");
    }
    client
}

/// The names that a listing returns, in order; folders end with a slash.
async fn listed(client: &Client, call: &str) -> String {
    query_value(
        client,
        &format!("select string_agg(name || case when id is null then '/' else '' end, ' ') from {call}"),
    )
    .await
}

#[tokio::test]
async fn storage_functions_split_object_names_and_compare_operations() {
    let database = TestDatabase::create().await;
    let client = api(&database, "anon", "{}").await;

    for (call, expected) in [
        ("storage.foldername('a/b/c.png')", "{a,b}"),
        ("storage.foldername('c.png')", "{}"),
        ("(storage.foldername('c.png'))[1]", "null"),
        ("storage.filename('a/b/c.png')", "c.png"),
        ("storage.extension('a/b.c/d.tar.gz')", "gz"),
        ("storage.extension('a.b/none')", "none"),
        ("storage.operation()", "null"),
        ("storage.allow_only_operation('object.list')", "false"),
    ] {
        assert_eq!(query_value(&client, call).await, expected, "{call}");
    }
    client
        .batch_execute("set storage.operation = 'storage.object.list'")
        .await
        .expect("set");
    for call in [
        "storage.allow_only_operation('object.list')",
        "storage.allow_only_operation('storage.object.list')",
        "storage.allow_any_operation(array['object.get', 'object.list'])",
        "not storage.allow_any_operation(array['object.get'])",
    ] {
        assert_eq!(query_value(&client, call).await, "true", "{call}");
    }
}

#[tokio::test]
async fn rows_are_protected_from_deletion_and_kept_in_shape() {
    let database = TestDatabase::create().await;
    let client = bucket_with(&database, &["a/b.png"]).await;

    assert_eq!(
        query_sqlstate(&client, "delete from storage.objects").await,
        "42501"
    );
    assert_eq!(
        query_sqlstate(&client, "delete from storage.buckets").await,
        "42501"
    );
    assert_eq!(
        query_sqlstate(
            &client,
            "insert into storage.objects (bucket_id, name) values ('none', 'x')"
        )
        .await,
        "23503"
    );
    assert_eq!(
        query_sqlstate(
            &client,
            "insert into storage.objects (bucket_id, name) values ('b', 'a/b.png')"
        )
        .await,
        "23505"
    );
    assert_eq!(
        query_sqlstate(
            &client,
            "insert into storage.buckets (id, name) values ('long', repeat('x', 101))"
        )
        .await,
        "P0001"
    );
    client
        .batch_execute("update storage.objects set updated_at = '2000-01-01', name = 'a/c.png'")
        .await
        .expect("the owner may");
    assert_eq!(
        query_value(&client, "select updated_at > '2020-01-01' from storage.objects").await,
        "true"
    );
    assert_eq!(
        query_value(&client, "select path_tokens from storage.objects").await,
        "{a,c.png}"
    );
    assert_eq!(
        query_value(
            &client,
            "select (size, bucket_id) from storage.get_size_by_bucket()"
        )
        .await,
        "(2,b)"
    );
    client
        .batch_execute("set storage.allow_delete_query = 'true'; delete from storage.objects")
        .await
        .expect("the service may");
}

#[tokio::test]
async fn without_policies_api_roles_see_nothing_and_may_not_write() {
    let database = TestDatabase::create().await;
    let _owner = bucket_with(&database, &["a.png"]).await;

    for role in ["anon", "authenticated"] {
        let client = api(&database, role, "{}").await;
        assert_eq!(
            query_value(&client, "select count(*) from storage.objects").await,
            "0"
        );
        assert_eq!(
            query_sqlstate(
                &client,
                "insert into storage.objects (bucket_id, name) values ('b', 'x')"
            )
            .await,
            "42501"
        );
        assert_eq!(
            query_sqlstate(&client, "select storage.can_insert_object('b', 'x', null, '{}')").await,
            "42501"
        );
        assert_eq!(
            query_sqlstate(&client, "select from storage.migrations").await,
            "42501"
        );
        assert_eq!(
            query_sqlstate(
                &client,
                "insert into storage.s3_multipart_uploads_parts default values"
            )
            .await,
            "42501"
        );
    }
    let service = api(&database, "service_role", "{}").await;
    assert_eq!(
        query_value(&service, "select count(*) from storage.objects").await,
        "1"
    );
    assert_eq!(
        query_sqlstate(&service, "select storage.can_insert_object('b', 'x', null, '{}')").await,
        "PT200"
    );
    assert_eq!(
        query_value(&service, "select count(*) from storage.objects").await,
        "1"
    );
}

#[tokio::test]
async fn search_lists_one_level_folds_folders_and_ignores_case() {
    let database = TestDatabase::create().await;
    let client = bucket_with(
        &database,
        &[
            "a.png",
            "B.png",
            "dir/one.png",
            "Dir/two.png",
            "dir/sub/x",
            "c%d/y",
            "z_z",
        ],
    )
    .await;

    // A folder whose name occurs in upper and lower case is one entry, spelt as in the first name found.
    for (call, expected) in [
        ("storage.search('', 'b')", "a.png B.png c%d/ dir/ z_z"),
        (
            "storage.search('', 'b', sortorder => 'desc')",
            "z_z Dir/ c%d/ B.png a.png",
        ),
        ("storage.search('dir/', 'b')", "one.png sub/ two.png"),
        ("storage.search('', 'b', limits => 2, offsets => 1)", "B.png c%d/"),
        ("storage.search('dir/', 'b', search => 'su')", "sub/"),
        ("storage.search('', 'b', search => 'dir/o')", "dir/one.png"),
        ("storage.search('', 'b', search => 'c%')", "c%d/"),
        ("storage.search('', 'b', search => '_')", "null"),
        ("storage.search('', 'none')", "null"),
    ] {
        assert_eq!(listed(&client, call).await, expected, "{call}");
    }
    // By date folders come first, in the spelling that the list by name shows. Files follow as they were made.
    assert_eq!(
        listed(&client, "storage.search('', 'b', sortcolumn => 'created_at')").await,
        "c%d/ dir/ a.png B.png z_z"
    );
}

#[tokio::test]
async fn paged_listings_continue_after_their_cursor() {
    let database = TestDatabase::create().await;
    let client = bucket_with(&database, &["a", "b/1", "b/2", "c", "d/x/y"]).await;

    for (call, expected) in [
        ("storage.search_v2('', 'b')", "a b// c d//"),
        ("storage.search_v2('', 'b', 2, 1, 'b/')", "c d//"),
        ("storage.search_v2('b/', 'b', 10, 2)", "b/1 b/2"),
        ("storage.search_v2('', 'b', sort_order => 'desc')", "d// c b// a"),
        ("storage.list_objects_with_delimiter('b', '', '/')", "a b// c d//"),
        (
            "storage.list_objects_with_delimiter('b', '', '')",
            "a b/1 b/2 c d/x/y",
        ),
        (
            "storage.list_objects_with_delimiter('b', 'd/', '/', next_token => '')",
            "d/x//",
        ),
        ("storage.list_objects_with_delimiter('b', '', '/', 1, 'a')", "b//"),
    ] {
        assert_eq!(listed(&client, call).await, expected, "{call}");
    }
    client
        .batch_execute("update storage.objects set created_at = '2024-01-01'::timestamptz + ascii(name) * interval '1 day'")
        .await
        .expect("the owner may");
    let by_date = |rest: &str| format!("storage.search_v2('', 'b', 10, 1, {rest}, 'created_at')");
    assert_eq!(
        listed(&client, "storage.search_v2('', 'b', sort_column => 'created_at')").await,
        "a b// c d//"
    );
    assert!(listed(&client, &by_date("'', 'desc'")).await.starts_with("d//"));
    assert_eq!(
        listed(
            &client,
            "storage.search_v2('', 'b', 10, 1, 'b/', 'asc', 'created_at',
               (select min(created_at)::text from storage.objects where name like 'b/%'))"
        )
        .await,
        "c d//"
    );
    assert_eq!(
        query_value(&client, "select key from storage.search_v2('b/', 'b', 1, 2)").await,
        "1"
    );
}

#[tokio::test]
async fn callers_cannot_truncate_the_tables_of_storage() {
    let database = TestDatabase::create().await;
    bucket_with(&database, &["a.png"]).await;

    for role in ["anon", "authenticated"] {
        let client = api(&database, role, "{}").await;
        for table in ["storage.objects", "storage.buckets cascade"] {
            assert_eq!(
                query_sqlstate(&client, &format!("truncate {table}")).await,
                "42501",
                "{role}: {table}"
            );
        }
    }
}
