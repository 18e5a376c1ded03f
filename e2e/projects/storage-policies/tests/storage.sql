begin;
select plan(11);

select has_table('storage', 'objects', 'objects exist');
select has_column('storage', 'objects', 'owner_id', 'objects have an owner');
select results_eq(
  $$ select id, public from storage.buckets order by id $$, $$ values ('avatars', true), ('invoices', false) $$
);
select policy_cmd_is('storage', 'objects', 'own avatar', 'insert', 'for uploads');

insert into storage.objects (bucket_id, name, owner_id) values
  ('invoices', 'a/1.pdf', '00000000-0000-4000-8000-00000000000a'),
  ('invoices', 'b/1.pdf', '00000000-0000-4000-8000-00000000000b');

set local role authenticated;
select set_config('request.jwt.claims', '{"sub": "00000000-0000-4000-8000-00000000000a"}', true);
select results_eq($$ select name from storage.objects $$, array['a/1.pdf'], 'own invoices only');
select lives_ok(
  $$ insert into storage.objects (bucket_id, name) values ('avatars', '00000000-0000-4000-8000-00000000000a/me.png') $$,
  'an avatar in the own folder'
);
select throws_ok(
  $$ insert into storage.objects (bucket_id, name) values ('avatars', '00000000-0000-4000-8000-00000000000b/me.png') $$,
  '42501', 'new row violates row-level security policy for table "objects"'
);

set local role anon;
select set_config('request.jwt.claims', '{"role": "anon"}', true);
select is((select count(*)::int from storage.objects), 1, 'visitors see the avatar');
select throws_ok($$ truncate storage.objects $$, '42501');

reset role;
select is(storage.filename('a/b/c.png'), 'c.png');
select is(storage.extension('a/b/c.png'), 'png');

select * from finish();
rollback;
