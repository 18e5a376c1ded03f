begin;
select plan(3);

set local role authenticated;
delete from items where id = 2;
select results_eq('select id from items', array[1], 'the row is gone from the view');
reset role;
select isnt((select deleted_at from all_items where id = 2), null, 'and is marked in the table');
delete from all_items;
select is((select count(*) from all_items), 2::bigint, 'the rule keeps rows');

select * from finish();
rollback;
