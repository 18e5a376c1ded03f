-- Committed before the other files run, as helper packages are.
create schema if not exists tests;
grant usage on schema tests to anon, authenticated, service_role;
alter default privileges in schema tests grant execute on functions to anon, authenticated, service_role;

create or replace function tests.create_user(identifier text, metadata jsonb default '{}') returns uuid
  language sql security definer set search_path = auth, pg_temp as $$
  insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data, aud, role)
  values (
    gen_random_uuid(), identifier || '@example.com', jsonb_build_object('test_identifier', identifier), metadata,
    'authenticated', 'authenticated'
  )
  returning id
$$;

create or replace function tests.get_user_id(identifier text) returns uuid
  language sql security definer set search_path = auth, pg_temp as $$
  select id from auth.users where raw_user_meta_data ->> 'test_identifier' = identifier
$$;

create or replace function tests.authenticate_as(identifier text) returns void
  language plpgsql as $$
declare
  found auth.users;
begin
  select * into strict found from auth.users where id = tests.get_user_id(identifier);
  perform set_config('request.jwt.claims', jsonb_build_object(
    'sub', found.id, 'email', found.email, 'role', 'authenticated', 'app_metadata', found.raw_app_meta_data
  )::text, true);
  perform set_config('role', 'authenticated', true);
end
$$;

create or replace function tests.clear_authentication() returns void
  language plpgsql as $$
begin
  perform set_config('request.jwt.claims', null, true);
  perform set_config('role', 'anon', true);
end
$$;

begin;
select plan(1);
select has_function('tests', 'authenticate_as', array['text']);
select * from finish();
rollback;
