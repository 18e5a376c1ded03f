-- The timeline that a standby receives, of which others than members of pg_read_all_stats see nothing. A standby that does not follow the primary
-- of today shows rows that no longer exist, however much it has replayed.
create function _selvedge.received_timeline() returns integer
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select r.received_tli from pg_catalog.pg_stat_get_wal_receiver() as r
$$;
comment on function _selvedge.received_timeline() is 'The timeline that this standby receives; null on a primary and while nothing is received.';
revoke all on function _selvedge.received_timeline() from public;
grant execute on function _selvedge.received_timeline() to authenticator;
