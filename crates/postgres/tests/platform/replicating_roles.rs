//! Roles of a project that an operator has given REPLICATION, and who may log in as them.

use selvedge_postgres::migrate::{list_taken_memberships, take_back_memberships};
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::query_value;

async fn list(superuser: &Client) -> Vec<String> {
    let taken = list_taken_memberships(superuser, true).await.expect("a list");
    let describe = |membership: &selvedge_postgres::migrate::TakenMembership| {
        format!("{} {}", membership.member, membership.role)
    };
    taken.iter().map(describe).collect()
}

/// Before PostgreSQL 16 superusers alone set the password of such a role. Roles belong to the server, so everything is rolled back.
#[tokio::test]
async fn gw_012_nobody_who_postgres_is_sets_the_password_of_a_role_with_replication() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "begin; set local role postgres; create role gw_012_made; reset role; create role gw_012_far; create role gw_012_near;
             grant gw_012_far to gw_012_near with admin option; grant gw_012_near to postgres;
             alter role gw_012_made login replication; alter role gw_012_far login replication",
        )
        .await
        .expect("a superuser may");
    let has_grantors = query_value(&superuser, "current_setting('server_version_num')::int >= 160000").await;

    let found = list(&superuser).await;
    let taken = list_taken_memberships(&superuser, true).await.expect("a list");
    let said = take_back_memberships(&superuser, &taken).await.expect("revoked");
    let left = list(&superuser).await;
    let replicating = "select count(*) from pg_roles where rolname ~ '^gw_012_' and rolreplication";
    let replicating = query_value(&superuser, replicating).await;
    superuser.batch_execute("rollback").await.expect("as before");

    let expected: &[&str] = match has_grantors.as_str() {
        "true" => &["gw_012_near gw_012_far", "postgres gw_012_made"],
        _ => &[],
    };
    assert_eq!(found, expected);
    assert_eq!((said.len(), left.len()), (expected.len(), 0), "{said:?}");
    // What the operator has given stays.
    assert_eq!(replicating, "2");
}
