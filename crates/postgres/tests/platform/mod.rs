//! Tests of the platform schema under the roles that Supabase projects use: `postgres` for migrations, and the API
//! roles.

mod baseline;
mod claims;
mod connections;
mod copies;
mod escalation;
mod event_triggers;
mod extension_scripts;
mod extensions;
mod hostile_calls;
mod http_sender;
mod locks;
mod memberships;
mod names;
mod privileges;
mod projects;
mod realtime;
mod replicating_roles;
mod rights;
mod sessions;
mod shipped;
mod snapshots;
mod storage;
mod superuser;
mod upgrade;
mod user_counts;
mod vault;
mod watch;

use selvedge_postgres::migrate::find_privilege_faults;
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

/// The one value of a query, as text.
pub(crate) async fn query_value(client: &Client, sql: &str) -> String {
    let row = client
        .query_one(&format!("select ({sql})::text"), &[])
        .await
        .expect("a value");
    row.get::<_, Option<String>>(0)
        .unwrap_or_else(|| "null".to_owned())
}

/// The objects that break a rule of `privileges.sql`.
pub(crate) async fn list_faulty_objects(client: &Client) -> Vec<String> {
    let faults = find_privilege_faults(client).await.expect("a list");
    faults.into_iter().map(|fault| fault.object).collect()
}

/// SQLSTATE of a refused statement.
pub(crate) async fn query_sqlstate(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err("refused");
    error.code().expect("by PostgreSQL").code().to_owned()
}

/// A connection that acts as an API request does: `role` with these claims.
pub(crate) async fn api(database: &TestDatabase, role: &str, claims: &str) -> Client {
    let client = database.connect("authenticator").await;
    client
        .batch_execute(&format!("set role {role}"))
        .await
        .expect("a member");
    client
        .execute("select set_config('request.jwt.claims', $1, false)", &[&claims])
        .await
        .expect("set");
    client
}
