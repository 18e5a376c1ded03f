-- Extensions that the server brings along (docs/extensions.md). Where PostgreSQL has their files, as in the embedded cluster,
-- they are extensions like any other. Elsewhere their scripts, which every run of the platform schema stores in
-- `_selvedge.shipped_extensions`, are run in their place.

create table _selvedge.installed_extensions (
  name text not null,
  version text not null,
  schema text not null,
  constraint installed_extensions_pkey primary key (name)
);
comment on table _selvedge.installed_extensions is 'Extensions that exist by their script, and not by CREATE EXTENSION.';

grant select on _selvedge.installed_extensions to public;

-- Whether `name` can be installed by its script only.
create function _selvedge.needs_script(name text) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from pg_available_extensions as a where a.name = needs_script.name)
    and exists (select from _selvedge.shipped_extensions as s where s.name = needs_script.name)
$$;

-- Runs the script of a shipped extension. Its tables cannot be marked for dumps, as no extension exists.
create function _selvedge.install_by_script(name text, if_not_exists boolean, target_schema text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  shipped _selvedge.shipped_extensions;
  target text;
begin
  if exists (select from _selvedge.installed_extensions as i where i.name = install_by_script.name) then
    if not if_not_exists then
      raise duplicate_object using message = format('extension "%s" already exists', name);
    end if;
    raise notice 'extension "%" already exists, skipping', name;
    return;
  end if;
  select * into strict shipped from _selvedge.shipped_extensions as s where s.name = install_by_script.name;
  target := coalesce(shipped.schema, target_schema, 'public');
  if to_regnamespace(quote_ident(target)) is null then
    execute format('create schema %I', target);
  end if;
  execute replace(
    regexp_replace(shipped.script, '^select pg_catalog\.pg_extension_config_dump\(.*$', '', 'gn'),
    '@extschema@', quote_ident(target)
  );
  insert into _selvedge.installed_extensions (name, version, schema) values (shipped.name, shipped.version, target);
end
$$;

create or replace function _selvedge.create_extension(
  name text, if_not_exists boolean, target_schema text, version text, cascade boolean
) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  -- Of an extension with a schema of its own PostgreSQL refuses any other.
  has_own_schema boolean := exists (
    select from pg_available_extension_versions as v where v.name = create_extension.name and v.schema is not null
  );
begin
  if not _selvedge.is_allowed_extension(name) then
    raise insufficient_privilege using message = format('permission denied to create extension "%s"', name);
  end if;
  if _selvedge.needs_script(name) then
    perform _selvedge.install_by_script(name, if_not_exists, target_schema);
    return;
  end if;
  execute format(
    'create extension %s %I %s %s %s',
    case when if_not_exists then 'if not exists' else '' end,
    name,
    case when target_schema is not null and not has_own_schema then format('schema %I', target_schema) else '' end,
    case when version is not null then format('version %L', version) else '' end,
    case when cascade then 'cascade' else '' end
  );
end
$$;

create or replace function _selvedge.drop_extension(name text, if_exists boolean, cascade boolean) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  own_schema text := case name when 'pg_net' then 'net' when 'pg_cron' then 'cron' when 'pgmq' then 'pgmq' end;
begin
  if not _selvedge.is_allowed_extension(name) then
    raise insufficient_privilege using message = format('permission denied to drop extension "%s"', name);
  end if;
  if exists (select from _selvedge.installed_extensions as i where i.name = drop_extension.name) then
    if own_schema is null then
      raise notice 'extension "%" is part of the platform schema here and stays', name;
      return;
    end if;
    execute format('drop schema %I cascade', own_schema);
    delete from _selvedge.installed_extensions as i where i.name = drop_extension.name;
    return;
  end if;
  execute format(
    'drop extension %s %I %s',
    case when if_exists then 'if exists' else '' end, name, case when cascade then 'cascade' else '' end
  );
end
$$;

revoke all on function _selvedge.needs_script(text), _selvedge.install_by_script(text, boolean, text) from public;

-- As in Supabase's image and CLI, every project has the vault, pgjwt and pg_net.
drop function
  extensions.verify(text, text, text), extensions.sign(json, text, text), extensions.algorithm_sign(text, text, text),
  extensions.url_decode(text), extensions.url_encode(bytea);
select _selvedge.create_extension('pgjwt', true, 'extensions', null, false);
select _selvedge.create_extension('supabase_vault', true, 'vault', null, false);
select _selvedge.create_extension('pg_net', true, 'extensions', null, false);

-- Database webhooks: a trigger with the arguments URL, method, headers, parameters and time limit in milliseconds. The
-- last three may be missing or the text `null`.
create or replace function supabase_functions.http_request() returns trigger
  language plpgsql security definer
  set search_path = supabase_functions, pg_temp
as $$
declare
  url text := nullif(tg_argv[0], 'null');
  method text := nullif(tg_argv[1], 'null');
  headers jsonb := coalesce(nullif(tg_argv[2], 'null')::jsonb, '{"Content-Type": "application/json"}');
  params jsonb := coalesce(nullif(tg_argv[3], 'null')::jsonb, '{}');
  timeout_ms integer := coalesce(nullif(tg_argv[4], 'null')::integer, 1000);
  request_id bigint;
begin
  if url is null then
    raise exception 'url argument is missing';
  end if;
  if method is null then
    raise exception 'method argument is missing';
  end if;
  case method
    when 'GET' then
      request_id := net.http_get(url, params, headers, timeout_ms);
    when 'POST' then
      request_id := net.http_post(
        url,
        jsonb_build_object(
          'type', tg_op, 'table', tg_table_name, 'schema', tg_table_schema, 'record', to_jsonb(new),
          'old_record', to_jsonb(old)
        ),
        params, headers, timeout_ms
      );
    else
      raise exception 'method argument % is invalid', method;
  end case;
  insert into supabase_functions.hooks (hook_table_id, hook_name, request_id) values (tg_relid, tg_name, request_id);
  return coalesce(new, old);
end
$$;
