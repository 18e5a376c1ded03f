//! The replication stream against a real walsender.

use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::replication::{LogicalMessage, ReplicationError, ReplicationStream, TupleValue};
use selvedge_postgres::{Database, Logins};
use selvedge_testing::TestDatabase;

/// The publication that every project has.
const PUBLICATION: &str = "supabase_realtime";

fn create_database(test: &TestDatabase, role: &str) -> Arc<Database> {
    let login = test.config("authenticator");
    let logins = Logins::new(login.clone(), login.clone(), login).with_replication(test.config(role));
    Database::new(logins)
}

async fn next(stream: &mut ReplicationStream) -> LogicalMessage {
    tokio::time::timeout(Duration::from_secs(60), stream.next())
        .await
        .expect("a message within 20 s")
        .expect("the stream goes on")
}

fn tuple_texts(values: &[TupleValue]) -> Vec<Option<&str>> {
    let text = |value: &'_ TupleValue| match value {
        TupleValue::Text(bytes) => Some(str::from_utf8(bytes).expect("UTF-8").to_owned()),
        TupleValue::Null | TupleValue::Unchanged => None,
    };
    values
        .iter()
        .map(text)
        .map(|text| text.map(|text| &*text.leak()))
        .collect()
}

#[tokio::test(flavor = "current_thread")]
async fn committed_changes_arrive_in_order_and_rolled_back_ones_do_not() {
    let test = TestDatabase::create().await;
    let client = test.connect("postgres").await;
    client
        .batch_execute(
            "create table notes (id int primary key, at timestamptz, body bytea);
             alter publication supabase_realtime add table notes;",
        )
        .await
        .expect("a published table");
    let mut stream = ReplicationStream::start(
        &create_database(&test, "supabase_replication_admin"),
        &[PUBLICATION],
    )
    .await
    .expect("a stream");

    client
        .batch_execute(
            "set timezone = 'Asia/Tokyo';
             begin; insert into notes values (9, null, null); rollback;
             begin; insert into notes values (1, '2026-01-02 03:04:05.678+00', '\\x0102');
             update notes set id = 2; delete from notes; commit;",
        )
        .await
        .expect("changes");

    assert!(
        matches!(next(&mut stream).await, LogicalMessage::Begin { commit_lsn, xid, committed_at_us } if commit_lsn > 0 && xid > 0 && committed_at_us > 0)
    );
    let LogicalMessage::Relation(relation) = next(&mut stream).await else {
        panic!("a relation comes before its first change");
    };
    assert_eq!(
        (
            relation.schema.as_str(),
            relation.name.as_str(),
            relation.columns.len()
        ),
        ("public", "notes", 3)
    );
    let LogicalMessage::Insert { new, .. } = next(&mut stream).await else {
        panic!("an insert");
    };
    assert_eq!(
        tuple_texts(&new.values),
        [Some("1"), Some("2026-01-02 03:04:05.678+00"), Some("\\x0102")]
    );
    let LogicalMessage::Update {
        old: Some(old), new, ..
    } = next(&mut stream).await
    else {
        panic!("an update with the old key");
    };
    assert_eq!(
        (tuple_texts(&old.values)[0], tuple_texts(&new.values)[0]),
        (Some("1"), Some("2"))
    );
    assert!(old.is_key_only);
    let LogicalMessage::Delete { old, .. } = next(&mut stream).await else {
        panic!("a delete");
    };
    assert_eq!(tuple_texts(&old.values), [Some("2"), None, None]);
    let LogicalMessage::Commit { end_lsn } = next(&mut stream).await else {
        panic!("a commit");
    };
    stream.confirm(end_lsn);
    assert_eq!(stream.lag_bytes(), 0);
}

#[tokio::test(flavor = "current_thread")]
async fn realtime_058_no_slot_is_left_when_the_connection_ends() {
    let test = TestDatabase::create().await;
    let client = test.superuser().await;
    let count = "select count(*) from pg_replication_slots where database = current_database()";
    let stream = ReplicationStream::start(
        &create_database(&test, "supabase_replication_admin"),
        &[PUBLICATION],
    )
    .await
    .expect("a stream");
    assert_eq!(
        client
            .query_one(count, &[])
            .await
            .expect("a count")
            .get::<_, i64>(0),
        1
    );

    drop(stream);

    while client
        .query_one(count, &[])
        .await
        .expect("a count")
        .get::<_, i64>(0)
        > 0
    {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_role_without_the_right_is_refused_with_its_sqlstate() {
    let test = TestDatabase::create().await;

    let refusal = ReplicationStream::start(&create_database(&test, "authenticator"), &[PUBLICATION]).await;

    let Err(ReplicationError::Refused { code, .. }) = refusal else {
        panic!("a refusal");
    };
    assert_eq!(code, "42501");
}

#[tokio::test(flavor = "current_thread")]
async fn a_terminated_walsender_ends_the_stream_with_an_error() {
    let test = TestDatabase::create().await;
    let client = test.superuser().await;
    let mut stream = ReplicationStream::start(
        &create_database(&test, "supabase_replication_admin"),
        &[PUBLICATION],
    )
    .await
    .expect("a stream");

    client
        .execute(
            "select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()",
            &[],
        )
        .await
        .expect("it is terminated");

    let end = tokio::time::timeout(Duration::from_secs(60), stream.next())
        .await
        .expect("within 20 s");
    assert!(end.is_err());
}
