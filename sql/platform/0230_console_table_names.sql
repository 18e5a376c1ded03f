-- The console's tables, with their indexes, sequences and constraints, have names that no project has. Tests of projects look up relations by
-- their names alone, and found accounts, sessions and audit in the console's schema as well.
--
-- Functions whose body is bound to what it calls follow by themselves; the others are written again. They keep their names, owners and
-- rights. The console of a node that runs the version before this file finds its tables no more until that node is replaced.

-- The next file renames these, too, in the same transaction. A sweep or a run over tenants keeps rows of them locked for minutes, and is waited for
-- before anything that sign-ins need is locked.
lock table _selvedge.internal_locks, _selvedge.worker_sessions in access exclusive mode;

do $$
declare
  found record;
begin
  for found in
    select c.oid::pg_catalog.regclass as relation, c.relname as name, c.relkind as kind
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner and o.rolsuper
    where n.nspname operator(pg_catalog.=) 'selvedge_console' and c.relname operator(pg_catalog.!~) '^selvedge_'
      and c.relkind operator(pg_catalog.=) any (array['r', 'p', 'S', 'i', 'I']::pg_catalog."char"[])
    order by c.oid
  loop
    execute pg_catalog.format(
      'alter %s %s rename to %I',
      case found.kind when 'S' then 'sequence' when 'i' then 'index' when 'I' then 'index' else 'table' end,
      found.relation, 'selvedge_' operator(pg_catalog.||) found.name);
  end loop;
  -- Those of an index have its name by now.
  for found in
    select c.conrelid::pg_catalog.regclass as relation, c.conname as name
    from pg_catalog.pg_constraint as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.connamespace
    join pg_catalog.pg_class as t on t.oid operator(pg_catalog.=) c.conrelid
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) t.relowner and o.rolsuper
    where n.nspname operator(pg_catalog.=) 'selvedge_console' and c.conname operator(pg_catalog.!~) '^selvedge_'
  loop
    execute pg_catalog.format(
      'alter table %s rename constraint %I to %I', found.relation, found.name, 'selvedge_' operator(pg_catalog.||) found.name);
  end loop;
end
$$;

create or replace function selvedge_console.write_audit(entry text, secret bytea) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A secret counts in the first transaction that names it. One change may have several entries.
  update selvedge_console.selvedge_audit_permits as p set used_in = pg_catalog.pg_current_xact_id()
  where p.digest operator(pg_catalog.=) pg_catalog.sha256(write_audit.secret)
    and (p.used_in is null or p.used_in operator(pg_catalog.=) pg_catalog.pg_current_xact_id());
  if not found then
    raise exception 'only the console writes entries of its audit' using errcode = 'insufficient_privilege';
  end if;
  perform selvedge_console.record_audit(write_audit.entry);
end
$$;

create or replace function selvedge_console.record_audit(entry text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  given jsonb := record_audit.entry::jsonb;
begin
  -- A transaction has its number before it takes the number of an entry; seal_audit relies on it.
  perform pg_catalog.pg_current_xact_id();
  insert into selvedge_console.selvedge_audit (account, level, address, action, target, statement, rows, result, request_id)
  values (
    given ->> 'account', given ->> 'level', given ->> 'address', given ->> 'action', given ->> 'target',
    given ->> 'statement', (given ->> 'rows')::bigint, given ->> 'result', given ->> 'request_id');
end
$$;

create or replace function selvedge_console.seal_audit(out newest bigint, out newest_seal bytea, out sealed integer, out is_complete boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  progress selvedge_console.selvedge_audit_seal_progress;
  entry selvedge_console.selvedge_audit;
  given bigint;
begin
  sealed := 0;
  is_complete := false;
  -- Of several nodes one seals.
  select * into progress from selvedge_console.selvedge_audit_seal_progress for update skip locked;
  if not found then
    return;
  end if;
  select s.entry_id, s.seal into newest, newest_seal
  from selvedge_console.selvedge_audit_seals as s order by s.entry_id desc limit 1;
  if progress.barrier <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot()) then
    for entry in
      select * from selvedge_console.selvedge_audit as a
      where a.id > coalesce(newest, 0) and a.id <= progress.upto order by a.id limit 10000
    loop
      newest := entry.id;
      newest_seal := selvedge_console.audit_seal(newest_seal, entry);
      insert into selvedge_console.selvedge_audit_seals values (newest, newest_seal);
      sealed := sealed + 1;
    end loop;
    if sealed = 10000 then
      return;
    end if;
  -- A barrier of the future is one of another cluster, from which this database was dumped.
  elsif progress.barrier <= pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    return;
  end if;
  given := (select case when q.is_called then q.last_value else 0 end from selvedge_console.selvedge_audit_id_seq as q);
  is_complete := given <= progress.upto;
  if not is_complete then
    -- After the number was read, in a statement of its own: each transaction that has taken one is older than this.
    update selvedge_console.selvedge_audit_seal_progress
    set upto = given, barrier = pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot());
  end if;
end
$$;

create or replace function selvedge_console.check_audit_seals(out entry_id bigint, out fault text) returns setof record
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with seals as (
    select s.entry_id, s.seal, pg_catalog.lag(s.seal) over (order by s.entry_id) as before from selvedge_console.selvedge_audit_seals as s
  )
  select s.entry_id, case when a.id is null then 'removed' else 'changed, or the seal before it is missing' end
  from seals as s
  left join selvedge_console.selvedge_audit as a on a.id operator(pg_catalog.=) s.entry_id
  where a.id is null or s.seal operator(pg_catalog.<>) selvedge_console.audit_seal(s.before, a)
  union all
  select a.id, 'not sealed, although later ones are'
  from selvedge_console.selvedge_audit as a
  where a.id operator(pg_catalog.<) (select pg_catalog.max(m.entry_id) from selvedge_console.selvedge_audit_seals as m)
    and not exists (select from selvedge_console.selvedge_audit_seals as e where e.entry_id operator(pg_catalog.=) a.id)
  order by 1
$$;
