begin;
-- The assertions are called as anon below, although this project revokes EXECUTE on new functions from everybody.
create extension if not exists pgtap with schema extensions;
select plan(11);

select table_privs_are('public', 'secrets', 'anon', array[]::text[]);
select table_privs_are('public', 'secrets', 'authenticated', array[]::text[]);
select table_privs_are('public', 'posts', 'anon', array['SELECT']);
select table_privs_are(
  'public', 'secrets', 'service_role',
  case when current_setting('server_version_num')::int >= 170000
    then array['DELETE', 'INSERT', 'MAINTAIN', 'REFERENCES', 'SELECT', 'TRIGGER', 'TRUNCATE', 'UPDATE']
    else array['DELETE', 'INSERT', 'REFERENCES', 'SELECT', 'TRIGGER', 'TRUNCATE', 'UPDATE'] end
);
select function_privs_are('public', 'count_posts', array[]::text[], 'anon', array[]::text[]);
select function_privs_are('public', 'count_posts', array[]::text[], 'authenticated', array['EXECUTE']);
select schema_privs_are('public', 'anon', array['USAGE']);

set local role anon;
select throws_ok('select * from secrets', '42501', 'permission denied for table secrets');
select throws_ok('select count_posts()', '42501', 'permission denied for function count_posts');
select is_empty('select * from posts');
set local role authenticated;
select is(count_posts(), 0::bigint);

select * from finish();
rollback;
