-- The code of a project's event triggers runs for real events only. `run_event_trigger` is open to everybody, because the functions of
-- event triggers run with the rights of whoever runs the statement; so a function in an index, or a statement of its own for events that
-- PostgreSQL has no question for, could call it with a tag of its choice, and the project's code would believe it.
--
-- Event and tag are known to the trigger's function alone, and nobody but PostgreSQL can call that one. So `run_event_trigger` asks
-- PostgreSQL by whom it was called. The answer has one line for each function and each statement, the innermost first. Texts of
-- statements are quoted there as they are, line ends included, but none can look like that of the trigger: after `limit 1` no statement
-- goes on with a quote.

create or replace function _selvedge.run_event_trigger(original oid, event text, tag text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  -- The lines are in the language of the server's messages.
  set lc_messages = 'C'
as $$
declare
  body text := 'event_trigger_' || original::text || '_body';
  callers text;
  expected text := 'SQL statement "SELECT _selvedge.run_event_trigger(' || original::text || '::oid, tg_event, tg_tag) limit 1"'
    || E'\nPL/pgSQL function _selvedge.event_trigger_' || original::text || '() line 1 at PERFORM';
begin
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  callers := substr(callers, strpos(callers, E'\n') + 1);
  if callers is null or not (callers = expected or starts_with(callers, expected || E'\n')) then
    raise insufficient_privilege using message = 'only an event trigger may call this';
  end if;
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

-- As in 0082_event_triggers_of_projects.sql, but for the text of the function that a trigger calls.
create or replace function _selvedge.write_event_trigger_functions(original regprocedure) returns oid
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

  -- `run_event_trigger` knows it by its text, its place in the line and by `limit 1`.
  execute 'create or replace function _selvedge.' || name || '() returns event_trigger language plpgsql '
    || 'set search_path = pg_catalog, pg_temp as '
    || quote_literal(
      'begin if not _selvedge.is_event_trigger_skipped() then perform _selvedge.run_event_trigger('
      || original::oid::text || '::oid, tg_event, tg_tag) limit 1; end if; end'
    );
  made := to_regprocedure('_selvedge.' || name || '()')::oid;
  execute 'revoke all on function _selvedge.' || name || '() from public';
  perform _selvedge.add_dependency(made, original::oid);
  return made;
end
$$;

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
end
$$;
