-- The code of a project's event trigger may end with another search path than it began with: an ordinary SET also holds for the functions around
-- it. `run_event_trigger` went on with names that it then looked up in schemas of the project, and so called the project's functions as a superuser.
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
  -- Before this statement no name without a schema may stand: the path may be the project's.
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if event = 'ddl_command_start' and tag in ('CREATE EXTENSION', 'ALTER EXTENSION') then
    perform _selvedge.check_extension_statement(tag, substr(callers, length(expected) + 2));
  end if;
end
$$;
