begin;
select plan(6);

select has_trigger('public', 'orders', 'notify_orders', 'orders are announced');
select has_table('supabase_functions', 'hooks', 'there is a trail');
select is((select count(*)::int from supabase_functions.hooks), 1, 'the seed filled it');
select is(nextval('supabase_functions.hooks_id_seq'), 2::bigint, 'and set its sequence');
select is(pg_has_role('postgres', 'supabase_functions_admin', 'member'), true);
select lives_ok($$ insert into orders (total) values (30) $$, 'an order is taken although nobody listens');

select * from finish();
rollback;
