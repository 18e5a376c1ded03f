-- Event triggers of projects, second edition (docs/decisions.md, "Rights of `postgres`"). The trigger calls a function of the superuser that
-- always has the same text. The project's code is a function of its own beside it, which belongs to `postgres` and runs with its rights,
-- whoever's statement fires the trigger: inside of such a function PostgreSQL refuses `set role` and `set session authorization`.

create or replace function _selvedge.is_event_trigger_skipped() returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select r.rolsuper or _selvedge.is_reserved_role(r.rolname::text)
  from pg_roles as r where r.rolname = current_user
$$;

-- Calls the project's code. Everybody may call it, as the functions of event triggers run with the rights of whoever runs the statement.
create function _selvedge.run_event_trigger(original oid, event text, tag text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  body text := 'event_trigger_' || original::text || '_body';
begin
  if (select r.rolsuper from pg_roles as r where r.rolname = 'postgres') then
    -- The project's code would run as a superuser for everybody.
    return;
  end if;
  if not exists (
    select from pg_event_trigger as t
    join _selvedge.event_trigger_functions as f on f.copy = t.evtfoid
    where f.original = run_event_trigger.original and t.evtevent::text = event and t.evtenabled <> 'D'
      and (t.evttags is null or tag = any (t.evttags))
  ) then
    raise insufficient_privilege using message = 'there is no such event trigger';
  end if;
  -- These are errors outside of an event trigger.
  if event = 'ddl_command_end' then
    perform from pg_event_trigger_ddl_commands();
  elsif event = 'sql_drop' then
    perform from pg_event_trigger_dropped_objects();
  elsif event = 'table_rewrite' then
    perform pg_event_trigger_table_rewrite_oid();
  end if;
  -- A transaction that only reads can lock no row, and without the lock the code could be another one at the call than at the check.
  if current_setting('transaction_read_only'::text) <> 'off' then
    if event = 'login' then
      return;
    end if;
    raise read_only_sql_transaction using message = 'event triggers do not run in a read-only transaction';
  end if;
  -- The lock keeps `postgres` from changing its function between the check and the call. Where the transaction sees the database as it
  -- was at its beginning, a function that was changed since cannot be locked (SQLSTATE 40001).
  perform from pg_proc as p where p.oid = to_regprocedure('_selvedge.' || body || '(text, text)')::oid for share;
  if not exists (
    select from pg_proc as p
    where p.oid = to_regprocedure('_selvedge.' || body || '(text, text)')::oid
      and p.prosecdef and p.proowner = 'postgres'::regrole
      and not exists (select from unnest(p.proconfig) as setting where setting !~ '^search_path=')
  ) then
    raise insufficient_privilege using
      message = 'the code of an event trigger was changed by hand',
      hint = 'Replace the function that CREATE EVENT TRIGGER named.';
  end if;
  execute 'select _selvedge.' || body || '($1, $2)' using event, tag;
end
$$;

-- Creates or replaces the two functions for a function of a project, and returns that which a trigger calls.
create function _selvedge.write_event_trigger_functions(original regprocedure) returns oid
  language plpgsql
  set search_path = pg_catalog, pg_temp
  -- Scripts that restore dumps switch the check off, which would hide a syntax error until the trigger fires.
  set check_function_bodies = on
as $$
declare
  source record;
  name text := 'event_trigger_' || original::oid::text;
  made oid;
begin
  perform _selvedge.require_current_snapshot();
  select p.prosrc, p.proconfig, l.lanname, o.rolname, o.rolsuper into strict source
  from pg_proc as p
  join pg_language as l on l.oid = p.prolang
  join pg_roles as o on o.oid = p.proowner
  where p.oid = original;
  if source.lanname <> 'plpgsql' then
    raise feature_not_supported using
      message = 'the function ' || original::text || ' of an event trigger is not written in plpgsql';
  end if;
  -- Somebody else could change what runs with the rights of `postgres`.
  if source.rolname <> 'postgres' and not source.rolsuper then
    raise insufficient_privilege using
      message = 'the function ' || original::text || ' of an event trigger must belong to postgres';
  end if;

  execute 'create or replace function _selvedge.' || name || '_body(tg_event text, tg_tag text) returns void '
    || 'language plpgsql security definer as ' || quote_literal(source.prosrc);
  made := to_regprocedure('_selvedge.' || name || '_body(text, text)')::oid;
  -- The path of the original, or that of `postgres`. Another setting could be one that only a superuser may change.
  update pg_proc set proconfig = array[coalesce(
    (select setting from unnest(source.proconfig) as setting where setting ~ '^search_path=' limit 1),
    'search_path="$user", public, extensions, pg_temp'::text
  )] where oid = made;
  execute 'revoke all on function _selvedge.' || name || '_body(text, text) from public';
  execute 'alter function _selvedge.' || name || '_body(text, text) owner to postgres';
  perform _selvedge.add_dependency(made, original::oid);

  execute 'create or replace function _selvedge.' || name || '() returns event_trigger language plpgsql '
    || 'set search_path = pg_catalog, pg_temp as '
    || quote_literal(
      'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('
      || original::oid::text || '::oid, tg_event, tg_tag); end if; end'
    );
  made := to_regprocedure('_selvedge.' || name || '()')::oid;
  execute 'revoke all on function _selvedge.' || name || '() from public';
  perform _selvedge.add_dependency(made, original::oid);
  return made;
end
$$;

-- The original cannot be dropped while its trigger exists, or only together with it. Replacing a function has removed the entry.
create function _selvedge.add_dependency(dependent oid, original oid) returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  insert into pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
  select 'pg_proc'::regclass, dependent, 0, 'pg_proc'::regclass, original, 0, 'n'::"char"
  where not exists (
    select from pg_depend as d
    where d.classid = 'pg_proc'::regclass and d.objid = dependent
      and d.refclassid = 'pg_proc'::regclass and d.refobjid = original
  )
$$;

create or replace function _selvedge.create_event_trigger(name text, event text, tags text[], original regprocedure)
  returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  made oid;
begin
  if (select p.prorettype from pg_proc as p where p.oid = original) is distinct from 'event_trigger'::regtype then
    raise invalid_object_definition using
      message = 'function ' || coalesce(original::text, 'null') || ' must return type event_trigger';
  end if;
  made := _selvedge.write_event_trigger_functions(original);
  insert into _selvedge.event_trigger_functions as f values (original, made)
    on conflict on constraint event_trigger_functions_pkey do update set copy = excluded.copy;
  execute 'create event trigger ' || quote_ident(name) || ' on ' || quote_ident(event)
    || coalesce(
      (select ' when tag in (' || string_agg(quote_literal(tag), ', '::text) || ')' from unnest(tags) as tag having count(*) > 0),
      ''::text
    )
    || ' execute function ' || made::regprocedure::text;
  perform _selvedge.give_to_postgres(
    'pg_event_trigger'::regclass, 'evtowner'::name,
    (select t.oid from pg_event_trigger as t where t.evtname::text = name)
  );
end
$$;

create or replace function _selvedge.refresh_event_trigger_copies() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  changed oid;
begin
  for changed in
    select f.original
    from pg_event_trigger_ddl_commands() as command
    join _selvedge.event_trigger_functions as f on f.original = command.objid
    where command.classid = 'pg_proc'::regclass
      -- A number that a dropped function had may be another's by now.
      and exists (
        select from pg_proc as p where p.oid = f.original and p.prorettype = 'event_trigger'::regtype
      )
      and exists (select from pg_proc as p where p.oid = f.copy)
  loop
    perform _selvedge.write_event_trigger_functions(changed::regprocedure);
  end loop;
end
$$;
drop event trigger selvedge_refresh_event_trigger_copies;
create event trigger selvedge_refresh_event_trigger_copies on ddl_command_end
  when tag in ('CREATE FUNCTION', 'ALTER FUNCTION', 'ALTER ROUTINE')
  execute function _selvedge.refresh_event_trigger_copies();
alter event trigger selvedge_refresh_event_trigger_copies enable always;

create or replace function _selvedge.create_publication_for_all_tables(name text, options text[]) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute 'create publication ' || quote_ident(name) || ' for all tables' || coalesce(
    (
      select ' with (' || string_agg(quote_ident(options[n]) || ' = ' || quote_literal(options[n + 1]), ', '::text) || ')'
      from generate_series(1, cardinality(options), 2) as n having count(*) > 0
    ),
    ''::text
  );
  perform _selvedge.give_to_postgres(
    'pg_publication'::regclass, 'pubowner'::name, (select p.oid from pg_publication as p where p.pubname::text = name)
  );
end
$$;

create or replace function _selvedge.give_to_postgres(catalog regclass, owner_column name, object oid) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute 'update ' || catalog::text || ' set ' || quote_ident(owner_column::text) || ' = $1 where oid = $2'
    using 'postgres'::regrole::oid, object;
  delete from pg_shdepend as d
  where d.dbid = (select db.oid from pg_database as db where db.datname = current_database())
    and d.classid = catalog and d.objid = object and d.deptype = 'o';
  -- PostgreSQL records no dependency on its first superuser, who cannot be dropped.
  insert into pg_shdepend (dbid, classid, objid, objsubid, refclassid, refobjid, deptype)
  select db.oid, catalog, object, 0, 'pg_authid'::regclass, 'postgres'::regrole, 'o'::"char"
  from pg_database as db where db.datname = current_database() and 'postgres'::regrole::oid <> 10;
end
$$;

drop function _selvedge.copy_event_trigger_function(regprocedure);
revoke all on function
  _selvedge.write_event_trigger_functions(regprocedure), _selvedge.add_dependency(oid, oid)
  from public;

-- Triggers that an earlier version made follow. What the new form refuses is removed: it was code that ran as somebody else.
do $$
declare
  found record;
begin
  for found in
    select f.original, f.copy from _selvedge.event_trigger_functions as f
    where exists (select from pg_catalog.pg_proc as p where p.oid = f.original)
      and exists (select from pg_catalog.pg_proc as p where p.oid = f.copy)
  loop
    begin
      perform _selvedge.write_event_trigger_functions(found.original::pg_catalog.regprocedure);
    exception when others then
      raise warning 'the event triggers with the function % were removed: %', found.original::pg_catalog.regprocedure, sqlerrm;
      execute pg_catalog.format('drop function %s cascade', found.copy::pg_catalog.regprocedure);
    end;
  end loop;
  delete from _selvedge.event_trigger_functions as f
  where not exists (select from pg_catalog.pg_proc as p where p.oid = f.original)
    or not exists (select from pg_catalog.pg_proc as p where p.oid = f.copy);
  for found in
    select p.oid::pg_catalog.regprocedure as copy from pg_catalog.pg_proc as p
    where p.pronamespace = '_selvedge'::pg_catalog.regnamespace and p.proname ~ '^event_trigger_[0-9]+$'
      and not exists (select from _selvedge.event_trigger_functions as f where f.copy = p.oid)
  loop
    execute pg_catalog.format('drop function %s cascade', found.copy);
  end loop;
end
$$;
