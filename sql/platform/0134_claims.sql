-- Names of sessions (0113) that nobody else can hold up, and that are given back.
--
-- `postgres` may claim one, too, since 0133, in a transaction that it leaves open. So whoever finds the row locked does not wait for it: a
-- name that cannot be looked at is taken.

-- Names that are there from the beginning: a new one would be waited for while the transaction that adds it is open.
insert into _selvedge.worker_sessions (name) values ('tenants'), ('import') on conflict do nothing;

create or replace function _selvedge.claim_session(name text, pid integer) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  claimed_from timestamptz := (select a.backend_start from pg_catalog.pg_stat_get_activity(claim_session.pid) as a);
  holder _selvedge.worker_sessions;
begin
  if claimed_from is null then
    return false;
  end if;
  select * into holder from _selvedge.worker_sessions as w where w.name operator(pg_catalog.=) claim_session.name;
  if not found then
    insert into _selvedge.worker_sessions (name) values (claim_session.name) on conflict do nothing;
  elsif (holder.pid, holder.started) is distinct from (claim_session.pid, claimed_from)
    and _selvedge.is_session_alive(holder.pid, holder.started) then
    return false;
  end if;
  -- Asked again behind the lock of the row: of two that found no session only one gets the name.
  select * into holder from _selvedge.worker_sessions as w where w.name operator(pg_catalog.=) claim_session.name for update skip locked;
  if not found then
    return false;
  end if;
  -- Within a transaction PostgreSQL remembers the sessions that it has listed.
  perform pg_catalog.pg_stat_clear_snapshot();
  if (holder.pid, holder.started) is distinct from (claim_session.pid, claimed_from)
    and _selvedge.is_session_alive(holder.pid, holder.started) then
    return false;
  end if;
  update _selvedge.worker_sessions as w set pid = claim_session.pid, started = claimed_from
  where w.name operator(pg_catalog.=) claim_session.name;
  return true;
end
$$;

-- Behind a pooler the session of the database outlives the run that has claimed the name.
create function _selvedge.release_tenants() returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  update _selvedge.worker_sessions as w set pid = null, started = null
  where w.name operator(pg_catalog.=) 'tenants'::text and w.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()
$$;
comment on function _selvedge.release_tenants() is 'Gives back what claim_tenants has given to this session.';
revoke all on function _selvedge.release_tenants() from public;
grant execute on function _selvedge.release_tenants() to postgres;

-- Forgets the sessions of jobs that have ended, but for those that somebody is about to claim.
create function _selvedge.forget_ended_sessions() returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  delete from _selvedge.worker_sessions as w
  where w.name operator(pg_catalog.=) any (array(
    select e.name from _selvedge.worker_sessions as e
    where not e.name operator(pg_catalog.=) any (array['leader', 'tenants', 'import']::text[])
      and not _selvedge.is_session_alive(e.pid, e.started)
    for update skip locked
  ))
$$;
comment on function _selvedge.forget_ended_sessions() is 'Forgets the sessions of jobs that have ended.';
revoke all on function _selvedge.forget_ended_sessions() from public;
grant execute on function _selvedge.forget_ended_sessions() to authenticator;
