-- basejump-supabase_test_helpers: the functions that tests of many projects call to make users, act as them and stop the
-- clock (docs/extensions.md). The script runs as whoever creates the extension, who owns the functions.

create schema if not exists tests;
create schema if not exists test_overrides;
grant usage on schema tests, test_overrides to anon, authenticated, service_role;
-- Projects add functions of their own to these schemas, and call them as the roles of the API.
alter default privileges in schema tests, test_overrides revoke execute on functions from public;
alter default privileges in schema tests, test_overrides
  grant execute on functions to anon, authenticated, service_role;

-- Makes a user that tests call by `identifier`, and returns its id.
create or replace function tests.create_supabase_user(
  identifier text, email text default null, phone text default null, metadata jsonb default null
) returns uuid
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  user_id uuid := gen_random_uuid();
begin
  insert into auth.users (id, email, phone, raw_user_meta_data, raw_app_meta_data, created_at, updated_at)
  values (
    user_id, coalesce(create_supabase_user.email, user_id || '@test.com'), create_supabase_user.phone,
    jsonb_build_object('test_identifier', identifier) || coalesce(metadata, '{}'), '{}', now(), now()
  );
  return user_id;
end
$$;

-- The id, addresses and metadata of a user that `tests.create_supabase_user` made.
create or replace function tests.get_supabase_user(identifier text) returns json
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  found_user json;
begin
  select json_build_object(
    'id', u.id, 'email', u.email, 'phone', u.phone,
    'raw_user_meta_data', u.raw_user_meta_data, 'raw_app_meta_data', u.raw_app_meta_data
  ) into found_user
  from auth.users as u
  where u.raw_user_meta_data ->> 'test_identifier' = identifier
  limit 1;
  if found_user is null then
    raise exception 'User with identifier % not found', identifier;
  end if;
  return found_user;
end
$$;

create or replace function tests.get_supabase_uid(identifier text) returns uuid
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$ select (tests.get_supabase_user(identifier) ->> 'id')::uuid $$;

-- The rest of the transaction runs as the user, with the claims of its token.
create or replace function tests.authenticate_as(identifier text) returns void
  language plpgsql
as $$
declare
  chosen json := tests.get_supabase_user(identifier);
begin
  perform set_config('role', 'authenticated', true);
  perform set_config('request.jwt.claims', json_build_object(
    'sub', chosen -> 'id', 'email', chosen -> 'email', 'phone', chosen -> 'phone',
    'user_metadata', chosen -> 'raw_user_meta_data', 'app_metadata', chosen -> 'raw_app_meta_data'
  )::text, true);
end
$$;

create or replace function tests.authenticate_as_service_role() returns void
  language plpgsql
as $$
begin
  perform set_config('role', 'service_role', true);
  perform set_config('request.jwt.claims', null, true);
end
$$;

create or replace function tests.clear_authentication() returns void
  language plpgsql
as $$
begin
  perform set_config('role', 'anon', true);
  perform set_config('request.jwt.claims', null, true);
end
$$;

-- Assertions of pgTAP: every table of a schema, or one table, has row-level security.
create or replace function tests.rls_enabled(testing_schema text) returns text
  language plpgsql
as $$
begin
  return (select is(
    (
      select count(*)::integer
      from pg_class as c
      join pg_namespace as n on n.oid = c.relnamespace
      where n.nspname = testing_schema and c.relkind in ('r', 'p') and not c.relrowsecurity
    ),
    0,
    'All tables in the ' || testing_schema || ' schema should have row level security enabled'
  ));
end
$$;

create or replace function tests.rls_enabled(testing_schema text, testing_table text) returns text
  language plpgsql
as $$
begin
  return (select is(
    (
      select count(*)::integer
      from pg_class as c
      join pg_namespace as n on n.oid = c.relnamespace
      where n.nspname = testing_schema and c.relname = testing_table and c.relrowsecurity
    ),
    1,
    testing_table || ' table in the ' || testing_schema || ' schema should have row level security enabled'
  ));
end
$$;

-- Found before `pg_catalog.now()` while the time is frozen.
create or replace function test_overrides.now() returns timestamptz
  language plpgsql
as $$
declare
  frozen text := nullif(current_setting('tests.frozen_time', true), '');
begin
  return coalesce(frozen::timestamptz, pg_catalog.now());
end
$$;

create or replace function tests.freeze_time(frozen_time timestamptz) returns void
  language plpgsql
as $$
declare
  path text := current_setting('search_path');
begin
  if path not like 'test\_overrides,%' then
    perform set_config('tests.original_search_path', path, true);
    perform set_config('search_path', 'test_overrides,' || path || ',pg_catalog', true);
  end if;
  perform set_config('tests.frozen_time', frozen_time::text, true);
end
$$;

create or replace function tests.unfreeze_time() returns void
  language plpgsql
as $$
begin
  perform set_config('tests.frozen_time', null, true);
  perform set_config('search_path', current_setting('tests.original_search_path'), true);
end
$$;
