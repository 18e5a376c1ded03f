-- Which options of connections `postgres` gives to libpq inside of PostgreSQL (docs/decisions.md, "Rights of `postgres`"). Some name files that
-- libpq reads or writes as PostgreSQL's user, and one a library that it loads: `sslkey=/path:x` is a key of the OpenSSL engine in that file.
-- Texts of connections reach libpq by dblink, by foreign servers with their user mappings, and by subscriptions.

-- The options that lead to no file. Certificates of the system are no file that the caller names. `options` are settings of the session on the
-- other server: that may be one of this machine which lets PostgreSQL's user in as a superuser without a password, and which loads the library of
-- session_preload_libraries before anybody asks for one. So they are of a list, or the words that poolers read (`reference=name`).
create function _selvedge.is_allowed_connection_option(name text, value text) returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select name = any (array[
      'host', 'hostaddr', 'port', 'dbname', 'user', 'password', 'require_auth', 'channel_binding', 'connect_timeout', 'client_encoding',
      'application_name', 'fallback_application_name', 'keepalives', 'keepalives_idle', 'keepalives_interval',
      'keepalives_count', 'tcp_user_timeout', 'gssencmode', 'sslmode', 'sslnegotiation', 'sslcompression', 'sslsni', 'sslcertmode', 'ssl',
      'requiressl', 'ssl_min_protocol_version', 'ssl_max_protocol_version', 'min_protocol_version', 'max_protocol_version', 'requirepeer',
      'target_session_attrs', 'load_balance_hosts', 'scram_client_key', 'scram_server_key'
    ]::text[])
    or (name = 'sslrootcert' and coalesce(value in ('system', '''system'''), false))
    or (name = 'options' and coalesce(
      regexp_replace(replace(value, '%20', ' '), '%3[Dd]', '=', 'g') ~ ('^''? *(((-c *|--)('
        || 'search[_-]path|statement[_-]timeout|lock[_-]timeout|transaction[_-]timeout|idle[_-]in[_-]transaction[_-]session[_-]timeout|'
        || 'idle[_-]session[_-]timeout|timezone|TimeZone|datestyle|DateStyle|intervalstyle|IntervalStyle|extra[_-]float[_-]digits|'
        || 'default[_-]transaction[_-]read[_-]only|default[_-]transaction[_-]isolation|default[_-]transaction[_-]deferrable|'
        || 'client[_-]min[_-]messages|work[_-]mem|row[_-]security|application[_-]name'
        || ')|[a-z]+)=[A-Za-z0-9_.,:/+-]* *)*''?$'), false))
$$;
revoke all on function _selvedge.is_allowed_connection_option(text, text) from public;

-- The first option of a connection's text that is not allowed; an empty text where it is not sure how libpq reads it; null if there is none.
-- A text without a `=` is the name of a connection or of a server: libpq reads no option out of it. What this reads otherwise than libpq
-- would must be refused, so letters outside of ASCII, which are blanks in some locales, are allowed between quotes only.
create function _selvedge.find_refused_option(connection text) returns text
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  blanks constant text := E' \t\n\x0b\f\r';
  pair_pattern constant text := '^(([^=' || blanks || ']+)[' || blanks || ']*=[' || blanks || ']*('
    || '''(?:[^''\\]|\\.)*''|(?:[!-&(-\[\]-~]|\\[\x01-\x7e])(?:[!-\[\]-~]|\\[\x01-\x7e])*(?=[' || blanks || ']|$)|$))';
  rest text collate "C" := connection;
  pair text[];
begin
  if connection is null or strpos(connection, '=') = 0 then
    return null;
  end if;
  if octet_length(connection) > 10000 then
    return '';
  end if;
  if connection ~ '^postgres(ql)?://' then
    -- User and password end at the first @, unless a slash comes before it.
    rest := regexp_replace(regexp_replace(connection, '^postgres(ql)?://', ''), '^[^@/]*@', '');
    if strpos(rest, '?') = 0 then
      return null;
    end if;
    rest := substr(rest, strpos(rest, '?') + 1);
    return (
      select case when strpos(rest, '?') = 0 then split_part(p.parameter, '=', 1) else '' end
      from unnest(string_to_array(rest, '&')) with ordinality as p (parameter, place)
      where strpos(rest, '?') > 0 or p.parameter <> '' and not _selvedge.is_allowed_connection_option(
        split_part(p.parameter, '=', 1), substr(p.parameter, strpos(p.parameter, '=') + 1)
      )
      order by p.place limit 1
    );
  end if;
  loop
    rest := ltrim(rest, blanks);
    exit when rest = '';
    pair := regexp_match(rest, pair_pattern);
    if pair is null then
      return '';
    end if;
    if not _selvedge.is_allowed_connection_option(pair[2], pair[3]) then
      return pair[2];
    end if;
    rest := substr(rest, length(pair[1]) + 1);
  end loop;
  return null;
end
$$;
revoke all on function _selvedge.find_refused_option(text) from public;

create function _selvedge.refuse_option(name text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  -- The message has no other part of the text, which may be a password.
  raise insufficient_privilege using
    message = case when name ~ '^[a-z_]{1,40}$' then 'the option "' || name || '" of a connection is a superuser''s'
      else 'the text of a connection cannot be read' end,
    hint = 'Options that name files are refused. Values with other letters than those of ASCII are written between quotes, '
      || 'and ? in the parameters of a URI as %3F.';
end
$$;

-- Refuses the text of a connection. The domain that the functions of dblink take calls it with the rights of their callers.
create function _selvedge.check_connection(connection text) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  refused text := _selvedge.find_refused_option(connection);
begin
  if refused is not null and not coalesce((select r.rolsuper from pg_roles as r where r.rolname = current_user), false) then
    perform _selvedge.refuse_option(refused);
  end if;
  return true;
end
$$;
grant execute on function
  _selvedge.is_allowed_connection_option(text, text), _selvedge.find_refused_option(text), _selvedge.refuse_option(text),
  _selvedge.check_connection(text)
  to public;

-- Lets the functions of dblink take a domain of text that refuses such connections. They stay those of the library, as no other function
-- returns rows of whatever columns its caller names.
create function _selvedge.close_connection_functions() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  open record;
  home text;
  name text;
  checked oid;
  arguments oid[];
  dependents text;
  replacement oid;
begin
  loop
    -- One after the other, as ALTER EXTENSION below fires the event trigger that calls this function.
    select p.oid, p.proname::text as name, p.pronamespace, n.nspname::text as schema, e.oid as extension, p.prosrc, p.prosecdef,
      p.proargtypes::oid[] as types, p.proretset, p.prorettype, p.proacl, p.proowner,
      -- The second argument of two, where the first is the name of the new connection.
      case when p.prosrc = 'dblink_connect' and p.pronargs = 2 then 1 else 0 end as place,
      case when p.proargtypes = '25 16'::oidvector then 'dblink_statement'::text else 'dblink_connection' end as domain_name
    into open
    from pg_extension as e
    join pg_depend as d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
      and d.classid = 'pg_proc'::regclass
    join pg_proc as p on p.oid = d.objid
    join pg_namespace as n on n.oid = p.pronamespace
    join pg_roles as o on o.oid = p.proowner and o.rolsuper
    join pg_language as l on l.oid = p.prolang and l.lanname = 'c'
    where e.extname = 'dblink' and not starts_with(p.proname::text, 'dblink_of_stored_calls'::text) and (
      p.prosrc = 'dblink_connect' and p.proargtypes in ('25'::oidvector, '25 25'::oidvector)
      or p.prosrc in ('dblink_record', 'dblink_exec') and p.proargtypes in ('25 25'::oidvector, '25 25 16'::oidvector, '25 16'::oidvector)
    )
    order by p.oid limit 1;
    exit when not found;
    home := quote_ident(open.schema);
    checked := (
      select t.oid from pg_type as t
      join pg_depend as d on d.classid = 'pg_type'::regclass and d.objid = t.oid and d.refclassid = 'pg_extension'::regclass
        and d.refobjid = open.extension and d.deptype = 'e'
      join pg_roles as o on o.oid = t.typowner and o.rolsuper
      where starts_with(t.typname::text, open.domain_name) and t.typtype = 'd' limit 1
    );
    if checked is null then
      -- The functions that take a statement and a boolean have a domain, too: by its type, text would fit better than that of a connection.
      name := open.domain_name;
      if exists (select from pg_type as t where t.typnamespace = open.pronamespace and t.typname::text = name) then
        -- The project has a type of this name there.
        name := name || '_' || replace(gen_random_uuid()::text, '-', '');
      end if;
      execute 'create domain ' || home || '.' || name || ' as text'
        || case when open.domain_name = 'dblink_connection' then ' check (_selvedge.check_connection(value))'::text else ''::text end;
      execute 'alter extension dblink add domain ' || home || '.' || name;
      continue;
    end if;
    arguments := open.types[:open.place - 1] || checked || open.types[open.place + 1:];
    select string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', '::text) into dependents
    from pg_depend as d where d.refclassid = 'pg_proc'::regclass and d.refobjid = open.oid and d.deptype = 'n';
    if dependents is null or open.domain_name = 'dblink_statement' then
      update pg_proc as p set proargtypes = array_to_string(arguments, ' '::text)::oidvector where p.oid = open.oid;
      insert into pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
      values ('pg_proc'::regclass, open.oid, 0, 'pg_type'::regclass, checked, 0, 'n');
      continue;
    end if;
    -- Views store which function they call, so the check of the domain would not run for them: the function that they call is closed to others
    -- than superusers, and a new one gets its name.
    raise warning 'calls of % are refused in %: create them anew', open.oid::regprocedure, dependents;
    execute 'alter function ' || open.oid::regprocedure::text || ' rename to dblink_of_stored_calls_'
      || replace(gen_random_uuid()::text, '-', '');
    execute 'create function ' || home || '.' || quote_ident(open.name) || '('
      || (select string_agg(format_type(a.type, null), ', '::text order by a.place) from unnest(arguments) with ordinality as a (type, place))
      || ') returns ' || case when open.proretset then 'setof '::text else ''::text end || format_type(open.prorettype, null)
      || ' language c strict volatile parallel restricted ' || case when open.prosecdef then 'security definer '::text else ''::text end
      || 'as ''$libdir/dblink'', ' || quote_literal(open.prosrc);
    replacement := (
      select p.oid from pg_proc as p
      where p.pronamespace = open.pronamespace and p.proname::text = open.name
        and p.proargtypes = array_to_string(arguments, ' '::text)::oidvector
    );
    execute 'alter extension dblink add function ' || replacement::regprocedure::text;
    perform _selvedge.move_grants(open.oid, replacement);
  end loop;
end
$$;
revoke all on function _selvedge.close_connection_functions() from public;

-- Moves the grants on one function to another.
create function _selvedge.move_grants(source oid, target oid) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  granted record;
begin
  for granted in
    -- Default privileges may have opened the new one.
    select 0 as step, coalesce(quote_ident(g.rolname), 'public'::text) as grantee, false as is_grantable, p.oid
    from pg_proc as p
    cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
    left join pg_roles as g on g.oid = a.grantee
    where p.oid = target and a.grantee <> p.proowner
    union all
    select s.step, coalesce(quote_ident(g.rolname), 'public'::text), a.is_grantable, p.oid
    from pg_proc as p
    cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
    left join pg_roles as g on g.oid = a.grantee
    cross join (values (1), (2)) as s (step)
    where p.oid = source and a.grantee <> p.proowner
    order by 1
  loop
    if granted.step = 1 then
      execute 'grant execute on function ' || target::regprocedure::text || ' to ' || granted.grantee
        || case when granted.is_grantable then ' with grant option'::text else ''::text end;
    else
      execute 'revoke all on function ' || granted.oid::regprocedure::text || ' from ' || granted.grantee || ' cascade';
    end if;
  end loop;
end
$$;
revoke all on function _selvedge.move_grants(oid, oid) from public;

-- Options of foreign servers and user mappings that are refused. A superuser decides about its own servers, and about mappings of superusers.
-- Servers of every wrapper count: dblink connects to each by its name. Validators of the wrappers of PostgreSQL allow only names that they know,
-- those of others what they like.
create function _selvedge.find_refused_server_options() returns table (class oid, id oid, object text, mapped text, option text)
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select f.class, f.id, f.server, f.mapped, o.option_name
  from (
    select 'pg_foreign_server'::regclass::oid as class, s.oid as id, s.srvname::text as server, null::text as mapped, s.srvoptions as options,
      s.srvfdw as wrapper
    from pg_foreign_server as s join pg_roles as r on r.oid = s.srvowner and not r.rolsuper
    union all
    select 'pg_user_mapping'::regclass, m.oid, s.srvname::text, coalesce(quote_ident(r.rolname), 'public'::text), m.umoptions, s.srvfdw
    from pg_user_mapping as m
    join pg_foreign_server as s on s.oid = m.umserver
    left join pg_roles as r on r.oid = m.umuser
    where r.rolsuper is not true
  ) as f
  join pg_foreign_data_wrapper as w on w.oid = f.wrapper
  left join pg_proc as h on h.oid = w.fdwhandler
  left join pg_proc as v on v.oid = w.fdwvalidator
  cross join lateral pg_options_to_table(f.options) as o
  where not _selvedge.is_allowed_connection_option(o.option_name, o.option_value) and (
    o.option_name ~ '^(ssl(key|cert|rootcert|crl|crldir|password|keylogfile)|passfile|service|servicefile|krbsrvname|gsslib|gssdelegation|oauth_.*|replication|options)$'
    or (h.prosrc = 'postgres_fdw_handler' or v.prosrc in ('postgres_fdw_validator', 'dblink_fdw_validator'))
      and o.option_name <> all (array[
        'use_remote_estimate', 'fdw_startup_cost', 'fdw_tuple_cost', 'extensions', 'updatable', 'truncatable', 'fetch_size', 'batch_size',
        'async_capable', 'parallel_commit', 'parallel_abort', 'keep_connections', 'password_required', 'analyze_sampling',
        'use_scram_passthrough'
      ]::text[])
  )
$$;
revoke all on function _selvedge.find_refused_server_options() from public;

-- Servers and mappings that would lead a superuser's own connection away: dblink takes the first 63 letters of a connection's text for the name of
-- a server before it reads the text, and connects as the mapping of its caller says, a superuser's without a password.
create function _selvedge.find_misleading_servers() returns table (class oid, id oid, server text, mapped text)
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select 'pg_foreign_server'::regclass::oid, s.oid, s.srvname::text, null::text
  from pg_foreign_server as s join pg_roles as o on o.oid = s.srvowner and not o.rolsuper
  where s.srvname::text ~ '=|^postgres(ql)?://'
  union all
  select 'pg_user_mapping'::regclass, m.oid, s.srvname::text, quote_ident(r.rolname)
  from pg_user_mapping as m
  join pg_foreign_server as s on s.oid = m.umserver
  join pg_roles as o on o.oid = s.srvowner and not o.rolsuper
  join pg_roles as r on r.oid = m.umuser and r.rolsuper
$$;
revoke all on function _selvedge.find_misleading_servers() from public;

-- Runs behind each statement by which an option could have come, before any code of the project does.
create function _selvedge.check_changed_connections(tag text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  refused text;
begin
  if tag in ('CREATE EXTENSION', 'ALTER EXTENSION') then
    perform _selvedge.close_connection_functions();
  elsif tag in ('CREATE SERVER', 'ALTER SERVER', 'CREATE USER MAPPING', 'ALTER USER MAPPING') then
    select f.option into refused
    from pg_event_trigger_ddl_commands() as c
    join _selvedge.find_refused_server_options() as f on f.class = c.classid and f.id = c.objid
    limit 1;
    if exists (
      select from pg_event_trigger_ddl_commands() as c
      join _selvedge.find_misleading_servers() as f on f.class = c.classid and f.id = c.objid
    ) then
      raise insufficient_privilege using
        message = 'this foreign server would take the place of a superuser''s connection',
        hint = 'A server''s name has no =, and does not begin like a URI. Mappings of superusers belong to their own servers.';
    end if;
  elsif tag in ('CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION') then
    select _selvedge.find_refused_option(s.subconninfo) into refused
    from pg_event_trigger_ddl_commands() as c
    join pg_subscription as s on s.oid = c.objid and c.classid = 'pg_subscription'::regclass
    join pg_roles as r on r.oid = s.subowner and not r.rolsuper
    where _selvedge.find_refused_option(s.subconninfo) is not null
    limit 1;
  end if;
  if refused is not null then
    perform _selvedge.refuse_option(refused);
  end if;
end
$$;
revoke all on function _selvedge.check_changed_connections(text) from public;

create function _selvedge.check_connections() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform _selvedge.check_changed_connections(tg_tag);
end
$$;
revoke all on function _selvedge.check_connections() from public;

-- CREATE SUBSCRIPTION connects before PostgreSQL has stored the text, so that the text of the statement is read: the only one that the client has
-- sent, and written as plainly as can be. No setting changes how PostgreSQL reads a literal without a backslash.
create function _selvedge.check_subscription() returns event_trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  beginning constant text := '^(?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r]|/[*][^*/]*[*]/)*';
  gap constant text := '[ \t\n\r\f\v]+';
  callers text;
  statement text collate "C" := current_query();
  parts text[];
  refused text;
begin
  if coalesce((select r.rolsuper from pg_roles as r where r.rolname = current_user), false) then
    return;
  end if;
  get diagnostics callers = pg_context;
  parts := regexp_match(statement, beginning || 'create' || gap || 'subscription' || gap || '(?:[a-z_][a-z0-9_$]*|"[^"]+")' || gap
    || 'connection[ \t\n\r\f\v]*''((?:[^'']|'''')*)''[ \t\n\r\f\v]*publication' || gap || '[^;]*;?[ \t\n\r\f\v]*$', 'i');
  -- A second line would be a function that calls CREATE SUBSCRIPTION; the only one is of this function.
  if strpos(callers, chr(10)) > 0 or strpos(statement, chr(92)) > 0 or parts is null then
    raise insufficient_privilege using
      message = 'a subscription is created by a statement of its own, whose connection is a plain text',
      hint = 'Send CREATE SUBSCRIPTION name CONNECTION ''...'' PUBLICATION ... alone, without a backslash, and not within a function.';
  end if;
  refused := _selvedge.find_refused_option(replace(parts[1], '''''', ''''));
  if refused is not null then
    perform _selvedge.refuse_option(refused);
  end if;
end
$$;
revoke all on function _selvedge.check_subscription() from public;

-- Event triggers of the same event fire in the order of their names.
create event trigger _selvedge_check_connections on ddl_command_end
  when tag in (
    'CREATE EXTENSION', 'ALTER EXTENSION', 'CREATE SERVER', 'ALTER SERVER', 'CREATE USER MAPPING', 'ALTER USER MAPPING', 'CREATE SUBSCRIPTION',
    'ALTER SUBSCRIPTION'
  )
  execute function _selvedge.check_connections();
alter event trigger _selvedge_check_connections enable always;
create event trigger _selvedge_check_subscription on ddl_command_start when tag in ('CREATE SUBSCRIPTION')
  execute function _selvedge.check_subscription();
alter event trigger _selvedge_check_subscription enable always;

-- Takes the options out of what exists. A subscription without them would connect otherwise than was meant, so it is stopped.
create function _selvedge.mend_connections() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  found record;
begin
  perform _selvedge.close_connection_functions();
  for found in select * from _selvedge.find_misleading_servers() order by mapped nulls last loop
    if found.mapped is null then
      -- ALTER SERVER would fire the event trigger, which refuses it while the server has options that are refused.
      update pg_foreign_server as s set srvname = ('renamed_'::text || replace(gen_random_uuid()::text, '-', ''))::name where s.oid = found.id;
      raise warning 'the foreign server % was renamed: a connection of a superuser could have been taken for its name', found.server;
    else
      execute 'drop user mapping for ' || found.mapped || ' server ' || quote_ident(found.server);
      raise warning 'the mapping of % on the foreign server % was dropped: it belongs to superusers alone', found.mapped, found.server;
    end if;
  end loop;
  for found in
    -- In one statement, because the event trigger refuses one that leaves another refused option.
    select f.object, f.mapped, string_agg(f.option, ', '::text) as names, string_agg('drop ' || quote_ident(f.option), ', '::text) as changes
    from _selvedge.find_refused_server_options() as f group by f.class, f.id, f.object, f.mapped
  loop
    begin
      execute case when found.mapped is null then 'alter server '::text else 'alter user mapping for ' || found.mapped || ' server ' end
        || quote_ident(found.object) || ' options (' || found.changes || ')';
      raise warning 'the foreign server % lost options%, which are a superuser''s: %', found.object,
        case when found.mapped is null then ''::text else ' of ' || found.mapped end, found.names;
    exception when others then
      raise warning 'the foreign server % has options that are a superuser''s, drop it: %', found.object, found.names;
    end;
  end loop;
  -- Those of all databases.
  for found in
    update pg_subscription as s set subenabled = false
    from pg_roles as r
    where r.oid = s.subowner and not r.rolsuper and s.subenabled and _selvedge.find_refused_option(s.subconninfo) is not null
    returning s.subname::text as name, _selvedge.find_refused_option(s.subconninfo) as option
  loop
    raise warning 'the subscription % was disabled: the option "%" of its connection is a superuser''s', found.name, found.option;
  end loop;
end
$$;
revoke all on function _selvedge.mend_connections() from public;
select _selvedge.mend_connections();

-- As in 0198_event_trigger_paths.sql, but connections are looked at before the code of a project runs.
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
