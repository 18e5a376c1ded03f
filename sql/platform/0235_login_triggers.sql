-- A project's event trigger at logins (PostgreSQL 17) that fails, or does not end, kept `postgres` out: migrations did not run, the project did not
-- start, and nobody could drop the trigger. Sessions that begin with the setting `selvedge.without_login_triggers`, as those of the program do, run
-- none of a project when `postgres` logs in.
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
    join _selvedge.selvedge_event_trigger_functions as f on f.copy = t.evtfoid
    where f.original = run_event_trigger.original and t.evtevent::text = event and t.evtenabled <> 'D'
      and (t.evttags is null or tag = any (t.evttags))
  ) then
    raise insufficient_privilege using message = 'there is no such event trigger';
  end if;
  -- Only the program and whoever means it say so, and `postgres` may drop the trigger anyway.
  if event = 'login' and session_user = 'postgres' and current_setting('selvedge.without_login_triggers'::text, true) = 'on' then
    return;
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
  -- The code must not meet a connection that is about to be refused.
  if event = 'ddl_command_end' then
    perform _selvedge.check_changed_connections(tag);
  elsif event <> 'ddl_command_start' and tag in ('CREATE EXTENSION', 'ALTER EXTENSION') then
    perform _selvedge.close_connection_functions();
  end if;
  execute 'select _selvedge.' || body || '($1, $2)' using event, tag;
  -- Before this statement no name without a schema may stand: the path may be the project's.
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if event = 'ddl_command_start' and tag in ('CREATE EXTENSION', 'ALTER EXTENSION') then
    perform _selvedge.check_extension_statement(tag, substr(callers, length(expected) + 2));
  end if;
end
$$;
