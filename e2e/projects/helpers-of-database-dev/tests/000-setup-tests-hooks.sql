-- The setup that Supabase's documentation gives: dbdev over http and pg_tle, then the test helpers by dbdev.
create extension if not exists pgtap with schema extensions;
create extension if not exists http with schema extensions;
create extension if not exists pg_tle;
drop extension if exists "supabase-dbdev";
select pgtle.uninstall_extension_if_exists('supabase-dbdev');
select pgtle.install_extension(
  'supabase-dbdev',
  package.contents ->> 'version',
  'PostgreSQL package manager',
  package.contents ->> 'sql'
)
from extensions.http(
  (
    'GET',
    'https://api.database.dev/rest/v1/package_versions?select=sql,version'
    || '&package_name=eq.supabase-dbdev&order=version.desc&limit=1',
    array[('apiKey', 'a-public-key')::extensions.http_header],
    null,
    null
  )
) as response,
lateral (select ((row_to_json(response) -> 'content') #>> '{}')::json -> 0) as package (contents);
create extension "supabase-dbdev";
select dbdev.install('supabase-dbdev');
drop extension if exists "supabase-dbdev";
create extension "supabase-dbdev";
select dbdev.install('basejump-supabase_test_helpers');
create extension if not exists "basejump-supabase_test_helpers" version '0.0.6';

begin;
select plan(2);
select has_function('tests', 'create_supabase_user', array['text', 'text', 'text', 'jsonb']);
select function_returns('tests', 'get_supabase_uid', array['text'], 'uuid');
select * from finish();
rollback;
