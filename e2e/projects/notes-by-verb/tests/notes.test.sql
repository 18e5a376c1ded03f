begin;
select plan(13);

insert into auth.users (id, email) values
  ('00000000-0000-4000-8000-00000000000a', 'ana@example.com'),
  ('00000000-0000-4000-8000-00000000000b', 'ben@example.com');

select policies_are('public', 'notes', array['read own and public', 'add own', 'change own', 'remove own']);
select policy_roles_are('public', 'notes', 'add own', array['authenticated'], 'for users');

set local role authenticated;
set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated"}';
select lives_ok($$ insert into notes (body) values ('mine') $$, 'ana writes a note');
select lives_ok($$ insert into notes (body, is_public) values ('for all', true) $$, 'ana writes a public note');
select throws_ok(
  $$ insert into notes (owner, body) values ('00000000-0000-4000-8000-00000000000b', 'forged') $$,
  '42501', 'new row violates row-level security policy for table "notes"', 'ana cannot write for ben'
);
select throws_ok($$ insert into notes (body) values ('') $$, '23514', null, 'a note is not empty');

set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000b", "role": "authenticated"}';
select results_eq('select body from notes', array['for all'], 'ben sees the public note only');
select is_empty($$ update notes set body = 'stolen' returning id $$, 'ben changes nothing');
select is_empty($$ delete from notes returning id $$, 'ben removes nothing');

set local role anon;
set local "request.jwt.claims" to '{"role": "anon"}';
select results_eq('select count(*)::int from notes', array[1], 'visitors see the public note');
select throws_ok($$ insert into notes (body) values ('x') $$, '42501', null, 'visitors write nothing');

reset role;
select is((select count(*) from notes), 2::bigint, 'the administrator sees all');
delete from auth.users;
select is_empty('select from notes', 'notes go with their owner');

select * from finish();
rollback;
