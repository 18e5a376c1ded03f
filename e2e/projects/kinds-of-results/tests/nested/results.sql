begin;
select plan(12);

prepare averages as select sensor, average from averages order by sensor;
select results_eq('averages', $$ values ('a', 2::numeric), ('b', 10::numeric) $$);
select set_eq('select sensor from readings', array['b', 'a']);
select bag_eq('select sensor from readings', array['a', 'b', 'a']);
select set_has('select sensor from readings', $$ values ('a') $$);
select set_hasnt('select sensor from readings', $$ values ('c') $$);
select results_ne('select 1', 'select 2');
select row_eq('select 1, ''a''::text', row(1, 'a'::text));
select cmp_ok((select max(value) from readings), '>', 9::numeric);
select matches((select at::text from readings where sensor = 'b'), '^2026-01-01');
select is((select tags from readings where value = 1), array['x', 'y']);
select is((select data ->> 'ok' from readings where sensor = 'b'), 'false');
select todo('rounding is not decided', 1);
select is((select round(2.5)), 2::numeric, 'half to even');

select * from finish();
rollback;
