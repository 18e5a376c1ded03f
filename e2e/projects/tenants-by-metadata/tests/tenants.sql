begin;
select plan(4);

set local role authenticated;
set local "request.jwt.claims" to '{"role": "authenticated", "app_metadata": {"tenant_id": "00000000-0000-4000-8000-000000000001"}}';
select lives_ok('insert into invoices (id, total) values (1, 10)', 'a tenant writes');
select throws_ok('insert into invoices (id, total) values (2, 5000)', '42501', null, 'within its limit');
set local "request.jwt.claims" to '{"role": "authenticated", "app_metadata": {"tenant_id": "00000000-0000-4000-8000-000000000002"}}';
select is_empty('select * from invoices', 'another tenant sees nothing');
set local "request.jwt.claims" to '{"role": "authenticated"}';
select is_empty('select * from invoices', 'and who has none sees nothing');

select * from finish();
rollback;
