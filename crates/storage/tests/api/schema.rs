//! The schema `storage` as policies, triggers and migrations of a project use it.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_056_foldername_filename_and_extension_split_keys() {
    let app = TestApp::start().await;
    let database = app.database.connect("postgres").await;
    for (name, folders, file, extension) in [
        ("a/b/c.txt", vec!["a", "b"], "c.txt", "txt"),
        ("c.tar.gz", vec![], "c.tar.gz", "gz"),
        ("README", vec![], "README", "README"),
        ("a/README", vec!["a"], "README", "README"),
        ("a.b/c", vec!["a.b"], "c", "c"),
        ("a//b", vec!["a", ""], "b", "b"),
        ("a/", vec!["a"], "", ""),
        (".hidden", vec![], ".hidden", "hidden"),
    ] {
        let row = database
            .query_one(
                "select storage.foldername($1), storage.filename($1), storage.extension($1), \
                 (storage.foldername($1))[1]",
                &[&name],
            )
            .await
            .expect("the helpers respond");

        assert_eq!(row.get::<_, Vec<String>>(0), folders, "{name}");
        assert_eq!(row.get::<_, String>(1), file, "{name}");
        assert_eq!(row.get::<_, String>(2), extension, "{name}");
        assert_eq!(row.get::<_, Option<&str>>(3), folders.first().copied(), "{name}");
    }
    // Only immutable functions can be used in the indexes and generated columns of a project.
    let immutable = "select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace \
                     where n.nspname = 'storage' and p.proname in ('foldername', 'filename', 'extension') \
                     and p.provolatile = 'i'";
    assert_eq!(app.count(immutable).await, 3);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_058_migrations_may_create_policies_and_triggers() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;

    // Run as `postgres`, which does not own the tables.
    app.sql(
        "create policy \"Everyone reads\" on storage.objects for select using (bucket_id = 'b');
         create policy shown on storage.buckets for select to anon using (true);
         create table public.log (name text);
         create function public.note() returns trigger language plpgsql security definer as
           $$ begin insert into public.log values (new.name); return new; end $$;
         create trigger note after insert on storage.objects for each row execute function public.note();
         create view public.files as select name from storage.objects;
         create table public.notes (object uuid references storage.objects (id) on delete cascade);",
    )
    .await;
    app.service_role().upload("b/x", "text").await.ok();

    assert_eq!(app.anon().get("/object/b/x").await.text(), "text");
    assert_eq!(app.anon().get("/bucket/b").await.ok().json()["id"], json!("b"));
    assert_eq!(
        app.count("select count(*) from public.log where name = 'x'")
            .await,
        1
    );
    app.sql("drop trigger note on storage.objects; drop policy \"Everyone reads\" on storage.objects")
        .await;
    app.anon().get("/object/b/x").await.is(400, "404", "NoSuchKey");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_059_tables_are_those_of_the_contract() {
    let app = TestApp::start().await;
    let database = app.database.superuser().await;
    let columns = async |table: &str| -> Vec<String> {
        let rows = database
            .query(
                "select concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), \
                 case when a.attnotnull then 'not null' end, \
                 case a.attgenerated when 's' then 'stored' end, pg_get_expr(d.adbin, d.adrelid)) \
                 from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum \
                 where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum",
                &[&table],
            )
            .await
            .expect("the catalog responds");
        rows.iter().map(|row| row.get(0)).collect()
    };

    assert_eq!(
        columns("storage.buckets").await,
        [
            "id text not null",
            "name text not null",
            "owner uuid",
            "created_at timestamp with time zone now()",
            "updated_at timestamp with time zone now()",
            "public boolean false",
            "avif_autodetection boolean false",
            "file_size_limit bigint",
            "allowed_mime_types text[]",
            "owner_id text",
            "type storage.buckettype not null 'STANDARD'::storage.buckettype",
            "versioning_status text not null 'DISABLED'::text",
            "lifecycle_configuration jsonb",
            "lifecycle_generation bigint not null 0",
        ]
    );
    assert_eq!(
        columns("storage.objects").await,
        [
            "id uuid not null gen_random_uuid()",
            "bucket_id text",
            "name text",
            "owner uuid",
            "created_at timestamp with time zone now()",
            "updated_at timestamp with time zone now()",
            "last_accessed_at timestamp with time zone now()",
            "metadata jsonb",
            "path_tokens text[] stored string_to_array(name, '/'::text)",
            "version text",
            "owner_id text",
            "user_metadata jsonb",
            "archived_at timestamp with time zone",
            "is_delete_marker boolean not null false",
            "is_versioned boolean not null false",
        ]
    );
    let names = async |query: &str| -> Vec<String> {
        let rows = database.query(query, &[]).await.expect("the catalog responds");
        rows.iter().map(|row| row.get(0)).collect()
    };
    assert_eq!(
        names("select indexname::text from pg_indexes where schemaname = 'storage' and tablename = 'objects' order by 1")
            .await,
        [
            "bucketid_objname",
            "idx_objects_bucket_id_name",
            // Our own index for listings, which policies do not prevent from being used.
            "idx_objects_bucket_id_name_fold",
            "idx_objects_bucket_id_name_lower",
            "name_prefix_search",
            "objects_pkey",
            "objects_version",
        ]
    );
    assert_eq!(
        names(
            "select tgname::text from pg_trigger where tgrelid in ('storage.objects'::regclass, \
             'storage.buckets'::regclass) and not tgisinternal order by 1"
        )
        .await,
        [
            "enforce_bucket_name_length_trigger",
            // Our own: which versioning may follow, and who sets lifecycle rules.
            "protect_bucket_columns",
            "protect_buckets_delete",
            // Our own: what identifies and describes the bytes of an object is not the users'.
            "protect_object_columns",
            "protect_objects_delete",
            "update_objects_updated_at",
            // Our own: what a bucket with versions keeps.
            "version_of_object",
            "version_of_object_asked",
            "version_of_object_kept",
            "version_of_object_left",
        ]
    );
    let tables = names(
        "select relname::text from pg_class where relnamespace = 'storage'::regnamespace and relkind = 'r'",
    )
    .await;
    assert!(!tables.iter().any(|table| table == "prefixes"));
    // Every table has row-level security, including our own for resumable uploads.
    let open = "select count(*) from pg_class where relnamespace = 'storage'::regnamespace and relkind = 'r' \
                and not relrowsecurity";
    assert_eq!(app.count(open).await, 0);
    let readable = "select count(*) from (values ('anon'), ('authenticated')) as roles (name), \
                    (values ('storage.resumable_uploads'), ('storage.resumable_pieces')) as tables (name) \
                    where has_table_privilege(roles.name, tables.name, 'select, insert, update, delete')";
    assert_eq!(app.count(readable).await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_076_search_ignores_case_and_spans_folders() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let service = app.service_role();
    for key in [
        "top.txt",
        "Docs/Report.pdf",
        "Docs/deep/Report-2.pdf",
        "Docs/deep/er/report-3.pdf",
        "Docs/100%_done.txt",
        "Docs/100xydone.txt",
    ] {
        service
            .upload(&format!("b/{}", key.replace('%', "%25")), "x")
            .await;
    }
    for (prefix, search, expected) in [
        ("Docs", "rep", vec!["Report.pdf"]),
        ("Docs", "DEEP/rep", vec!["deep/Report-2.pdf"]),
        ("docs", "deep/er/R", vec!["deep/er/report-3.pdf"]),
        ("Docs", "de", vec!["deep"]),
        ("", "docs/deep/e", vec!["Docs/deep/er"]),
        ("", "TOP", vec!["top.txt"]),
        ("Docs", "100x", vec!["100xydone.txt"]),
        ("Docs", "100_", vec![]),
        ("Docs", "nothing", vec![]),
    ] {
        let response = service
            .post("/object/list/b", json!({"prefix": prefix, "search": search}))
            .await
            .ok()
            .json();
        let names: Vec<String> = response
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["name"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(names, expected, "{prefix:?} {search:?}");
    }
}
