-- Who has the name `tenants` (0133, 0134), for the message of the run that waits for it.

create function _selvedge.find_tenants_run(
  out pid integer, out application text, out client text, out started timestamptz
) returns setof record
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  select a.pid, a.application_name, pg_catalog.host(a.client_addr), a.backend_start
  from _selvedge.worker_sessions as w
  join pg_catalog.pg_stat_get_activity(null) as a
    on a.pid operator(pg_catalog.=) w.pid and a.backend_start operator(pg_catalog.=) w.started
    -- A transaction that has not ended has the row, which counts as taken.
    or a.backend_xid operator(pg_catalog.=) w.xmax
  where w.name operator(pg_catalog.=) 'tenants'::text
  order by a.pid operator(pg_catalog.=) w.pid desc nulls last
  limit 1
$$;
comment on function _selvedge.find_tenants_run() is 'The session that changes tenants.';
revoke all on function _selvedge.find_tenants_run() from public;
grant execute on function _selvedge.find_tenants_run() to postgres;
