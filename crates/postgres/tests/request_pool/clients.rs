//! Requests of several clients on the same connection.

use std::cell::Cell;

use selvedge_limits::ClientId;

use super::*;

#[tokio::test]
async fn gw_049_many_requests_of_one_client_do_not_run_before_those_of_another() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                connections_per_worker: 1,
                max_connections_per_worker: 1,
                max_wait_behind: NO_LIMIT,
                slow_statement: NO_LIMIT,
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            let statement = build_statement("select pg_sleep(0.005)::text", &[]);
            let request = async |client| {
                let transaction = RequestTransaction {
                    client: Some(&client),
                    ..read("service_role", &statement)
                };
                pool.pool.run(transaction).await.expect("an answer");
            };
            let [one, other] = [(); 2].map(|()| ClientId::of_connection(None));
            // From now on the statement counts as fast, and the pool knows of both clients.
            request(other).await;
            request(one).await;
            let finished = Cell::new(0);
            let flood = futures_util::future::join_all([one; 40].map(async |client| {
                request(client).await;
                finished.set(finished.get() + 1);
            }));
            let beside = async {
                tokio::task::yield_now().await;
                request(other).await;
                finished.get()
            };

            let (_, before) = tokio::join!(flood, beside);

            assert!(
                before < 20,
                "{before} of 40 ran before the request of the other client"
            );
        })
        .await;
}
