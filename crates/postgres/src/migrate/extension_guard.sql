-- Guards the creation of extensions in a database of the cluster that has no platform schema. `postgres` may create databases, and in one of its
-- own the scripts of trusted extensions run as a superuser beside whatever it has made there. Options of connections that are a superuser's
-- are refused as well. The functions of the platform that these call were made before, with names that begin with `selvedge_`.
--
-- All of it is in pg_catalog, and the event trigger belongs to the extension plpgsql: so a dump of the database does not have it.

-- These scripts of contrib and that of pgvector call nothing, and name no type, that a schema of the project could have in the place of what they
-- mean.
create or replace function pg_catalog.selvedge_is_known_script(extension_name text) returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $guard$
  select extension_name = any (array[
    'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
    'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
    'pg_buffercache', 'pg_prewarm', 'pg_stat_statements', 'pg_trgm', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
    'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'vector'
  ]::text[])
$guard$;

-- Here PostgreSQL alone decides what `postgres` creates.
create or replace function pg_catalog.selvedge_is_allowed_extension(extension_name text) returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $guard$
  select false
$guard$;

create or replace function pg_catalog.selvedge_check_extension() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  -- The lines of PG_CONTEXT are in the language of the server's messages.
  set lc_messages = 'C'
as $guard$
declare
  callers text;
  statement text[];
begin
  -- Whoever has logged in says nothing of whose statement this is: autovacuum logs in as a superuser and runs functions of the project.
  if exists (
    -- A database that became one of a project has the platform's own check.
    select from pg_event_trigger as t join pg_roles as o on o.oid = t.evtowner and o.rolsuper
    where t.evtname = 'selvedge_check_extension_scripts' and t.evtenabled = 'A'
      and t.evtfoid = to_regprocedure('_selvedge.check_extension_scripts()')::oid
  ) and not exists (
    -- A copy of a project of earlier days has the one of those days.
    select from pg_proc as own
    where own.pronamespace = 'pg_catalog'::regnamespace and starts_with(own.proname::text, 'selvedge_'::text)
      and own.proname <> all (array['selvedge_check_extension', 'selvedge_is_known_script', 'selvedge_is_allowed_extension']::name[])
      and not exists (
        select from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace and n.nspname = '_selvedge'
        join pg_roles as o on o.oid = p.proowner and o.rolsuper
        where 'selvedge_' || p.proname::text = own.proname::text
          and replace(p.prosrc, '_selvedge.'::text, 'pg_catalog.selvedge_'::text) = own.prosrc
      )
  ) then
    return;
  end if;
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  callers := case when strpos(callers, E'\n') = 0 then ''::text else substr(callers, strpos(callers, E'\n') + 1) end;
  statement := case
    when callers = ''::text then pg_catalog.selvedge_read_extension_statement(current_query(), false)
    when starts_with(callers, 'SQL statement "'::text) then pg_catalog.selvedge_read_extension_statement(substr(callers, 16), true)
  end;
  -- In such a copy the code of the project's event triggers may run after this check.
  if not coalesce(statement[1] = ''::text or pg_catalog.selvedge_is_known_script(statement[1]), false) and exists (
    select from pg_event_trigger as t
    join pg_proc as p on p.oid = t.evtfoid and p.proname ~ '^event_trigger_[0-9]+$'::text
    join pg_namespace as n on n.oid = p.pronamespace and n.nspname = '_selvedge'
    where t.evtevent = 'ddl_command_start' and t.evtenabled <> 'D' and (t.evttags is null or tg_tag = any (t.evttags))
  ) then
    raise insufficient_privilege using
      message = 'an event trigger of the project may run before the script of the extension, in a database that an earlier version has made',
      hint = 'Drop or disable the event trigger, or bring the database up to date.';
  end if;
  perform pg_catalog.selvedge_check_extension_statement(tg_tag, callers);
end
$guard$;
revoke all on function pg_catalog.selvedge_check_extension() from public;
revoke all on function pg_catalog.selvedge_check_connections() from public;

do $$
declare
  earlier regprocedure;
  wanted record;
begin
  for earlier in
    select p.oid from pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname = any (array[
        'selvedge_find_named_extension', 'selvedge_find_callable_names', 'selvedge_clean_script_part'
      ]::name[]) and p.pronargs < 3
  loop
    begin
      execute 'drop function ' || earlier::text;
    exception when dependent_objects_still_exist then
      -- Nothing calls it any more, but somebody may have made a view that does.
      null;
    end;
  end loop;
  for wanted in
    select * from (values
      ('selvedge_check_extension'::text, 'ddl_command_start'::text, array['CREATE EXTENSION', 'ALTER EXTENSION'],
        'pg_catalog.selvedge_check_extension()'::regprocedure),
      -- Before all others of the same event, as in the project's database.
      ('_selvedge_guard_connections', 'ddl_command_end', array[
        'CREATE EXTENSION', 'ALTER EXTENSION', 'CREATE SERVER', 'ALTER SERVER', 'CREATE USER MAPPING', 'ALTER USER MAPPING',
        'CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION'
      ], 'pg_catalog.selvedge_check_connections()'),
      ('_selvedge_guard_subscription', 'ddl_command_start', array['CREATE SUBSCRIPTION'], 'pg_catalog.selvedge_check_subscription()')
    ) as w (name, event, tags, routine)
  loop
    -- In a copy of a project an event trigger of the project may have this name.
    if exists (
      select from pg_event_trigger as t
      where t.evtname::text = wanted.name and (t.evtfoid <> wanted.routine::oid or t.evttags is distinct from wanted.tags)
    ) then
      execute 'alter event trigger ' || quote_ident(wanted.name) || ' rename to ' || quote_ident('renamed_' || gen_random_uuid()::text);
    end if;
    if not exists (select from pg_event_trigger as t where t.evtname::text = wanted.name) then
      execute 'create event trigger ' || quote_ident(wanted.name) || ' on ' || wanted.event || ' when tag in ('
        || (select string_agg(quote_literal(tag), ', '::text) from unnest(wanted.tags) as tag) || ') execute function '
        || wanted.routine::text;
    end if;
    -- session_replication_role switches other event triggers off, and everybody may let it be set for their own sessions.
    execute 'alter event trigger ' || quote_ident(wanted.name) || ' enable always';
    if not exists (
      select from pg_depend as d join pg_event_trigger as t on t.oid = d.objid and t.evtname::text = wanted.name
      where d.classid = 'pg_event_trigger'::regclass and d.deptype = 'e'
    ) then
      execute 'alter extension plpgsql add event trigger ' || quote_ident(wanted.name);
    end if;
  end loop;
  -- Whoever owns plpgsql, as `postgres` did in earlier days, could drop the event trigger with it.
  update pg_extension set extowner = 10::oid where extname = 'plpgsql' and extowner <> 10::oid;
  delete from pg_shdepend as d
  using pg_extension as e, pg_database as db
  where e.extname = 'plpgsql' and e.extowner = 10::oid and db.datname = current_database()
    and d.dbid = db.oid and d.classid = 'pg_extension'::regclass and d.objid = e.oid and d.deptype = 'o';
end
$$;

select pg_catalog.selvedge_mend_connections();

-- A copy of a project that an earlier version has made keeps the functions of those days that run as a superuser, and rights on its tables, with
-- the faults that they had. There they run as their callers, and what was made with these rights is removed, as the files of the platform schema
-- removed it in the project's database (0080_reserved_rights.sql, 0081_extensions_of_projects.sql, 0083_mend_extensions.sql).
do $$
declare
  found record;
begin
  if not exists (
    select from pg_namespace as n join pg_roles as o on o.oid = n.nspowner and o.rolsuper where n.nspname = '_selvedge'
  ) then
    return;
  end if;
  if exists (
    select from pg_class as c join pg_roles as o on o.oid = c.relowner and o.rolsuper
    where c.oid = to_regclass('_selvedge.platform_migrations'::text)::oid
  ) then
    if ({files_query}) = '{files}' and ({functions_query}) = '{functions}' then
      return;
    end if;
  end if;
  update pg_proc as p set prosecdef = false
  from pg_roles as o
  where o.oid = p.proowner and o.rolsuper and p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace;
  for found in
    select distinct c.oid::regclass::text as relation, g.rolname::text as grantee
    from pg_class as c
    join pg_roles as o on o.oid = c.relowner and o.rolsuper
    cross join lateral (
      select acl.grantee, acl.privilege_type from aclexplode(c.relacl) as acl
      union all
      select acl.grantee, acl.privilege_type from pg_attribute as a, aclexplode(a.attacl) as acl where a.attrelid = c.oid
    ) as r
    left join pg_roles as g on g.oid = r.grantee
    where c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f') and r.privilege_type in ('REFERENCES', 'TRIGGER')
      and g.rolsuper is not true
  loop
    execute 'revoke references, trigger on table ' || found.relation || ' from ' || coalesce(quote_ident(found.grantee), 'public'::text)
      || ' cascade';
  end loop;
  -- A grant of single columns that another role has passed on does not go with the right of that role.
  update pg_attribute as col set attacl = (
    select array_agg(makeaclitem(a.grantee, a.grantor, a.privilege_type, a.is_grantable))
    from aclexplode(col.attacl) as a
    left join pg_roles as g on g.oid = a.grantee
    where a.privilege_type <> 'REFERENCES' or g.rolsuper
  )
  from pg_class as c
  join pg_roles as o on o.oid = c.relowner and o.rolsuper
  where c.oid = col.attrelid and c.oid >= 16384 and col.attacl is not null and exists (
    select from aclexplode(col.attacl) as a
    left join pg_roles as g on g.oid = a.grantee
    where a.privilege_type = 'REFERENCES' and g.rolsuper is not true
  );
  for found in
    select distinct r.rolname::text as owner, n.nspname::text as schema, g.rolname::text as grantee
    from pg_default_acl as d
    join pg_roles as r on r.oid = d.defaclrole and r.rolsuper
    left join pg_namespace as n on n.oid = d.defaclnamespace
    cross join lateral aclexplode(d.defaclacl) as a
    left join pg_roles as g on g.oid = a.grantee
    where d.defaclobjtype = 'r' and a.privilege_type in ('REFERENCES', 'TRIGGER') and g.rolsuper is not true
  loop
    execute 'alter default privileges for role ' || quote_ident(found.owner) || coalesce(' in schema ' || quote_ident(found.schema), ''::text)
      || ' revoke references, trigger on tables from ' || coalesce(quote_ident(found.grantee), 'public'::text) || ' cascade';
  end loop;
  -- The check of a key casts the value of the referencing table as the owner of the other one. A key of the same type has no cast.
  for found in
    select c.conname::text as name, c.conrelid::regclass::text as relation
    from pg_constraint as c
    join pg_class as f on f.oid = c.conrelid
    join pg_roles as w on w.oid = f.relowner and not w.rolsuper
    join pg_class as t on t.oid = c.confrelid
    join pg_roles as o on o.oid = t.relowner and o.rolsuper
    where c.contype = 'f' and c.conparentid = 0::oid and exists (
      select from unnest(c.conkey, c.confkey) as k (ours, theirs)
      join pg_attribute as x on x.attrelid = c.conrelid and x.attnum = k.ours
      join pg_attribute as y on y.attrelid = c.confrelid and y.attnum = k.theirs
      where x.atttypid <> y.atttypid
    )
  loop
    execute 'alter table ' || found.relation || ' drop constraint ' || quote_ident(found.name);
  end loop;
  -- Triggers run as whoever writes, their conditions as well, which may call functions of the project.
  for found in
    select t.tgname::text as name, t.tgrelid::regclass::text as relation
    from pg_trigger as t
    join pg_proc as p on p.oid = t.tgfoid
    join pg_roles as w on w.oid = p.proowner
    join pg_class as c on c.oid = t.tgrelid
    join pg_roles as o on o.oid = c.relowner and o.rolsuper
    where not t.tgisinternal and t.tgparentid = 0::oid and (not w.rolsuper or t.tgqual is not null)
  loop
    execute 'drop trigger ' || quote_ident(found.name) || ' on ' || found.relation;
  end loop;
  -- Functions that their extension leaves to superusers, some of which write files.
  for found in
    select distinct p.oid::regprocedure::text as routine, g.rolname::text as grantee
    from pg_depend as d
    join pg_proc as p on p.oid = d.objid
    join pg_roles as o on o.oid = p.proowner and o.rolsuper
    join pg_extension as e on e.oid = d.refobjid
    join pg_default_acl as f on f.defaclrole = p.proowner and f.defaclobjtype = 'f' and f.defaclnamespace in (0::oid, p.pronamespace)
    cross join lateral aclexplode(f.defaclacl) as a
    join pg_roles as g on g.oid = a.grantee and not g.rolsuper
    where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and p.proacl is not null
      and not exists (select from aclexplode(p.proacl) as x where x.grantee = 0::oid and x.privilege_type = 'EXECUTE')
      and exists (select from aclexplode(p.proacl) as x where x.grantee = a.grantee)
      and not (
        g.rolname = 'postgres' and e.extname in (
          'amcheck', 'pg_buffercache', 'pg_stat_statements', 'pg_visibility', 'pg_walinspect', 'pgstattuple'
        )
      )
  loop
    execute 'revoke all on routine ' || found.routine || ' from ' || quote_ident(found.grantee) || ' cascade';
  end loop;
  -- Without the validator of its own extension a wrapper takes options that are a superuser's, such as file_fdw's programs.
  for found in
    select w.fdwname::text as name
    from pg_foreign_data_wrapper as w
    join pg_roles as o on o.oid = w.fdwowner and not o.rolsuper
    where (w.fdwhandler <> 0::oid or w.fdwvalidator <> 0::oid) and not exists (
      select from pg_depend as h
      join pg_depend as v on v.refobjid = h.refobjid and v.classid = 'pg_proc'::regclass and v.objid = w.fdwvalidator
        and v.refclassid = 'pg_extension'::regclass and v.deptype = 'e'
      join pg_extension as e on e.oid = h.refobjid and e.extname <> 'file_fdw'
      join pg_proc as hp on hp.oid = w.fdwhandler
      join pg_roles as ho on ho.oid = hp.proowner and ho.rolsuper
      join pg_proc as vp on vp.oid = w.fdwvalidator
      join pg_roles as vo on vo.oid = vp.proowner and vo.rolsuper
      where h.classid = 'pg_proc'::regclass and h.objid = w.fdwhandler and h.refclassid = 'pg_extension'::regclass and h.deptype = 'e'
        and (
          exists (
            select from pg_foreign_data_wrapper as known
            join pg_depend as kd on kd.classid = 'pg_foreign_data_wrapper'::regclass and kd.objid = known.oid
              and kd.refclassid = 'pg_extension'::regclass and kd.refobjid = e.oid and kd.deptype = 'e'
            where known.fdwhandler = hp.oid and known.fdwvalidator = vp.oid
          )
          or regexp_replace(hp.proname::text, '_handler$'::text, ''::text) = regexp_replace(vp.proname::text, '_validator$'::text, ''::text)
        )
    )
  loop
    execute 'alter foreign data wrapper ' || quote_ident(found.name) || ' no handler no validator';
  end loop;
end
$$
