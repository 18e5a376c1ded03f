begin;
select plan(9);

select has_trigger('auth', 'users', 'on_auth_user_created', 'sign-ups make profiles');
select trigger_is('auth', 'users', 'on_auth_user_created', 'public', 'handle_new_user');
select fk_ok('public', 'profiles', 'id', 'auth', 'users', 'id');
select is_definer('public', 'handle_new_user', '{}'::name[]);
select function_privs_are('public', 'handle_new_user', '{}'::text[], 'anon', '{}'::text[]);

insert into auth.users (id, email, raw_user_meta_data)
values ('00000000-0000-4000-8000-00000000000a', 'ana@example.com', '{"username": "ana"}');
select results_eq('select username from profiles', array['ana'], 'the profile has the name');
select throws_ok(
  $$ insert into auth.users (id, email, raw_user_meta_data)
     values (gen_random_uuid(), 'other@example.com', '{"username": "ana"}') $$,
  '23505', 'duplicate key value violates unique constraint "profiles_username_key"', 'names are unique'
);
select throws_ok(
  $$ insert into auth.users (id, email) values (gen_random_uuid(), 'ana@example.com') $$, '23505', null,
  'addresses are unique'
);
delete from auth.users where email = 'ana@example.com';
select is_empty('select * from profiles', 'the profile goes with the user');

select * from finish();
rollback;
