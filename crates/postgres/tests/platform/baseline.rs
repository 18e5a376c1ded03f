//! Roles, schemas, grants and claim functions (gateway.md §9).

use selvedge_testing::TestDatabase;

#[tokio::test]
async fn gw_012_roles_have_the_attributes_of_supabase() {
    let database = TestDatabase::create().await;
    let client = database.superuser().await;

    let rows = client
        .query(
            // Those with gw_ belong to other tests, which share the cluster.
            "select rolname::text, concat_ws(' ',
               case when rolsuper then 'superuser' end, case when rolcanlogin then 'login' end,
               case when not rolinherit then 'noinherit' end, case when rolcreatedb then 'createdb' end,
               case when rolcreaterole then 'createrole' end, case when rolreplication then 'replication' end,
               case when rolbypassrls then 'bypassrls' end)
             from pg_roles where rolname !~ '^(pg|selvedge|gw)_' order by rolname",
            &[],
        )
        .await
        .expect("roles");
    let roles: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();

    let expected = [
        ("anon", ""),
        ("authenticated", ""),
        ("authenticator", "login noinherit"),
        ("dashboard_user", "createdb createrole replication"),
        ("pgbouncer", "login"),
        ("postgres", "login createdb createrole bypassrls"),
        ("service_role", "bypassrls"),
        (
            "supabase_admin",
            "superuser login createdb createrole replication bypassrls",
        ),
        ("supabase_auth_admin", "login noinherit"),
        ("supabase_etl_admin", "login replication"),
        // At Supabase it creates roles, which no service does. On PostgreSQL 15 it could then grant itself nearly every role.
        ("supabase_functions_admin", "login noinherit"),
        ("supabase_read_only_user", "login bypassrls"),
        ("supabase_realtime_admin", "noinherit"),
        ("supabase_replication_admin", "login replication"),
        ("supabase_storage_admin", "login noinherit"),
    ];
    assert_eq!(
        roles,
        expected.map(|(name, attributes)| (name.to_owned(), attributes.to_owned()))
    );
}

#[tokio::test]
async fn gw_012_authenticator_may_switch_only_to_the_api_roles() {
    let database = TestDatabase::create().await;
    let client = database.connect("authenticator").await;

    for role in ["anon", "authenticated", "service_role"] {
        client
            .batch_execute(&format!("set role {role}"))
            .await
            .expect("is a member");
    }
    client.batch_execute("reset role").await.expect("itself");
    for role in ["postgres", "supabase_admin", "supabase_auth_admin"] {
        client
            .batch_execute(&format!("set role {role}"))
            .await
            .expect_err("is no member");
    }
}
