begin;
select plan(4);

set local role authenticated;
set local "request.jwt.claims" to '{"sub": "00000000-0000-4000-8000-00000000000a", "role": "authenticated"}';
select lives_ok('insert into prices values (1, 10)', 'a user sets a price');
select throws_ok('select * from audit.log', '42501', null, 'users do not read the log');
reset role;
update prices set amount = 12;
select is((select count(*) from audit.log), 2::bigint, 'each change is recorded');
select is((select who from audit.log where operation = 'INSERT'), '00000000-0000-4000-8000-00000000000a', 'with its user');

select * from finish();
rollback;
