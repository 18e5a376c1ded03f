-- The console's audit can be written by the console alone, and what was taken out of it shows.
--
-- An entry belongs to the transaction of its change, which runs under the login of a level. Whoever has that login could write entries of
-- others' deeds. So before the transaction begins the console's own login deposits the digest of a random secret, and the function that
-- writes the entry asks for the secret. A key with which entries are signed was considered: the function would need it in a table, and
-- pg_read_all_data shows every table to the operator. A digest is of no use to its reader.

drop function selvedge_console.write_audit(text, text, text, text, text, text, bigint, text, text);

create table selvedge_console.audit_permits (
  digest bytea primary key check (octet_length(digest) = 32),
  made_at timestamptz not null default now(),
  used_in xid8
);
comment on table selvedge_console.audit_permits is 'Digests of secrets, each of which lets one transaction write entries of the audit.';
alter table selvedge_console.audit_permits owner to supabase_admin;

-- Writes an entry, given as a JSON object with the names of the columns. For the console's own login.
create function selvedge_console.record_audit(entry text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  given jsonb := record_audit.entry::jsonb;
begin
  -- A transaction has its number before it takes the number of an entry; seal_audit relies on it.
  perform pg_catalog.pg_current_xact_id();
  insert into selvedge_console.audit (account, level, address, action, target, statement, rows, result, request_id)
  values (
    given ->> 'account', given ->> 'level', given ->> 'address', given ->> 'action', given ->> 'target',
    given ->> 'statement', (given ->> 'rows')::bigint, given ->> 'result', given ->> 'request_id');
end
$$;
comment on function selvedge_console.record_audit(text) is 'Writes an entry of the audit, for the console itself.';
alter function selvedge_console.record_audit owner to supabase_admin;
revoke execute on function selvedge_console.record_audit from public;
grant execute on function selvedge_console.record_audit to selvedge_console_service;

-- Lets one transaction write entries, and forgets secrets that were not used for a week.
create function selvedge_console.permit_audit(digest bytea) returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
begin atomic
  delete from selvedge_console.audit_permits as p
  where p.digest operator(pg_catalog.=) any (array(
    select o.digest from selvedge_console.audit_permits as o
    where o.made_at operator(pg_catalog.<) (pg_catalog.now() operator(pg_catalog.-) '7 days'::interval)
    for update skip locked
  ));
  insert into selvedge_console.audit_permits (digest) values (permit_audit.digest);
end;
comment on function selvedge_console.permit_audit(bytea) is 'Lets the transaction that knows the secret of a digest write entries of the audit.';
alter function selvedge_console.permit_audit owner to supabase_admin;
revoke execute on function selvedge_console.permit_audit from public;
grant execute on function selvedge_console.permit_audit to selvedge_console_service;

create function selvedge_console.write_audit(entry text, secret bytea) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A secret counts in the first transaction that names it. One change may have several entries.
  update selvedge_console.audit_permits as p set used_in = pg_catalog.pg_current_xact_id()
  where p.digest operator(pg_catalog.=) pg_catalog.sha256(write_audit.secret)
    and (p.used_in is null or p.used_in operator(pg_catalog.=) pg_catalog.pg_current_xact_id());
  if not found then
    raise exception 'only the console writes entries of its audit' using errcode = 'insufficient_privilege';
  end if;
  perform selvedge_console.record_audit(write_audit.entry);
end
$$;
comment on function selvedge_console.write_audit(text, bytea) is 'Writes an entry of the audit in the transaction of its change, with a secret of the console.';
alter function selvedge_console.write_audit owner to supabase_admin;
revoke execute on function selvedge_console.write_audit from public;
grant execute on function selvedge_console.write_audit
  to selvedge_console_service, selvedge_console_operator, postgres;

-- A seal is the hash of an entry and of the seal before, so an entry that is changed or removed later, by a superuser, does not match.

create table selvedge_console.audit_seals (
  entry_id bigint primary key,
  seal bytea not null check (octet_length(seal) = 32)
);
comment on table selvedge_console.audit_seals is 'For each entry of the audit, in order, the SHA-256 of the entry and of the seal before.';
alter table selvedge_console.audit_seals owner to supabase_admin;
create trigger seals_stay before update or delete or truncate on selvedge_console.audit_seals
  for each statement execute function selvedge_console.refuse_change_of_audit();
alter table selvedge_console.audit_seals enable always trigger seals_stay;

create table selvedge_console.audit_seal_progress (
  only_row boolean primary key default true check (only_row),
  upto bigint not null default 0,
  barrier xid8 not null default '0'
);
comment on table selvedge_console.audit_seal_progress is
  'Entries up to this number are decided once every transaction before the barrier has ended.';
alter table selvedge_console.audit_seal_progress owner to supabase_admin;
insert into selvedge_console.audit_seal_progress default values;

create function selvedge_console.audit_seal(previous bytea, entry selvedge_console.audit) returns bytea
language sql
stable
set search_path = pg_catalog, pg_temp
begin atomic
  -- The time as seconds, because its text depends on settings of the session.
  select pg_catalog.sha256(coalesce(previous, ''::bytea) operator(pg_catalog.||) pg_catalog.convert_to(
    pg_catalog.jsonb_build_array(
      (entry).id, extract(epoch from (entry).at), (entry).account, (entry).level, (entry).address, (entry).action, (entry).target,
      (entry).statement, (entry).rows, (entry).result, (entry).request_id)::text, 'UTF8'));
end;
comment on function selvedge_console.audit_seal(bytea, selvedge_console.audit) is 'The seal of an entry.';
alter function selvedge_console.audit_seal owner to supabase_admin;
revoke execute on function selvedge_console.audit_seal from public;

-- Seals entries in the order of their numbers. A number is taken before the commit, so a later number may be visible before an earlier
-- one: entries wait until every transaction has ended that ran when the newest number was read. Returns number and seal of the newest
-- sealed entry, how many were sealed now, and whether nothing is left.
create function selvedge_console.seal_audit(out newest bigint, out newest_seal bytea, out sealed integer, out is_complete boolean)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  progress selvedge_console.audit_seal_progress;
  entry selvedge_console.audit;
  given bigint;
begin
  sealed := 0;
  is_complete := false;
  -- Of several nodes one seals.
  select * into progress from selvedge_console.audit_seal_progress for update skip locked;
  if not found then
    return;
  end if;
  select s.entry_id, s.seal into newest, newest_seal
  from selvedge_console.audit_seals as s order by s.entry_id desc limit 1;
  if progress.barrier <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot()) then
    for entry in
      select * from selvedge_console.audit as a
      where a.id > coalesce(newest, 0) and a.id <= progress.upto order by a.id limit 10000
    loop
      newest := entry.id;
      newest_seal := selvedge_console.audit_seal(newest_seal, entry);
      insert into selvedge_console.audit_seals values (newest, newest_seal);
      sealed := sealed + 1;
    end loop;
    if sealed = 10000 then
      return;
    end if;
  -- A barrier of the future is one of another cluster, from which this database was dumped.
  elsif progress.barrier <= pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    return;
  end if;
  given := (select case when q.is_called then q.last_value else 0 end from selvedge_console.audit_id_seq as q);
  is_complete := given <= progress.upto;
  if not is_complete then
    -- After the number was read, in a statement of its own: each transaction that has taken one is older than this.
    update selvedge_console.audit_seal_progress
    set upto = given, barrier = pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot());
  end if;
end
$$;
comment on function selvedge_console.seal_audit() is 'Seals the entries of the audit before which no other one can appear.';
alter function selvedge_console.seal_audit owner to supabase_admin;
revoke execute on function selvedge_console.seal_audit from public;
grant execute on function selvedge_console.seal_audit to selvedge_console_service;

-- What does not match: entries that were removed or changed, missing seals, and entries that were put before sealed ones.
create function selvedge_console.check_audit_seals(out entry_id bigint, out fault text) returns setof record
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with seals as (
    select s.entry_id, s.seal, pg_catalog.lag(s.seal) over (order by s.entry_id) as before from selvedge_console.audit_seals as s
  )
  select s.entry_id, case when a.id is null then 'removed' else 'changed, or the seal before it is missing' end
  from seals as s
  left join selvedge_console.audit as a on a.id operator(pg_catalog.=) s.entry_id
  where a.id is null or s.seal operator(pg_catalog.<>) selvedge_console.audit_seal(s.before, a)
  union all
  select a.id, 'not sealed, although later ones are'
  from selvedge_console.audit as a
  where a.id operator(pg_catalog.<) (select pg_catalog.max(m.entry_id) from selvedge_console.audit_seals as m)
    and not exists (select from selvedge_console.audit_seals as e where e.entry_id operator(pg_catalog.=) a.id)
  order by 1
$$;
comment on function selvedge_console.check_audit_seals() is 'Entries of the audit that do not match their seals.';
alter function selvedge_console.check_audit_seals owner to supabase_admin;
revoke execute on function selvedge_console.check_audit_seals from public;
grant execute on function selvedge_console.check_audit_seals to selvedge_console_service, postgres;
grant select on selvedge_console.audit_seals to selvedge_console_service, selvedge_console_operator, postgres;
