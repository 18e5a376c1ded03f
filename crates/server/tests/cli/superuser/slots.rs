//! Replication slots of projects.

use crate::support::Project;

/// A library that a slot names would run as PostgreSQL's user of the operating system.
#[actix_web::test]
async fn no_slot_of_a_project_loads_a_library_by_its_path() {
    let project = Project::new();
    let running = project.start().await;
    let database = project.database().await;
    let refusal = async |client: &tokio_postgres::Client, sql: &str| {
        let error = client.batch_execute(sql).await.expect_err(sql);
        error.as_db_error().expect("of PostgreSQL").message().to_owned()
    };

    let ways = [
        "select pg_create_logical_replication_slot('s', '/tmp/library')",
        "select pg_copy_logical_replication_slot('s', 't', false, '/tmp/library')",
        "select _selvedge.pg_create_logical_replication_slot('s', '/tmp/library')",
        "select _selvedge.pg_create_logical_replication_slot('s', '../library')",
        "alter role postgres replication",
        "create role streaming replication",
    ];
    for way in ways {
        let message = refusal(&database, way).await;
        assert!(!message.contains("could not access"), "{way}: {message}");
    }
    // PostgreSQL 15 lets postgres become a role with REPLICATION, also in a database that it has made itself.
    let version = "select current_setting('server_version_num')::int / 10000";
    let version: i32 = database.query_one(version, &[]).await.expect("a row").get(0);
    if version == 15 {
        database
            .batch_execute("grant supabase_replication_admin to postgres")
            .await
            .expect("PostgreSQL lets it");
    }
    for template in ["template0", "template1"] {
        let create = format!("create database of_{template} template {template}");
        database.batch_execute(&create).await.expect("postgres may");
        let url = format!(
            "postgresql://postgres:postgres@127.0.0.1:{}/of_{template}",
            project.ports.database
        );
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
            .await
            .expect("a login");
        actix_web::rt::spawn(connection);
        client
            .batch_execute("set role supabase_replication_admin")
            .await
            .ok();
        let message = refusal(&client, ways[0]).await;
        assert!(!message.contains("could not access"), "{template}: {message}");
    }
    let url = format!(
        "postgresql://supabase_replication_admin:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let login = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
    assert!(login.is_err(), "its password is nobody else's");

    let own = "select _selvedge.pg_create_logical_replication_slot('own', 'test_decoding');
        create table public.streamed (id int); insert into public.streamed values (7);";
    database.batch_execute(own).await.expect("a known plugin");
    let changes = "select string_agg(data, ',') from _selvedge.pg_logical_slot_get_changes('own', null, null, 'include-xids', '0')";
    let changes: String = database.query_one(changes, &[]).await.expect("a row").get(0);
    assert!(changes.contains("id[integer]:7"), "{changes}");
    database
        .batch_execute("select _selvedge.pg_drop_replication_slot('own')")
        .await
        .expect("dropped");
    running.stop();
}
