begin;
select plan(3);

select has_table('public', 'User', 'names keep their case');
select throws_ok($$ insert into "Post" ("authorId") values ('nobody') $$, '23503', null, 'the key was added');
select col_default_is('public', 'User', 'role', 'USER', 'the default is the first role');

select * from finish();
rollback;
