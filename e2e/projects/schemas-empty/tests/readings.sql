begin;
select plan(2);

select has_table('public', 'readings', 'the table is there');
set local role anon;
select results_eq('select value from public.readings', array[20.5], 'visitors read it');

select * from finish();
rollback;
