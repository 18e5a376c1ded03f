-- Replication slots, and how much WAL each keeps for its reader.
select
  s.slot_name,
  s.active,
  coalesce(r.state, 'N/A') as state,
  coalesce(r.client_addr::text, 'N/A') as replication_client_address,
  round(greatest(pg_wal_lsn_diff(
    case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
    s.restart_lsn
  ), 0) / 1073741824, 2) as replication_lag_gb
from pg_catalog.pg_replication_slots s
left join pg_catalog.pg_stat_replication r on r.pid = s.active_pid
order by s.slot_name
