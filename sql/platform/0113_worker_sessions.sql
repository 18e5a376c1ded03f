-- Which session leads the workers of pg_net and pg_cron, and which sessions run jobs.
--
-- Advisory locks do not say it: every role that can call a function may take one, so anybody could keep a job from running or every
-- node from leading, while others believe that the workers run. A row here names the session, by its process and the time at which
-- it began, and counts as long as that session lives. Only the workers' login may write it, by these functions.

create table _selvedge.worker_sessions (
  name text primary key,
  pid integer,
  started timestamptz
);
comment on table _selvedge.worker_sessions is 'The sessions that lead the workers and run the jobs of pg_cron.';
revoke all on _selvedge.worker_sessions from public;
insert into _selvedge.worker_sessions (name) values ('leader');

create function _selvedge.is_session_alive(pid integer, started timestamptz) returns boolean
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_catalog.pg_stat_get_activity(is_session_alive.pid) as a
    where is_session_alive.pid is not null
      and a.backend_start operator(pg_catalog.=) is_session_alive.started
  )
$$;
comment on function _selvedge.is_session_alive(integer, timestamptz) is 'Whether the session of this process that began at this time has not ended.';
revoke all on function _selvedge.is_session_alive(integer, timestamptz) from public;

-- Gives the name to the session of this process, unless another session that lives has it.
create function _selvedge.claim_session(name text, pid integer) returns boolean
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
  if found and (holder.pid, holder.started) is distinct from (claim_session.pid, claimed_from)
    and _selvedge.is_session_alive(holder.pid, holder.started) then
    return false;
  end if;
  insert into _selvedge.worker_sessions (name) values (claim_session.name) on conflict do nothing;
  -- Asked again behind the lock of the row: of two that found no session only one gets the name.
  select * into holder from _selvedge.worker_sessions as w where w.name operator(pg_catalog.=) claim_session.name for update;
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
comment on function _selvedge.claim_session(text, integer) is 'Gives a name to a session, unless another session that lives has it.';
revoke all on function _selvedge.claim_session(text, integer) from public;

-- Whether a session holds an advisory lock by which versions before this file lead, or run the job of this number: one of this login,
-- and for a job one that calls itself pg_cron. Sessions of others hold it in vain.
create function _selvedge.is_locked_by_earlier_version(class integer, object integer, login name, application text)
  returns boolean
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_catalog.pg_locks as l
    join pg_catalog.pg_stat_get_activity(null) as a on a.pid operator(pg_catalog.=) l.pid
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) a.usesysid
    where l.locktype operator(pg_catalog.=) 'advisory' and l.granted and l.objsubid operator(pg_catalog.=) 2
      and l.database operator(pg_catalog.=) (
        select d.oid from pg_catalog.pg_database as d where d.datname operator(pg_catalog.=) pg_catalog.current_database()
      )
      and l.classid operator(pg_catalog.=) class::oid and l.objid operator(pg_catalog.=) object::oid
      and r.rolname operator(pg_catalog.=) login
      and (application is null or a.application_name operator(pg_catalog.=) application)
      and not exists (
        select from _selvedge.worker_sessions as w
        where w.pid operator(pg_catalog.=) a.pid and w.started operator(pg_catalog.=) a.backend_start
      )
  )
$$;
comment on function _selvedge.is_locked_by_earlier_version(integer, integer, name, text) is 'Whether a worker of an earlier version holds this advisory lock.';
revoke all on function _selvedge.is_locked_by_earlier_version(integer, integer, name, text) from public;

-- Whether a node leads the workers.
create function _selvedge.are_workers_up() returns boolean
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from _selvedge.worker_sessions as w
    where w.name operator(pg_catalog.=) 'leader' and _selvedge.is_session_alive(w.pid, w.started)
  ) or _selvedge.is_locked_by_earlier_version(1936486514, 1785684595, 'authenticator', null)
$$;
comment on function _selvedge.are_workers_up() is 'Whether a node leads the workers of pg_net and pg_cron.';

grant select, delete on _selvedge.worker_sessions to authenticator;
grant execute on function _selvedge.is_session_alive(integer, timestamptz) to authenticator;
grant execute on function _selvedge.claim_session(text, integer) to authenticator;
grant execute on function _selvedge.is_locked_by_earlier_version(integer, integer, name, text) to authenticator;
grant execute on function _selvedge.are_workers_up() to public;

-- pg_net's own question, where the extension was created before this file.
do $$
begin
  if exists (
    select from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace and n.nspname = 'net'
    join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    where p.proname = '_is_worker_up' and p.pronargs = 0
  ) then
    create or replace function net._is_worker_up() returns boolean
      language sql stable
    as $body$ select _selvedge.are_workers_up() $body$;
  end if;
end
$$;

-- The row that one node locks while it maintains the partitions of realtime.messages.
create table _selvedge.internal_locks (name text primary key);
comment on table _selvedge.internal_locks is 'Rows that services lock, because every role may take an advisory lock.';
revoke all on _selvedge.internal_locks from public;
insert into _selvedge.internal_locks values ('realtime.messages partitions');

do $$
declare
  maintainer pg_catalog.regprocedure := pg_catalog.to_regprocedure('realtime.maintain_messages_partitions(integer)');
  owner name;
begin
  -- A project may have dropped it.
  if maintainer is null then
    return;
  end if;
  select r.rolname into strict owner
  from pg_catalog.pg_proc as p
  join pg_catalog.pg_roles as r on r.oid = p.proowner
  where p.oid = maintainer;
  execute pg_catalog.format('grant select, update on _selvedge.internal_locks to %I', owner);
  -- By UPDATE: whoever may replace the function writes its default values, and reading these in a statement can run code.
  update pg_catalog.pg_proc as p
  set prosrc = pg_catalog.replace(
    p.prosrc,
    $text$perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('realtime.messages partitions', 0));$text$,
    $text$perform from _selvedge.internal_locks as l where l.name operator(pg_catalog.=) 'realtime.messages partitions' for update;$text$
  )
  where p.oid operator(pg_catalog.=) maintainer::pg_catalog.oid;
end
$$;
