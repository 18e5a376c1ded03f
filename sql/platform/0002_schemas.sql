-- Schemas, extensions, grants and default privileges (gateway.md §9.2, §9.3, §10).

do $$
begin
  -- Owning the database makes `postgres` the owner of schema public (through pg_database_owner) and lets it create
  -- schemas, publications and trusted extensions.
  execute pg_catalog.format('alter database %I owner to postgres', pg_catalog.current_database());
  execute pg_catalog.format('grant all on database %I to dashboard_user', pg_catalog.current_database());
end
$$;

create schema if not exists extensions authorization postgres;
create schema if not exists auth authorization supabase_auth_admin;
create schema if not exists storage authorization supabase_storage_admin;
create schema if not exists realtime;
create schema if not exists _realtime;
create schema if not exists graphql;
create schema if not exists graphql_public;
create schema if not exists vault;
create schema if not exists supabase_functions authorization supabase_functions_admin;
create schema if not exists pgbouncer authorization pgbouncer;

create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_stat_statements with schema extensions;

-- Which roles may use which schema.
grant usage on schema public, extensions to postgres, anon, authenticated, service_role;
grant usage on schema auth to postgres, anon, authenticated, service_role;
grant usage on schema graphql_public, graphql to postgres, anon, authenticated, service_role;
grant usage on schema supabase_functions to postgres, anon, authenticated, service_role;
grant usage on schema storage to anon, authenticated, service_role;
grant usage on schema storage to postgres with grant option;
grant usage on schema realtime to anon, authenticated, service_role;
grant usage on schema realtime to postgres with grant option;
grant all on schema realtime to supabase_realtime_admin;
grant all on schema auth, extensions, storage to dashboard_user;
grant all on all routines in schema extensions to dashboard_user, postgres;

-- Everything that postgres or supabase_admin creates in public is accessible to the API roles; only row-level security
-- restricts it, as at Supabase. `auto_expose_new_tables = false` takes this back.
alter default privileges for role postgres in schema public
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema public
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema public
  grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema public
  grant all on sequences to postgres, anon, authenticated, service_role;

-- What the services create later in their own schemas stays readable for its administrator.
alter default privileges for role supabase_auth_admin in schema auth
  grant all on tables to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth
  grant all on functions to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth
  grant all on sequences to postgres, dashboard_user;
alter default privileges for role supabase_storage_admin in schema storage
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_storage_admin in schema storage
  grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_storage_admin in schema storage
  grant all on sequences to postgres, anon, authenticated, service_role;

-- Empty until a project adds tables: `alter publication supabase_realtime add table …`.
do $$
begin
  if not exists (select from pg_catalog.pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
    alter publication supabase_realtime owner to postgres;
  end if;
end
$$;
