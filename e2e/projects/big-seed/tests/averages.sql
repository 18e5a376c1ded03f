begin;
select plan(2);

select is((select count(*) from measurements), 20000::bigint, 'all rows are there');
select is((select count(*) from averages), 21::bigint, 'the view was refreshed after them');

select * from finish();
rollback;
