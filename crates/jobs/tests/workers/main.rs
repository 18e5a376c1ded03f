//! The workers of pg_net, http and pg_cron with a real PostgreSQL and a real HTTP server.

mod cron;
mod http;
mod http_server;
mod leader;
mod net;

use std::sync::Arc;
use std::time::Duration;

use selvedge_jobs::{JobsConfig, NetConfig, run_jobs_forever};
use selvedge_postgres::{Database, Logins};
use selvedge_testing::TestDatabase;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

/// Longer than anything takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Workers that call servers of this machine, as in development.
pub(crate) fn development() -> JobsConfig {
    JobsConfig {
        net: NetConfig {
            calls_private: true,
            ..NetConfig::default()
        },
        ..JobsConfig::default()
    }
}

/// Starts the workers of one node. Aborting the task is what a crash of the node is for the database.
pub(crate) async fn start_node(database: &TestDatabase, config: JobsConfig) -> JoinHandle<()> {
    start_workers(logins_of(database), config).await
}

/// The services' logins to a test's database.
pub(crate) fn logins_of(database: &TestDatabase) -> Logins {
    Logins::new(
        database.config("authenticator"),
        database.config("supabase_auth_admin"),
        database.config("supabase_storage_admin"),
    )
}

pub(crate) async fn start_workers(logins: Logins, config: JobsConfig) -> JoinHandle<()> {
    let database = Database::connect(logins).await.expect("the login works");
    tokio::spawn(run_jobs_forever(Arc::clone(&database), config))
}

/// Repeats a query until it returns true.
pub(crate) async fn wait_until(client: &Client, query: &str) {
    let wait = async {
        while !client.query_one(query, &[]).await.expect(query).get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(DEADLINE, wait)
        .await
        .unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {query}"));
}

/// The one value of a query, as text.
pub(crate) async fn query_value(client: &Client, query: &str) -> String {
    let row = client
        .query_one(&format!("select ({query})::text"), &[])
        .await
        .expect(query);
    row.get::<_, Option<String>>(0)
        .unwrap_or_else(|| "null".to_owned())
}
