-- Replication slots of projects (docs/decisions.md, "Rights of `postgres`"). A logical slot names the library that writes its changes, by
-- any path, and PostgreSQL loads it for whoever has REPLICATION. A file that somebody has uploaded or that a function has written would
-- run as PostgreSQL's user of the operating system. So `postgres` makes slots by a function that takes three names.

-- On PostgreSQL 15 `postgres` may become every role that is no superuser, so these two belong to superusers alone. By UPDATE, as it has to
-- be done in every database of a cluster, and other statements fire event triggers.
update pg_catalog.pg_proc as p
set proacl = array[pg_catalog.makeaclitem(p.proowner, p.proowner, 'EXECUTE', false)]
where p.pronamespace = 11
  and p.proname in ('pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot');

-- Whoever logs in as `postgres` to stream changes may have made a slot, and its changes pile up when nobody reads them any more.
do $$
begin
  if not (select r.rolreplication and not r.rolsuper from pg_catalog.pg_roles as r where r.rolname = 'postgres') then
    return;
  end if;
  if exists (select from pg_catalog.pg_replication_slots as s where not s.temporary)
    or exists (select from pg_catalog.pg_stat_replication as r where r.usename = 'postgres')
  then
    raise warning 'postgres keeps the attribute REPLICATION, because changes are streamed or kept in slots'
      using hint = 'Let a login of its own read them, then: alter role postgres noreplication';
    return;
  end if;
  alter role postgres noreplication;
end
$$;

-- Reads slots and drops them, for `postgres`. It makes none.
do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'selvedge_replication') then
    create role selvedge_replication;
  end if;
end
$$;
alter role selvedge_replication
  nosuperuser nologin noinherit nocreatedb nocreaterole replication nobypassrls password null;

-- PostgreSQL's functions of the same names, with the plugins that Supabase's image has.
create function _selvedge.pg_create_logical_replication_slot(
  inout slot_name name, plugin name, temporary boolean default false, twophase boolean default false, out lsn pg_lsn
)
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if plugin is null or plugin::text <> all (array['pgoutput'::text, 'test_decoding', 'wal2json']) then
    raise insufficient_privilege using
      message = 'permission denied for the output plugin ' || coalesce(quote_literal(plugin::text), 'null'::text),
      hint = 'Slots are made with pgoutput, test_decoding or wal2json.';
  end if;
  select c.slot_name, c.lsn into slot_name, lsn
  from pg_create_logical_replication_slot(slot_name, plugin, temporary, twophase) as c;
end
$$;

create function _selvedge.pg_drop_replication_slot(slot_name name) returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
begin atomic
  select pg_catalog.pg_drop_replication_slot(slot_name);
end;

create function _selvedge.pg_logical_slot_get_changes(
  slot_name name, upto_lsn pg_lsn, upto_nchanges integer, variadic options text[] default '{}'
) returns table (lsn pg_lsn, xid xid, data text)
  language sql security definer
  set search_path = pg_catalog, pg_temp
begin atomic
  select c.lsn, c.xid, c.data
  from pg_catalog.pg_logical_slot_get_changes(slot_name, upto_lsn, upto_nchanges, variadic options) as c;
end;

create function _selvedge.pg_logical_slot_peek_changes(
  slot_name name, upto_lsn pg_lsn, upto_nchanges integer, variadic options text[] default '{}'
) returns table (lsn pg_lsn, xid xid, data text)
  language sql security definer
  set search_path = pg_catalog, pg_temp
begin atomic
  select c.lsn, c.xid, c.data
  from pg_catalog.pg_logical_slot_peek_changes(slot_name, upto_lsn, upto_nchanges, variadic options) as c;
end;

alter function _selvedge.pg_drop_replication_slot(name) owner to selvedge_replication;
alter function _selvedge.pg_logical_slot_get_changes(name, pg_lsn, integer, text[]) owner to selvedge_replication;
alter function _selvedge.pg_logical_slot_peek_changes(name, pg_lsn, integer, text[]) owner to selvedge_replication;
revoke all on function
  _selvedge.pg_create_logical_replication_slot(name, name, boolean, boolean), _selvedge.pg_drop_replication_slot(name),
  _selvedge.pg_logical_slot_get_changes(name, pg_lsn, integer, text[]),
  _selvedge.pg_logical_slot_peek_changes(name, pg_lsn, integer, text[])
  from public;
grant execute on function
  _selvedge.pg_create_logical_replication_slot(name, name, boolean, boolean), _selvedge.pg_drop_replication_slot(name),
  _selvedge.pg_logical_slot_get_changes(name, pg_lsn, integer, text[]),
  _selvedge.pg_logical_slot_peek_changes(name, pg_lsn, integer, text[])
  to postgres;
