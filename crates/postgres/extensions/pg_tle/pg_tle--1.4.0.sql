-- pg_tle: the original keeps extensions in tables and lets `create extension` find them there, which only a library can
-- do. Here extensions are files, so installing one that the server has succeeds, and any other is an error
-- (docs/extensions.md).

create function _is_available(name text) returns boolean
  language sql stable
as $$ select exists (select from pg_catalog.pg_available_extensions as e where e.name = $1) $$;

create function install_extension(name text, version text, description text, ext text, requires text[] default null)
  returns boolean
  language plpgsql
as $$
begin
  if not pgtle._is_available(name) then
    raise exception using
      errcode = 'feature_not_supported',
      message = format('extension "%s" cannot be installed from SQL', name),
      hint = 'Put its SQL into a migration.';
  end if;
  return true;
end
$$;

create function install_update_path(name text, fromvers text, tovers text, ext text) returns boolean
  language sql
as $$ select pgtle.install_extension(name, tovers, '', ext) $$;

create function set_default_version(name text, version text) returns boolean
  language sql
as $$ select pgtle.install_extension(name, version, '', '') $$;

-- The server's extensions cannot be taken away, so there is nothing to do; the answer is that of the original.
create function uninstall_extension(extname text) returns boolean
  language plpgsql
as $$
begin
  if not pgtle._is_available(extname) then
    raise exception using errcode = 'undefined_object', message = format('Extension %s does not exist', extname);
  end if;
  return true;
end
$$;

create function uninstall_extension(extname text, version text) returns boolean
  language sql
as $$ select pgtle.uninstall_extension(extname) $$;

create function uninstall_extension_if_exists(extname text) returns boolean
  language sql
as $$ select pgtle._is_available(extname) $$;

create function available_extensions(out name name, out default_version text, out comment text) returns setof record
  language sql stable
as $$
  select e.name, e.default_version, e.comment from pg_catalog.pg_available_extensions as e
  where e.name like '%-%' and e.name <> 'uuid-ossp'
$$;
