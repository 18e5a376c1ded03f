//! Whose transactions are ended while a disk has hardly any room.

use super::*;
use crate::cluster::disk_guard::END_WRITING_TRANSACTIONS;

/// The logins of transactions that have written and are ended.
async fn end_writing(superuser: &Client, begun_before: &str, of_operators: &str) -> Vec<String> {
    let rows = superuser
        .query(END_WRITING_TRANSACTIONS, &[&begun_before, &of_operators])
        .await
        .expect("ended");
    let mut logins: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    logins.sort();
    logins
}

#[tokio::test]
async fn prod_009_an_operator_makes_room_while_all_other_transactions_that_write_are_ended() {
    let project = Project::new();
    let cluster = project.start().await.expect("starts");
    let guard = superuser(&cluster).await;
    guard
        .batch_execute(
            "do $$ begin
               if to_regrole('postgres') is null then create role postgres; end if;
             end $$;
             alter role postgres login password 'p';
             create role service login password 'p';
             create table filled as select generate_series(1, 10) as id;
             alter table filled owner to postgres; grant insert on filled to service",
        )
        .await
        .expect("made");
    let login = async |role: &str| {
        let config = cluster.access().config_for(role, &"p".to_owned().into());
        connect(config).await.expect("a session")
    };
    let (service, postgres, administrator) = (
        login("service").await,
        login("postgres").await,
        superuser(&cluster).await,
    );
    for (session, write) in [
        (&service, "begin read write; insert into filled values (11)"),
        (&postgres, "begin read write; insert into filled values (12)"),
        (&administrator, "begin read write; create table made (id int)"),
    ] {
        session.batch_execute(write).await.expect("written");
    }

    let ended = end_writing(&guard, "infinity", "-infinity").await;
    postgres
        .batch_execute("truncate filled; commit")
        .await
        .expect("it makes room");
    let later = end_writing(&guard, "infinity", "infinity").await;

    assert_eq!(ended, ["service"]);
    assert!(service.batch_execute("commit").await.is_err());
    // Transactions that began before the database became read-only may go on writing, so they are ended, too.
    assert_eq!(later, [SUPERUSER]);
    cluster.stop().await.expect("stops");
}
