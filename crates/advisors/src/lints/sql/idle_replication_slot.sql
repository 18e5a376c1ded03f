select '', s.slot_name::text, 'replication slot', '',
  format('The replication slot %s is not in use and keeps %s of write-ahead log.', s.slot_name,
    pg_size_pretty(coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn), 0))),
  format('select _selvedge.pg_drop_replication_slot(%L)', s.slot_name)
from pg_replication_slots s
where not s.active and not s.temporary and (s.database is null or s.database = current_database())
