-- Extensions of projects, second edition (docs/decisions.md, "Rights of `postgres`"). What needs no superuser runs as `postgres`; what does
-- goes only into schemas in which `postgres` may create, and never opens what a script has closed.

-- Refuses transactions that see the database as it was at their beginning. What a superuser's function reads of the catalog is then older
-- than what its statements find: another session may have renamed a schema or changed a function meanwhile.
create function _selvedge.require_current_snapshot() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('transaction_isolation'::text) not in ('read committed', 'read uncommitted') then
    raise feature_not_supported using
      message = 'this statement needs a transaction of the isolation level READ COMMITTED',
      hint = 'Begin it with BEGIN ISOLATION LEVEL READ COMMITTED.';
  end if;
end
$$;
revoke all on function _selvedge.require_current_snapshot() from public;

-- The schema that an extension's own control file prescribes; null when CREATE EXTENSION chooses it.
create function _selvedge.find_own_schema(extension_name text) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select v.schema::text from pg_available_extension_versions as v
  where v.name::text = extension_name and v.schema is not null limit 1
$$;

-- Takes back what default privileges have opened of the members of these extensions, and gives `postgres` the wrappers of its extensions.
create function _selvedge.settle_extensions(extensions oid[]) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  found record;
  is_unchanged boolean;
begin
  -- A function without EXECUTE for PUBLIC was closed by its script. What the script grants to roles by name stays.
  for found in
    select distinct p.oid::regprocedure as routine, g.rolname::text as grantee
    from pg_depend as d
    join pg_proc as p on p.oid = d.objid
    join pg_extension as e on e.oid = d.refobjid
    join pg_roles as o on o.oid = p.proowner and o.rolsuper
    join pg_default_acl as f on f.defaclrole = p.proowner and f.defaclobjtype = 'f' and f.defaclnamespace in (0, p.pronamespace)
    cross join lateral aclexplode(f.defaclacl) as a
    join pg_roles as g on g.oid = a.grantee and not g.rolsuper
    where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e'
      and e.oid = any (extensions) and p.proacl is not null
      and not exists (select from aclexplode(p.proacl) as x where x.grantee = 0 and x.privilege_type = 'EXECUTE')
      and exists (select from aclexplode(p.proacl) as x where x.grantee = a.grantee)
      -- What these show, `postgres` may read anyway: it looks after its own tables and statistics with them.
      and not (
        g.rolname = 'postgres' and e.extname in (
          'amcheck', 'pg_buffercache', 'pg_stat_statements', 'pg_visibility', 'pg_walinspect', 'pgstattuple'
        )
      )
  loop
    -- Dumps repeat what differs from the privileges that the script has left. This is no such change.
    is_unchanged := exists (
      select from pg_init_privs as i join pg_proc as p on p.oid = i.objoid
      where i.classoid = 'pg_proc'::regclass and p.oid = found.routine::oid and i.initprivs = p.proacl
    );
    execute 'revoke all on routine ' || found.routine::text || ' from ' || quote_ident(found.grantee) || ' cascade';
    if is_unchanged then
      update pg_init_privs as i set initprivs = p.proacl
      from pg_proc as p
      where i.classoid = 'pg_proc'::regclass and p.oid = found.routine::oid and i.objoid = p.oid;
    end if;
  end loop;
  perform _selvedge.close_tables_of_superusers();
  for found in
    select w.fdwname::text as name
    from pg_depend as d
    join pg_foreign_data_wrapper as w on w.oid = d.objid
    join pg_extension as e on e.oid = d.refobjid
    where d.classid = 'pg_foreign_data_wrapper'::regclass and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e'
      and e.extowner = 'postgres'::regrole
      and not has_foreign_data_wrapper_privilege('postgres'::name, w.oid, 'usage with grant option'::text)
  loop
    execute 'grant usage on foreign data wrapper ' || quote_ident(found.name) || ' to postgres with grant option';
  end loop;
end
$$;

-- Refuses a schema that may not hold an extension of `postgres`. PostgreSQL itself lets the database's owner put a trusted
-- extension into pg_catalog, where its functions would come before everything that a pinned search_path protects.
create function _selvedge.check_extension_schema(extension_name text, schema_name text) returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if schema_name ~ '["$''\\@]' or octet_length(schema_name) > 63 then
    raise invalid_parameter_value using
      message = 'extension "' || extension_name || '" cannot be in a schema of this name';
  end if;
  if schema_name ~ '^pg_' or not exists (
    select from pg_namespace as n
    where n.nspname::text = schema_name and has_schema_privilege('postgres'::name, n.oid, 'create'::text)
  ) then
    raise insufficient_privilege using message = 'permission denied for schema ' || schema_name;
  end if;
end
$$;

-- ENABLE ALWAYS below: session_replication_role switches other event triggers off, and `postgres` may set it.
create or replace function _selvedge.open_new_extension() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  found record;
  created oid[];
begin
  perform _selvedge.require_current_snapshot();
  with recursive touched as (
    select c.objid from pg_event_trigger_ddl_commands() as c where c.classid = 'pg_extension'::regclass
    union
    -- Those that CASCADE has created along.
    select d.refobjid from touched
    join pg_depend as d on d.objid = touched.objid
    where d.classid = 'pg_extension'::regclass and d.refclassid = 'pg_extension'::regclass
  )
  select array_agg(t.objid) into created from touched as t;
  for found in
    select e.extname::text as name, n.nspname::text as schema
    from pg_extension as e
    join pg_namespace as n on n.oid = e.extnamespace
    join pg_roles as o on o.oid = e.extowner and not o.rolsuper
    where e.oid = any (created) and _selvedge.find_own_schema(e.extname::text) is distinct from n.nspname::text
  loop
    perform _selvedge.check_extension_schema(found.name, found.schema);
  end loop;
  perform _selvedge.settle_extensions(created);
end
$$;
drop event trigger selvedge_open_new_extension;
create event trigger selvedge_open_new_extension on ddl_command_end when tag in ('CREATE EXTENSION', 'ALTER EXTENSION')
  execute function _selvedge.open_new_extension();
alter event trigger selvedge_open_new_extension enable always;

-- Runs the script of a shipped extension, with the rights of the caller. Its tables cannot be marked for dumps, as no extension exists.
create or replace function _selvedge.install_by_script(name text, if_not_exists boolean, target_schema text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  shipped _selvedge.shipped_extensions;
  target text;
begin
  if exists (select from _selvedge.installed_extensions as i where i.name = install_by_script.name) then
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
    insert into _selvedge.installed_extensions (name, version, schema) values (shipped.name, shipped.version, target);
  end if;
end
$$;

-- Whether an extension is created with the rights of `postgres`, and so without the platform's help: PostgreSQL lets it, or a shipped
-- script needs no superuser.
create function _selvedge.is_created_by_postgres(name text) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from _selvedge.shipped_extensions as s
    where s.name = is_created_by_postgres.name and s.runs_as_creator and (
      _selvedge.needs_script(s.name) or exists (
        select from pg_available_extension_versions as v where v.name::text = s.name and (v.trusted or not v.superuser)
      )
    )
  )
$$;

-- Records an extension that `postgres` has installed by a script that needs no superuser.
create function _selvedge.record_installed_extension(name text, schema text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not (_selvedge.needs_script(name) and _selvedge.is_created_by_postgres(name)) then
    raise insufficient_privilege using message = 'permission denied to create extension "' || name || '"';
  end if;
  insert into _selvedge.installed_extensions (name, version, schema)
  select s.name, s.version, record_installed_extension.schema
  from _selvedge.shipped_extensions as s where s.name = record_installed_extension.name
  on conflict on constraint installed_extensions_pkey do nothing;
end
$$;

-- The part of `create_extension` that needs a superuser.
create function _selvedge.create_extension_as_superuser(
  name text, if_not_exists boolean, target_schema text, version text, cascade boolean
) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  before oid[] := array(select e.oid from pg_extension as e);
  created record;
begin
  perform _selvedge.require_current_snapshot();
  if not _selvedge.is_allowed_extension(name) or _selvedge.is_created_by_postgres(name) then
    raise insufficient_privilege using message = 'permission denied to create extension "' || name || '"';
  end if;
  if _selvedge.needs_script(name) then
    perform _selvedge.install_by_script(name, if_not_exists, target_schema);
    return;
  end if;
  if not exists (select from pg_extension as e where e.extname::text = name)
    and _selvedge.find_own_schema(name) is null then
    perform _selvedge.check_extension_schema(name, target_schema);
  end if;
  execute 'create extension ' || case when if_not_exists then 'if not exists ' else ''::text end || quote_ident(name)
    -- Of an extension with a schema of its own PostgreSQL refuses any other.
    || case when _selvedge.find_own_schema(name) is null then ' schema ' || quote_ident(target_schema) else ''::text end
    || case when version is not null then ' version ' || quote_literal(version) else ''::text end
    || case when cascade then ' cascade' else ''::text end;
  for created in
    select e.oid, e.extname::text as extname, n.nspname::text as schema
    from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace
    where e.oid <> all (before)
  loop
    if not _selvedge.is_allowed_extension(created.extname) then
      raise insufficient_privilege using
        message = 'permission denied to create extension "' || created.extname || '"';
    end if;
    -- The name may lead to another schema than the one that was checked before.
    if _selvedge.find_own_schema(created.extname) is distinct from created.schema then
      perform _selvedge.check_extension_schema(created.extname, created.schema);
    end if;
    if not (select r.rolsuper from pg_roles as r where r.rolname = 'postgres') then
      perform _selvedge.give_to_postgres('pg_extension'::regclass, 'extowner'::name, created.oid);
    end if;
  end loop;
  perform _selvedge.settle_extensions(array(select e.oid from pg_extension as e where e.oid <> all (before)));
end
$$;

-- Runs with the rights of the caller, `postgres`. Scripts that need no superuser run with them, too, so that `postgres` owns what they make.
create or replace function _selvedge.create_extension(
  name text, if_not_exists boolean, target_schema text, version text, cascade boolean
) returns void
  language plpgsql security invoker
  set search_path = pg_catalog, pg_temp
as $$
declare
  target text := coalesce(target_schema, 'public'::text);
begin
  if if_not_exists and exists (select from pg_extension as e where e.extname::text = name) then
    raise notice 'extension "%" already exists, skipping', name;
    return;
  end if;
  if not _selvedge.is_created_by_postgres(name) then
    perform _selvedge.create_extension_as_superuser(name, if_not_exists, target, version, cascade);
    return;
  end if;
  if (select r.rolsuper from pg_roles as r where r.rolname = current_user) and current_user <> 'postgres' then
    raise insufficient_privilege using
      message = 'extension "' || name || '" is created by postgres, as its functions run with the rights of whoever creates it';
  end if;
  if _selvedge.needs_script(name) then
    perform _selvedge.install_by_script(name, if_not_exists, target);
    return;
  end if;
  execute 'create extension ' || case when if_not_exists then 'if not exists ' else ''::text end || quote_ident(name)
    || case when _selvedge.find_own_schema(name) is null then ' schema ' || quote_ident(target) else ''::text end
    || case when version is not null then ' version ' || quote_literal(version) else ''::text end
    || case when cascade then ' cascade' else ''::text end;
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
  if exists (select from _selvedge.installed_extensions as i where i.name = drop_extension.name) then
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
    delete from _selvedge.installed_extensions as i where i.name = drop_extension.name;
    return;
  end if;
  execute 'drop extension ' || case when if_exists then 'if exists ' else ''::text end || quote_ident(name)
    || case when cascade then ' cascade' else ''::text end;
end
$$;

-- Refuses to move an extension to which somebody has added objects that do not belong to a superuser.
create function _selvedge.check_extension_members(extension oid) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  foreign_member text;
begin
  select pg_describe_object(d.classid, d.objid, 0) into foreign_member
  from pg_depend as d
  join pg_shdepend as s
    on s.classid = d.classid and s.objid = d.objid and s.deptype = 'o' and s.refclassid = 'pg_authid'::regclass
    and s.dbid = (select db.oid from pg_database as db where db.datname = current_database())
  join pg_roles as o on o.oid = s.refobjid and not o.rolsuper
  where d.refclassid = 'pg_extension'::regclass and d.refobjid = extension and d.deptype = 'e'
  limit 1;
  if foreign_member is not null then
    raise insufficient_privilege using
      message = 'the extension cannot be moved: ' || foreign_member || ' does not belong to a superuser',
      hint = 'Take it out with ALTER EXTENSION … DROP.';
  end if;
end
$$;

-- PostgreSQL asks for the ownership of an extension's objects, which belong to the superuser. Schema and members are looked at again
-- afterwards, because other sessions may have changed both since.
create or replace function _selvedge.set_extension_schema(name text, new_schema text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  extension oid := (select e.oid from pg_extension as e where e.extname::text = name and e.extowner = 'postgres'::regrole);
begin
  perform _selvedge.require_current_snapshot();
  if extension is null then
    raise insufficient_privilege using message = 'must be owner of extension ' || name;
  end if;
  perform _selvedge.check_extension_schema(name, new_schema);
  perform _selvedge.check_extension_members(extension);
  execute 'alter extension ' || quote_ident(name) || ' set schema ' || quote_ident(new_schema);
  perform _selvedge.check_extension_schema(
    name, (select n.nspname::text from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.oid = extension)
  );
  perform _selvedge.check_extension_members(extension);
end
$$;

-- Whether handler and validator belong together: both functions of a superuser, members of one extension, and either the pair of a
-- wrapper of that extension or named as one. What a wrapper lets its users do is checked by its validator only, so none goes without.
-- file_fdw reads files and runs programs.
create function _selvedge.is_pair_of_a_wrapper(handler_function oid, validator_function oid) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from pg_proc as h
    join pg_depend as hd on hd.classid = 'pg_proc'::regclass and hd.objid = h.oid and hd.deptype = 'e'
      and hd.refclassid = 'pg_extension'::regclass
    join pg_extension as e on e.oid = hd.refobjid
    join pg_depend as vd on vd.classid = 'pg_proc'::regclass and vd.deptype = 'e'
      and vd.refclassid = 'pg_extension'::regclass and vd.refobjid = e.oid
    join pg_proc as v on v.oid = vd.objid
    join pg_roles as ho on ho.oid = h.proowner and ho.rolsuper
    join pg_roles as vo on vo.oid = v.proowner and vo.rolsuper
    where h.oid = handler_function and v.oid = validator_function and e.extname <> 'file_fdw'
      and (
        exists (
          select from pg_foreign_data_wrapper as w
          join pg_depend as wd on wd.classid = 'pg_foreign_data_wrapper'::regclass and wd.objid = w.oid and wd.deptype = 'e'
            and wd.refclassid = 'pg_extension'::regclass and wd.refobjid = e.oid
          where w.fdwhandler = h.oid and w.fdwvalidator = v.oid
        )
        or regexp_replace(h.proname::text, '_handler$'::text, ''::text) = regexp_replace(v.proname::text, '_validator$'::text, ''::text)
      )
  )
$$;

create or replace function _selvedge.create_foreign_data_wrapper(
  name text, handler_function regproc, validator_function regproc
) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform _selvedge.require_current_snapshot();
  if num_nonnulls(handler_function, validator_function) <> 0
    and not coalesce(_selvedge.is_pair_of_a_wrapper(handler_function::oid, validator_function::oid), false)
  then
    raise insufficient_privilege using
      message = 'permission denied to create foreign-data wrapper "' || name || '"',
      hint = 'Name the handler and the validator of one extension; file_fdw''s are for superusers.';
  end if;
  execute 'create foreign data wrapper ' || quote_ident(name)
    || case
      when handler_function is null then ' no handler no validator'
      else ' handler ' || handler_function::text || ' validator ' || validator_function::text
    end;
  perform _selvedge.give_to_postgres(
    'pg_foreign_data_wrapper'::regclass, 'fdwowner'::name,
    (select w.oid from pg_foreign_data_wrapper as w where w.fdwname::text = name)
  );
end
$$;

-- For roles of the project. Those of the platform have the attributes that they need. From PostgreSQL 16 on, only for roles that `postgres`
-- administers.
create or replace function _selvedge.set_bypassrls(name text, bypasses boolean) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if name in ('postgres', 'anon', 'authenticated', 'service_role') or _selvedge.is_reserved_role(name)
    or (select r.rolsuper from pg_roles as r where r.rolname::text = name)
    or (
      current_setting('server_version_num'::text)::integer >= 160000
      and exists (select from pg_roles as r where r.rolname::text = name)
      and not pg_has_role('postgres'::name, name::name, 'member with admin option'::text)
    )
  then
    raise insufficient_privilege using message = '"' || name || '" is a reserved role, only superusers can modify it';
  end if;
  execute 'alter role ' || quote_ident(name) || case when bypasses then ' bypassrls' else ' nobypassrls' end;
end
$$;

drop function _selvedge.give_extensions_to_postgres();
revoke all on function
  _selvedge.find_own_schema(text), _selvedge.settle_extensions(oid[]), _selvedge.check_extension_schema(text, text),
  _selvedge.check_extension_members(oid), _selvedge.is_created_by_postgres(text), _selvedge.record_installed_extension(text, text),
  _selvedge.create_extension_as_superuser(text, boolean, text, text, boolean), _selvedge.is_pair_of_a_wrapper(oid, oid)
  from public;
grant select on _selvedge.shipped_extensions to postgres;
grant execute on function
  _selvedge.needs_script(text), _selvedge.install_by_script(text, boolean, text), _selvedge.find_own_schema(text),
  _selvedge.check_extension_schema(text, text), _selvedge.is_created_by_postgres(text), _selvedge.record_installed_extension(text, text),
  _selvedge.create_extension_as_superuser(text, boolean, text, text, boolean)
  to postgres;
