-- The script of earthdistance names types and functions of the extension cube, and makes values of that type while it is read. In PostgreSQL 15
-- they are looked up in the schema of earthdistance first: where a project had a type `cube` there, and cube in another schema, the checks of
-- the project's type ran as a superuser. Scripts of transforms name the types of other extensions in the same way. All of them are asked now.
create or replace function _selvedge.is_known_script(extension_name text) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select extension_name = any (array[
      'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
      'file_fdw', 'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
      'old_snapshot', 'pageinspect', 'pg_buffercache', 'pg_freespacemap', 'pg_logicalinspect', 'pg_overexplain', 'pg_prewarm',
      'pg_stat_statements', 'pg_surgery', 'pg_trgm', 'pg_visibility', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
      'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'xml2',
      'jsonb_plperl', 'jsonb_plperlu', 'jsonb_plpython3u', 'bool_plperl', 'bool_plperlu', 'plperl', 'plperlu', 'plpython3u', 'pltcl', 'pltclu'
    ]::text[])
    or exists (
      select from _selvedge.shipped_extensions as s
      where s.name = extension_name and (_selvedge.needs_script(s.name) or _selvedge.is_only_script(s.name, s.script))
    )
$$;
