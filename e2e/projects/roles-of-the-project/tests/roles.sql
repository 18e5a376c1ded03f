begin;
select plan(3);

select is(pg_has_role('authenticator', 'editor', 'member'), true, 'requests may be those of editors');
set local role editor;
select lives_ok($$ insert into articles values (1, 'text') $$, 'editors write');
set local role anon;
select is_empty('select * from articles', 'visitors read nothing');

select * from finish();
rollback;
