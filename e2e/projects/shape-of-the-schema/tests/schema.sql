begin;
select no_plan();

select tables_are('public', array['customers', 'orders']);
select views_are('public', array['open_orders']);
select materialized_views_are('public', array['order_counts']);
select enums_are('public', array['order_status']);
select enum_has_labels('public', 'order_status', array['open', 'paid', 'sent']);
select has_domain('public', 'email', 'a domain');
select columns_are('public', 'orders', array['id', 'customer_id', 'status', 'created_at']);
select col_is_pk('public', 'orders', 'id', 'the key');
select col_type_is('public', 'orders', 'id', 'uuid', 'a uuid');
select col_type_is('public', 'orders', 'created_at', 'timestamp with time zone', 'with a time zone');
select col_not_null('public', 'orders', 'customer_id', 'every order has a customer');
select col_default_is('public', 'orders', 'status', 'open', 'orders begin open');
select col_is_fk('public', 'orders', 'customer_id', 'of the customers');
select col_is_unique('public', 'customers', 'email', 'one account per address');
select has_index('public', 'orders', 'orders_customer_id_idx', 'customer_id');
select table_owner_is('public', 'orders', 'postgres', 'migrations run as postgres');
select isnt_superuser('postgres');
select has_role('authenticator');
select is_member_of('anon', 'authenticator');

select * from finish();
rollback;
