//! Checks replication slots, and the replicas that are connected to the primary.

use selvedge_config::Config;
use tokio_postgres::{Client, Error};

use crate::finding::Finding;

const MIB: i64 = 1024 * 1024;
/// A slot or replica that holds back more WAL than this is worth a look.
const MUCH_WAL_BYTES: i64 = 1024 * MIB;

/// WAL is measured from the position up to which this server has it, be it the primary or a replica.
const SLOTS: &str = "select slot_name::text, active, coalesce(wal_status, ''), \
       coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn() \
           else pg_current_wal_lsn() end, restart_lsn), 0)::int8 \
     from pg_replication_slots order by slot_name";

/// Positions are null for logins without the rights of `pg_monitor`.
const REPLICAS: &str = "select coalesce(nullif(application_name, ''), client_addr::text, pid::text), state, \
       pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::int8 \
     from pg_stat_replication \
     where not pg_is_in_recovery() and not exists \
       (select from pg_replication_slots slot where slot.active_pid = pg_stat_replication.pid and slot_type = 'logical')";

/// Examines slots and replicas.
pub(crate) async fn examine_replication(config: &Config, client: &Client) -> Vec<Finding> {
    let mut findings = check_slots(client)
        .await
        .unwrap_or_else(|error| vec![Finding::unknown("slots", &error)]);
    if config.realtime.enabled {
        let capacity = check_capacity(client).await;
        findings.push(capacity.unwrap_or_else(|error| Finding::unknown("slots", &error)));
    }
    findings.extend(
        check_replicas(client)
            .await
            .unwrap_or_else(|error| vec![Finding::unknown("replication", &error)]),
    );
    findings
}

async fn check_slots(client: &Client) -> Result<Vec<Finding>, Error> {
    let rows = client.query(SLOTS, &[]).await?;
    let findings = rows.iter().filter_map(|row| {
        let (name, is_active, status, held): (String, bool, String, i64) =
            (row.get(0), row.get(1), row.get(2), row.get(3));
        if status == "lost" {
            return Some(Finding::error(
                "slots",
                format!("the WAL of slot {name} is lost, so its reader cannot go on"),
                format!(
                    "select _selvedge.pg_drop_replication_slot('{}'), and make its reader anew",
                    name.replace('\'', "''")
                ),
            ));
        }
        (held > MUCH_WAL_BYTES).then(|| {
            let state = if is_active { "slow" } else { "unused" };
            Finding::warning(
                "slots",
                format!("the {state} slot {name} holds back {} MiB of WAL", held / MIB),
                "find its reader, or drop the slot before the disk is full",
            )
        })
    });
    Ok(findings.collect())
}

/// Checks that there are enough slots and senders, because each node streams from a separate slot.
async fn check_capacity(client: &Client) -> Result<Finding, Error> {
    let row = client
        .query_one(
            "select current_setting('max_replication_slots')::int8 - (select count(*) from pg_replication_slots), \
                    current_setting('max_wal_senders')::int8 - (select count(*) from pg_stat_replication)",
            &[],
        )
        .await?;
    let (slots, senders): (i64, i64) = (row.get(0), row.get(1));
    let message = format!("{slots} replication slots and {senders} WAL senders are free");
    Ok(if slots.min(senders) < 1 {
        Finding::error(
            "slots",
            message,
            "raise max_replication_slots and max_wal_senders: each node needs one of each for Realtime",
        )
    } else {
        Finding::ok("slots", message)
    })
}

async fn check_replicas(client: &Client) -> Result<Vec<Finding>, Error> {
    let rows = client.query(REPLICAS, &[]).await?;
    let findings = rows.iter().map(|row| {
        let (name, state, behind): (String, Option<String>, Option<i64>) =
            (row.get(0), row.get(1), row.get(2));
        match (state.as_deref(), behind) {
            (_, None) => Finding::ok(
                "replication",
                format!("{name} is connected; this login may not see its lag"),
            ),
            (Some("streaming"), Some(behind)) if behind <= MUCH_WAL_BYTES => {
                Finding::ok("replication", format!("{name} is {} KiB behind", behind / 1024))
            }
            (state, Some(behind)) => Finding::warning(
                "replication",
                format!(
                    "{name} is {} MiB behind (state: {})",
                    behind / MIB,
                    state.unwrap_or("unknown")
                ),
                "look at the replica's log, its disk and the network between the two",
            ),
        }
    });
    Ok(findings.collect())
}
