begin;
select plan(3);

insert into events (at, kind) values ('2026-01-15', 'seen'), ('2030-01-01', 'secret');
select is((select count(*) from events_2026_01), 1::bigint, 'rows go to their month');
select is((select count(*) from events_default), 1::bigint, 'others to the default');
set local role authenticated;
select results_eq('select kind from events', array['seen'], 'the policy of the parent counts');

select * from finish();
rollback;
