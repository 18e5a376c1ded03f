begin;
select plan(4);

insert into auth.users (id, email) values ('00000000-0000-4000-8000-00000000000a', 'ana@example.com');
insert into user_roles values ('00000000-0000-4000-8000-00000000000a', 'editor');
select is(public.add_role_to_token('{"user_id": "00000000-0000-4000-8000-00000000000a", "claims": {}}') #>> '{claims,user_role}',
  'editor', 'the token has the role');
select is(public.add_role_to_token('{"user_id": "00000000-0000-4000-8000-00000000000b", "claims": {}}') #>> '{claims,user_role}',
  'visitor', 'others are visitors');
select is(has_function_privilege('supabase_auth_admin', 'public.add_role_to_token(jsonb)', 'execute'), true, 'Auth calls it');
set local role authenticated;
select throws_ok($$ select public.add_role_to_token('{}') $$, '42501', null, 'users cannot call it');

select * from finish();
rollback;
