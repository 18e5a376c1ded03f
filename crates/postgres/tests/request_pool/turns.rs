//! Large responses beside new requests on the same thread.

use std::cell::Cell;

use selvedge_postgres::{JsonDocument, JsonForm, JsonRead};
use tokio::net::UnixStream;

use super::*;

/// Counts how often the thread looks for what has arrived: each round is seen by one look.
async fn count_looks(looks: Rc<Cell<usize>>) {
    let (sender, receiver) = UnixStream::pair().expect("two sockets");
    loop {
        sender.try_write(b"x").expect("there is room");
        receiver.readable().await.expect("open");
        // The second one finds nothing, so that the next round waits for a look.
        while receiver.try_read(&mut [0; 16]).is_ok() {}
        looks.set(looks.get() + 1);
    }
}

#[tokio::test]
async fn gw_049_a_thread_looks_for_requests_between_the_parts_of_large_responses() {
    LocalSet::new()
        .run_until(async {
            let pool = Pool::new(RequestPoolConfig {
                acquire_timeout: NO_LIMIT,
                ..RequestPoolConfig::default()
            })
            .await;
            let looks = Rc::new(Cell::new(0));
            let counting = tokio::task::spawn_local(count_looks(Rc::clone(&looks)));
            let statement = build_statement(
                "select i, repeat('x', 100) as text from generate_series(1, 20000) i",
                &[],
            );
            let after = build_statement("select 1", &[]);
            let read_all = async || {
                let transaction = read("service_role", &statement);
                let read = JsonRead {
                    document: JsonDocument {
                        form: JsonForm::Array,
                        has_total: false,
                    },
                    only_texts: false,
                    after: &after,
                    fallback: &|| statement.clone(),
                    may_run_twice: &|| true,
                };
                pool.pool
                    .read_json(&transaction, &read)
                    .await
                    .expect("rows")
                    .body
                    .len()
            };

            let read_six = async || {
                let reads = [(); 6].map(|()| read_all());
                futures_util::future::join_all(reads).await.iter().sum::<usize>()
            };
            // Opens the connections, for which the thread looks often.
            read_six().await;
            looks.set(0);

            let bytes = read_six().await;

            counting.abort();
            // In a row there are six parts of half a megabyte, and of somewhat more where rows lie across the ends of what is read. Without turns
            // there are one or two looks.
            let expected = bytes / (6 * 512 * 1024) / 2;
            assert!(
                looks.get() >= expected,
                "{} looks for {bytes} bytes, of {expected}",
                looks.get()
            );
        })
        .await;
}
