begin;
select plan(3);

insert into members (mail) values ('Ana@Example.com');
select throws_ok($$ insert into members (mail) values ('ana@example.com') $$, '23505', null, 'mail ignores case');
select is((select secret = extensions.crypt('x', secret) from members), true, 'passwords are checked by their hash');
select isnt((select id from members), null, 'the id is made by the extension');

select * from finish();
rollback;
