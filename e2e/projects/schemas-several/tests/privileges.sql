begin;
select plan(5);

select is(has_schema_privilege('anon', 'reports', 'usage'), true, 'visitors use the schema of reports');
select is(has_table_privilege('anon', 'api.orders', 'insert'), false, 'visitors do not write orders');
select is(has_table_privilege('authenticated', 'api.later', 'insert'), true, 'users write later tables');
insert into api.orders values (1, 5), (2, 7);
set local role anon;
select is((select total from reports.totals), 12::numeric, 'the report adds');
select throws_ok('insert into api.orders values (3, 1)', '42501', null, 'visitors cannot insert');

select * from finish();
rollback;
