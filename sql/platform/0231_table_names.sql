-- The tables of _selvedge, with their indexes, sequences and constraints, have names that no project has, as those of the console have
-- (0230_console_table_names.sql). Two tables stay: every version of the program, also an earlier one, finds the register of files and the
-- scripts of extensions by their names. Three more are made by the program where it needs them, in databases of every version, and stay as well:
-- an import that was cut off before this file is completed after it, by statements that change these tables.
--
-- Nodes that run the version before this file go on while others are upgraded: the former name of a table is that of a view onto it, with the
-- same rights. Only their clean-up of SAML assertions fails meanwhile, as a view has no ctid; the rows go when the nodes are replaced. Tests of
-- projects that ask for tables do not find views.
--
-- Commands that also work on databases of earlier versions go on asking for `installed_extensions` and `event_trigger_functions`, so these two
-- views stay. Everything else uses the names of the tables, and the other views can be dropped when no program of that version is left.
--
-- Functions whose body is bound to what it calls follow by themselves; the others are written again, and keep their owners and rights.

-- A sweep or a run over tenants keeps rows of these locked for minutes. The file waits for them before it has locked what sign-ins need.
lock table _selvedge.internal_locks, _selvedge.worker_sessions in access exclusive mode;

do $$
declare
  found record;
  given record;
begin
  for found in
    select c.oid::pg_catalog.regclass as relation, c.relname as name, c.relkind as kind, c.relacl as acl, o.rolname as owner
    from pg_catalog.pg_class as c
    left join pg_catalog.pg_index as i on i.indexrelid operator(pg_catalog.=) c.oid
    left join pg_catalog.pg_class as t on t.oid operator(pg_catalog.=) i.indrelid
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner and o.rolsuper
    where n.nspname operator(pg_catalog.=) '_selvedge' and c.relname operator(pg_catalog.!~) '^selvedge_'
      and c.relkind operator(pg_catalog.=) any (array['r', 'p', 'S', 'i', 'I']::pg_catalog."char"[])
      and c.relname operator(pg_catalog.<>) all (array['platform_migrations', 'shipped_extensions']::pg_catalog.name[])
      and coalesce(t.relname, c.relname) operator(pg_catalog.<>) all (
        array['unfinished_import', 'copied_objects', 'database_logins']::pg_catalog.name[])
    order by c.oid
  loop
    execute pg_catalog.format(
      'alter %s %s rename to %I',
      case found.kind when 'S' then 'sequence' when 'i' then 'index' when 'I' then 'index' else 'table' end,
      found.relation, 'selvedge_' operator(pg_catalog.||) found.name);
    if found.kind operator(pg_catalog.=) any (array['r', 'p']::pg_catalog."char"[]) then
      execute pg_catalog.format(
        'create view _selvedge.%1$I as select * from %2$s;
         alter view _selvedge.%1$I owner to %3$I;
         comment on view _selvedge.%1$I is ''The former name of %2$s, for nodes of the version before.''',
        found.name, found.relation, found.owner);
      -- Default privileges of the superuser who upgrades reach the view, and did not reach a table that was made before them.
      for given in
        select distinct a.grantee
        from pg_catalog.pg_class as v
        join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) v.relnamespace
        cross join pg_catalog.aclexplode(v.relacl) as a
        where n.nspname operator(pg_catalog.=) '_selvedge' and v.relname operator(pg_catalog.=) found.name
          and a.grantee operator(pg_catalog.<>) v.relowner
      loop
        execute pg_catalog.format(
          'revoke all on _selvedge.%I from %s', found.name,
          case given.grantee when 0 then 'public' else given.grantee::pg_catalog.regrole::pg_catalog.text end);
      end loop;
      for given in
        select a.grantee, a.privilege_type as privilege, '' as columns from pg_catalog.aclexplode(found.acl) as a
        union all
        select a.grantee, a.privilege_type, pg_catalog.format('(%I)', col.attname)
        from pg_catalog.pg_attribute as col, pg_catalog.aclexplode(col.attacl) as a
        where col.attrelid operator(pg_catalog.=) found.relation
      loop
        if given.privilege operator(pg_catalog.=) any (array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) then
          execute pg_catalog.format(
            'grant %s %s on _selvedge.%I to %s', given.privilege, given.columns, found.name,
            case given.grantee when 0 then 'public' else given.grantee::pg_catalog.regrole::pg_catalog.text end);
        end if;
      end loop;
    end if;
  end loop;
  -- Those of an index have its name by now.
  for found in
    select c.conrelid::pg_catalog.regclass as relation, c.conname as name
    from pg_catalog.pg_constraint as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.connamespace
    join pg_catalog.pg_class as t on t.oid operator(pg_catalog.=) c.conrelid
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) t.relowner and o.rolsuper
    where n.nspname operator(pg_catalog.=) '_selvedge' and c.conname operator(pg_catalog.!~) '^selvedge_'
      and t.relname operator(pg_catalog.~) '^selvedge_'
  loop
    execute pg_catalog.format(
      'alter table %s rename constraint %I to %I', found.relation, found.name, 'selvedge_' operator(pg_catalog.||) found.name);
  end loop;
end
$$;

create or replace function _selvedge.drop_extension(name text, if_exists boolean, cascade boolean) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  own_schema text := case name when 'pg_net' then 'net' when 'pg_cron' then 'cron' when 'pgmq' then 'pgmq' end;
begin
  if not _selvedge.is_allowed_extension(name) or exists (
    select from pg_extension as e where e.extname::text = drop_extension.name and e.extowner <> 'postgres'::regrole
  ) then
    raise insufficient_privilege using message = 'permission denied to drop extension "' || name || '"';
  end if;
  if exists (select from _selvedge.selvedge_installed_extensions as i where i.name = drop_extension.name) then
    if own_schema is null then
      raise notice 'extension "%" is part of the platform schema here and stays', name;
      return;
    end if;
    -- Somebody else's schema of that name is not the extension's.
    if exists (
      select from pg_namespace as n join pg_roles as o on o.oid = n.nspowner and o.rolsuper where n.nspname::text = own_schema
    ) then
      execute 'drop schema ' || quote_ident(own_schema) || ' cascade';
    end if;
    delete from _selvedge.selvedge_installed_extensions as i where i.name = drop_extension.name;
    return;
  end if;
  execute 'drop extension ' || case when if_exists then 'if exists ' else ''::text end || quote_ident(name)
    || case when cascade then ' cascade' else ''::text end;
end
$$;

create or replace function _selvedge.install_by_script(name text, if_not_exists boolean, target_schema text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  shipped _selvedge.shipped_extensions;
  target text;
begin
  if exists (select from _selvedge.selvedge_installed_extensions as i where i.name = install_by_script.name) then
    if not if_not_exists then
      raise duplicate_object using message = 'extension "' || name || '" already exists';
    end if;
    raise notice 'extension "%" already exists, skipping', name;
    return;
  end if;
  select * into strict shipped from _selvedge.shipped_extensions as s where s.name = install_by_script.name;
  target := coalesce(shipped.schema, target_schema, 'public'::text);
  if not exists (select from pg_namespace as n where n.nspname::text = target) then
    execute 'create schema ' || quote_ident(target);
  elsif name <> 'supabase_vault' and shipped.schema is not null and exists (
    -- The vault's script looks by itself. Names of the others' own schemas are found there by functions of a superuser.
    select from pg_namespace as n join pg_roles as o on o.oid = n.nspowner
    where n.nspname::text = target and not o.rolsuper and not shipped.runs_as_creator
  ) then
    raise insufficient_privilege using message = 'the schema "' || target || '" belongs to another role';
  end if;
  if shipped.schema is null then
    perform _selvedge.check_extension_schema(name, target);
  end if;
  -- As in CREATE EXTENSION, names without a schema are created in that of the extension. The end of this function resets it.
  perform set_config('search_path'::text, quote_ident(target) || ', pg_temp', true);
  execute replace(
    regexp_replace(shipped.script, '^select pg_catalog\.pg_extension_config_dump\(.*$'::text, ''::text, 'gn'::text),
    '@extschema@'::text, quote_ident(target)
  );
  perform set_config('search_path'::text, 'pg_catalog, pg_temp'::text, true);
  if shipped.runs_as_creator then
    perform _selvedge.record_installed_extension(name, target);
  else
    insert into _selvedge.selvedge_installed_extensions (name, version, schema) values (shipped.name, shipped.version, target);
  end if;
end
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
  insert into _selvedge.selvedge_event_trigger_functions as f values (original, made)
    on conflict on constraint selvedge_event_trigger_functions_pkey do update set copy = excluded.copy;
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
    join _selvedge.selvedge_event_trigger_functions as f on f.original = command.objid
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

create or replace function _selvedge.record_installed_extension(name text, schema text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not (_selvedge.needs_script(name) and _selvedge.is_created_by_postgres(name)) then
    raise insufficient_privilege using message = 'permission denied to create extension "' || name || '"';
  end if;
  insert into _selvedge.selvedge_installed_extensions (name, version, schema)
  select s.name, s.version, record_installed_extension.schema
  from _selvedge.shipped_extensions as s where s.name = record_installed_extension.name
  on conflict on constraint selvedge_installed_extensions_pkey do nothing;
end
$$;

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

create or replace function _selvedge.claim_session(name text, pid integer) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  claimed_from timestamptz := (select a.backend_start from pg_catalog.pg_stat_get_activity(claim_session.pid) as a);
  holder _selvedge.selvedge_worker_sessions;
begin
  if claimed_from is null then
    return false;
  end if;
  select * into holder from _selvedge.selvedge_worker_sessions as w where w.name operator(pg_catalog.=) claim_session.name;
  if not found then
    insert into _selvedge.selvedge_worker_sessions (name) values (claim_session.name) on conflict do nothing;
  elsif (holder.pid, holder.started) is distinct from (claim_session.pid, claimed_from)
    and _selvedge.is_session_alive(holder.pid, holder.started) then
    return false;
  end if;
  -- Asked again behind the lock of the row: of two that found no session only one gets the name.
  select * into holder from _selvedge.selvedge_worker_sessions as w
  where w.name operator(pg_catalog.=) claim_session.name for update skip locked;
  if not found then
    return false;
  end if;
  -- Within a transaction PostgreSQL remembers the sessions that it has listed.
  perform pg_catalog.pg_stat_clear_snapshot();
  if (holder.pid, holder.started) is distinct from (claim_session.pid, claimed_from)
    and _selvedge.is_session_alive(holder.pid, holder.started) then
    return false;
  end if;
  update _selvedge.selvedge_worker_sessions as w set pid = claim_session.pid, started = claimed_from
  where w.name operator(pg_catalog.=) claim_session.name;
  return true;
end
$$;

create or replace function _selvedge.is_locked_by_earlier_version(class integer, object integer, login name, application text)
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
        select from _selvedge.selvedge_worker_sessions as w
        where w.pid operator(pg_catalog.=) a.pid and w.started operator(pg_catalog.=) a.backend_start
      )
  )
$$;

create or replace function _selvedge.are_workers_up() returns boolean
  language sql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from _selvedge.selvedge_worker_sessions as w
    where w.name operator(pg_catalog.=) 'leader' and _selvedge.is_session_alive(w.pid, w.started)
  ) or _selvedge.is_locked_by_earlier_version(1936486514, 1785684595, 'authenticator', null)
$$;

create or replace function _selvedge.release_tenants() returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  update _selvedge.selvedge_worker_sessions as w set pid = null, started = null
  where w.name operator(pg_catalog.=) 'tenants'::text and w.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()
$$;

create or replace function _selvedge.forget_ended_sessions() returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  delete from _selvedge.selvedge_worker_sessions as w
  where w.name operator(pg_catalog.=) any (array(
    select e.name from _selvedge.selvedge_worker_sessions as e
    where not e.name operator(pg_catalog.=) any (array['leader', 'tenants', 'import']::text[])
      and not _selvedge.is_session_alive(e.pid, e.started)
    for update skip locked
  ))
$$;

create or replace function _selvedge.find_tenants_run(
  out pid integer, out application text, out client text, out started timestamptz
) returns setof record
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  select a.pid, a.application_name, pg_catalog.host(a.client_addr), a.backend_start
  from _selvedge.selvedge_worker_sessions as w
  join pg_catalog.pg_stat_get_activity(null) as a
    on a.pid operator(pg_catalog.=) w.pid and a.backend_start operator(pg_catalog.=) w.started
    -- A transaction that has not ended has the row, which counts as taken.
    or a.backend_xid operator(pg_catalog.=) w.xmax
  where w.name operator(pg_catalog.=) 'tenants'::text
  order by a.pid operator(pg_catalog.=) w.pid desc nulls last
  limit 1
$$;

create or replace function _selvedge.count_changed_users() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op operator(pg_catalog.=) 'INSERT' then
    insert into _selvedge.selvedge_user_counts (audience, day, change)
    select coalesce(u.aud::text, ''), (u.created_at at time zone 'UTC')::date, count(*)
    from added as u
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid
    group by 1, 2;
  elsif tg_op operator(pg_catalog.=) 'DELETE' then
    insert into _selvedge.selvedge_user_counts (audience, day, change)
    select coalesce(u.aud::text, ''), (u.created_at at time zone 'UTC')::date, operator(pg_catalog.-) count(*)
    from removed as u
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid
    group by 1, 2;
  elsif tg_op operator(pg_catalog.=) 'UPDATE' then
    insert into _selvedge.selvedge_user_counts (audience, day, change)
    select coalesce(u.aud, ''), (u.created_at at time zone 'UTC')::date, u.change
    from (values
      (old.instance_id, old.aud::text, old.created_at, -1),
      (new.instance_id, new.aud::text, new.created_at, 1)
    ) as u (instance_id, aud, created_at, change)
    where u.instance_id is null or u.instance_id operator(pg_catalog.=) '00000000-0000-0000-0000-000000000000'::uuid;
  else
    -- A truncation also removes users that its transaction does not see.
    update _selvedge.selvedge_user_counts_state as s set triggers = '', corrections = s.corrections operator(pg_catalog.+) 1;
  end if;
  return null;
end
$$;

-- By UPDATE, as in 0113_worker_sessions.sql: whoever may replace the function writes its default values, and reading these in a statement can run
-- code.
update pg_catalog.pg_proc as p
set prosrc = pg_catalog.replace(p.prosrc, 'from _selvedge.internal_locks as l', 'from _selvedge.selvedge_internal_locks as l')
where p.oid operator(pg_catalog.=) pg_catalog.to_regprocedure('realtime.maintain_messages_partitions(integer)')::pg_catalog.oid
  and pg_catalog.strpos(p.prosrc, 'from _selvedge.internal_locks as l') operator(pg_catalog.>) 0;
