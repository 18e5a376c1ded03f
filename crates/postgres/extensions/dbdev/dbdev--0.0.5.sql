-- supabase-dbdev: installs packages of database.dev. The server brings some along, and nothing is fetched: installing one of
-- those succeeds, and any other is an error (docs/extensions.md).

create schema if not exists dbdev;

create function dbdev.install(
  package_name text, base_url text default 'https://api.database.dev/rest/v1/', api_key text default null
) returns boolean
  language plpgsql
as $$
begin
  if not exists (select from pg_catalog.pg_available_extensions as e where e.name = package_name) then
    raise exception using
      errcode = 'feature_not_supported',
      message = format('package "%s" is not among those that this server brings along', package_name),
      hint = 'Put its SQL, which https://database.dev shows, into a migration.';
  end if;
  return true;
end
$$;
