begin;
select plan(2);

select has_foreign_table('elsewhere', 'rows', 'the table is there');
select throws_ok('select * from elsewhere.rows', '08001', null, 'its server is not');

select * from finish();
rollback;
