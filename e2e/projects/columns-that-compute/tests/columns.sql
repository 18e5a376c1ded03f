begin;
select plan(4);

select results_eq('select total from lines order by id', array[10.00, 9.00]::amount[], 'totals are computed');
select is((select min(id) from lines), 100::bigint, 'ids begin where they should');
select is((select label(l) from lines l where id = 100), '4 pieces', 'a row has a label');
select throws_ok('insert into lines (price) values (-1)', '23514', null, 'amounts are not negative');

select * from finish();
rollback;
