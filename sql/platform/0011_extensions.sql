-- Extensions on behalf of `postgres` (gateway.md §10).
--
-- Stock PostgreSQL lets a non-superuser create only `trusted` extensions; projects also create others of contrib
-- (moddatetime, dblink, postgres_fdw, …), and drop ones that the platform made. The migration runner turns their
-- CREATE EXTENSION and DROP EXTENSION into calls of these functions, in the same place of the same transaction.

create function _selvedge.is_allowed_extension(name text) returns boolean
  language sql immutable
  return name = any (array[
    'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
    'earthdistance', 'file_fdw', 'fuzzystrmatch', 'hstore', 'insert_username', 'intarray', 'isn', 'lo', 'ltree',
    'moddatetime', 'pg_buffercache', 'pg_prewarm', 'pg_stat_statements', 'pg_trgm', 'pg_visibility',
    'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'postgres_fdw', 'refint', 'seg', 'sslinfo',
    'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'xml2',
    -- Not of contrib; Supabase offers them, and they are used when the server has them installed.
    'http', 'hypopg', 'index_advisor', 'pg_hashids', 'pg_jsonschema', 'pg_repack', 'pgaudit', 'pgmq', 'pgroonga',
    'pgroonga_database', 'pgrouting', 'pgtap', 'plpgsql_check', 'plv8', 'postgis', 'postgis_raster',
    'postgis_sfcgal', 'postgis_tiger_geocoder', 'postgis_topology', 'address_standardizer',
    'address_standardizer_data_us', 'rum', 'timescaledb', 'vector', 'wrappers', 'pg_cron', 'pg_net', 'pg_graphql',
    'supabase_vault', 'pgsodium', 'pgjwt', 'pg_tle'
  ]);

create function _selvedge.create_extension(
  name text, if_not_exists boolean, target_schema text, version text, cascade boolean
) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not _selvedge.is_allowed_extension(name) then
    raise insufficient_privilege using message = format('permission denied to create extension "%s"', name);
  end if;
  execute format(
    'create extension %s %I %s %s %s',
    case when if_not_exists then 'if not exists' else '' end,
    name,
    case when target_schema is not null then format('schema %I', target_schema) else '' end,
    case when version is not null then format('version %L', version) else '' end,
    case when cascade then 'cascade' else '' end
  );
end
$$;

create function _selvedge.drop_extension(name text, if_exists boolean, cascade boolean) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not _selvedge.is_allowed_extension(name) then
    raise insufficient_privilege using message = format('permission denied to drop extension "%s"', name);
  end if;
  execute format(
    'drop extension %s %I %s',
    case when if_exists then 'if exists' else '' end, name, case when cascade then 'cascade' else '' end
  );
end
$$;

revoke all on function _selvedge.create_extension(text, boolean, text, text, boolean) from public;
revoke all on function _selvedge.drop_extension(text, boolean, boolean) from public;
grant usage on schema _selvedge to postgres;
grant execute on function _selvedge.create_extension(text, boolean, text, text, boolean) to postgres;
grant execute on function _selvedge.drop_extension(text, boolean, boolean) to postgres;
