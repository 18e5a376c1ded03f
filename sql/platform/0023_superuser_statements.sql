-- Statements that PostgreSQL reserves for superusers and that `postgres` may run at Supabase: event triggers, publications
-- of all tables, foreign data wrappers, roles with BYPASSRLS (the last in PostgreSQL 15 only). The migration runner turns
-- them into calls of these functions; over any other connection the functions may be called by hand.

-- Makes `postgres` the owner of an object whose owner no statement may change to a role that is no superuser, so that it may
-- alter, comment on and drop it.
create function _selvedge.give_to_postgres(catalog regclass, owner_column name, object oid) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('update %s set %I = $1 where oid = $2', catalog, owner_column)
    using 'postgres'::regrole::oid, object;
  delete from pg_shdepend
  where dbid = (select oid from pg_database where datname = current_database())
    and classid = catalog and objid = object and deptype = 'o';
  insert into pg_shdepend (dbid, classid, objid, objsubid, refclassid, refobjid, deptype)
  select oid, catalog, object, 0, 'pg_authid'::regclass, 'postgres'::regrole, 'o'
  from pg_database where datname = current_database();
end
$$;

-- Event triggers -----------------------------------------------------------------------------------------------------

-- An event trigger runs with the rights of whoever runs the statement, so one of a project would run its code as a
-- superuser. It therefore calls a copy of the project's function, which belongs to the superuser and begins with a check:
-- superusers and the services' roles pass it by, as at Supabase. A copy follows its original.
create table _selvedge.event_trigger_functions (
  original oid not null,
  copy oid not null,
  constraint event_trigger_functions_pkey primary key (original)
);
comment on table _selvedge.event_trigger_functions is
  'Functions of event triggers that projects have created, with the copies that the triggers call.';

create function _selvedge.is_event_trigger_skipped() returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select r.rolsuper or r.rolname in (
    'supabase_auth_admin', 'supabase_storage_admin', 'supabase_realtime_admin', 'supabase_replication_admin',
    'supabase_etl_admin', 'supabase_read_only_user', 'authenticator', 'pgbouncer', 'dashboard_user'
  )
  from pg_roles as r where r.rolname = current_user
$$;
grant execute on function _selvedge.is_event_trigger_skipped() to public;

-- Creates or replaces the copy of a function, and returns it. The copy always runs with the rights of the caller.
create function _selvedge.copy_event_trigger_function(original regprocedure) returns oid
  language plpgsql
  set search_path = pg_catalog, pg_temp
  -- Scripts that restore dumps switch the check off, which would hide a syntax error until the trigger fires.
  set check_function_bodies = on
as $$
declare
  source record;
  copy_name text := 'event_trigger_' || original::oid;
  head text;
  new_copy oid;
begin
  select p.prosrc, p.proconfig, l.lanname into strict source
  from pg_proc as p join pg_language as l on l.oid = p.prolang where p.oid = original;
  if source.lanname <> 'plpgsql' then
    raise feature_not_supported using
      message = format('the function %s of an event trigger is not written in plpgsql', original);
  end if;
  head := format('create or replace function _selvedge.%I() returns event_trigger language plpgsql as %%L', copy_name);
  -- The original's block is a statement of the copy. Such a block ends with a semicolon, which its function may lack.
  begin
    execute format(
      head, format(E'begin\n  if _selvedge.is_event_trigger_skipped() then return; end if;\n%s;\nend', source.prosrc)
    );
  exception when syntax_error then
    execute format(
      head, format(E'begin\n  if _selvedge.is_event_trigger_skipped() then return; end if;\n%s\nend', source.prosrc)
    );
  end;
  new_copy := format('_selvedge.%I()', copy_name)::regprocedure;
  -- Settings of the original, such as its search_path, hold for the copy.
  update pg_proc set proconfig = source.proconfig where oid = new_copy;
  execute format('revoke all on function _selvedge.%I() from public', copy_name);
  -- The original cannot be dropped while its trigger exists, or only together with it. Replacing the copy has removed the
  -- entry.
  if not exists (
    select from pg_depend as d
    where d.classid = 'pg_proc'::regclass and d.objid = new_copy
      and d.refclassid = 'pg_proc'::regclass and d.refobjid = original
  ) then
    insert into pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
    values ('pg_proc'::regclass, new_copy, 0, 'pg_proc'::regclass, original, 0, 'n');
  end if;
  return new_copy;
end
$$;

create function _selvedge.create_event_trigger(name text, event text, tags text[], original regprocedure) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  new_copy oid;
begin
  if (select p.prorettype from pg_proc as p where p.oid = original) <> 'event_trigger'::regtype then
    raise invalid_object_definition using message = format('function %s must return type event_trigger', original);
  end if;
  new_copy := _selvedge.copy_event_trigger_function(original);
  insert into _selvedge.event_trigger_functions as f values (original, new_copy)
    on conflict on constraint event_trigger_functions_pkey do update set copy = excluded.copy;
  execute format(
    'create event trigger %I on %I %s execute function %s',
    name, event,
    (select format('when tag in (%s)', string_agg(quote_literal(tag), ', ')) from unnest(tags) as tag having count(*) > 0),
    new_copy::regprocedure
  );
  perform _selvedge.give_to_postgres(
    'pg_event_trigger', 'evtowner', (select t.oid from pg_event_trigger as t where t.evtname = name)
  );
end
$$;

create function _selvedge.refresh_event_trigger_copies() returns event_trigger
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
  loop
    perform _selvedge.copy_event_trigger_function(changed::regprocedure);
  end loop;
end
$$;
create event trigger selvedge_refresh_event_trigger_copies on ddl_command_end
  when tag in ('CREATE FUNCTION', 'ALTER FUNCTION') execute function _selvedge.refresh_event_trigger_copies();

-- The others ---------------------------------------------------------------------------------------------------------

-- PostgreSQL asks for the ownership of an extension's objects, which belong to the superuser.
create function _selvedge.set_extension_schema(name text, new_schema text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from pg_extension as e where e.extname = name and e.extowner = 'postgres'::regrole) then
    raise insufficient_privilege using message = format('must be owner of extension %s', name);
  end if;
  execute format('alter extension %I set schema %I', name, new_schema);
end
$$;

create function _selvedge.create_publication_for_all_tables(name text, options text[]) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'create publication %I for all tables %s', name,
    (
      select format('with (%s)', string_agg(format('%I = %L', options[n], options[n + 1]), ', '))
      from generate_series(1, cardinality(options), 2) as n having count(*) > 0
    )
  );
  perform _selvedge.give_to_postgres(
    'pg_publication', 'pubowner', (select p.oid from pg_publication as p where p.pubname = name)
  );
end
$$;

create function _selvedge.create_foreign_data_wrapper(name text, handler_function regproc, validator_function regproc) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'create foreign data wrapper %I %s %s', name,
    case when handler_function is null then 'no handler' else 'handler ' || handler_function end,
    case when validator_function is null then 'no validator' else 'validator ' || validator_function end
  );
  perform _selvedge.give_to_postgres(
    'pg_foreign_data_wrapper', 'fdwowner', (select w.oid from pg_foreign_data_wrapper as w where w.fdwname = name)
  );
end
$$;

-- For roles of the project. Those of the platform have the attributes that they need.
create function _selvedge.set_bypassrls(name text, bypasses boolean) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if name ~ '^(pg_|supabase_)'
    or name in ('anon', 'authenticated', 'service_role', 'authenticator', 'dashboard_user', 'pgbouncer', 'postgres')
    or (select r.rolsuper from pg_roles as r where r.rolname = name)
  then
    raise insufficient_privilege using message = format('"%s" is a reserved role, only superusers can modify it', name);
  end if;
  execute format('alter role %I %s', name, case when bypasses then 'bypassrls' else 'nobypassrls' end);
end
$$;

revoke all on function
  _selvedge.give_to_postgres(regclass, name, oid), _selvedge.copy_event_trigger_function(regprocedure),
  _selvedge.create_event_trigger(text, text, text[], regprocedure), _selvedge.refresh_event_trigger_copies(),
  _selvedge.create_publication_for_all_tables(text, text[]), _selvedge.set_extension_schema(text, text),
  _selvedge.create_foreign_data_wrapper(text, regproc, regproc), _selvedge.set_bypassrls(text, boolean)
  from public;
grant execute on function
  _selvedge.create_event_trigger(text, text, text[], regprocedure),
  _selvedge.create_publication_for_all_tables(text, text[]), _selvedge.set_extension_schema(text, text),
  _selvedge.create_foreign_data_wrapper(text, regproc, regproc), _selvedge.set_bypassrls(text, boolean)
  to postgres;
