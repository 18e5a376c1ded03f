begin;
select plan(3);

select is((select public from storage.buckets where id = 'made-by-sql'), true, 'a migration makes a bucket');
insert into storage.buckets (id, name) values ('papers', 'papers') on conflict do nothing;
set local role authenticated;
set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated"}';
select lives_ok($$ insert into storage.objects (bucket_id, name)
  values ('papers', '00000000-0000-4000-8000-00000000000a/a.txt') $$, 'users write to their folder');
select throws_ok($$ insert into storage.objects (bucket_id, name) values ('papers', 'other/a.txt') $$, '42501', null,
  'and to no other');

select * from finish();
rollback;
