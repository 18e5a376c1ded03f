begin;
select plan(3);

select enum_has_labels('public', 'state', array['new', 'paid', 'sent']);
select has_index('public', 'orders', 'orders_by_state', 'the index is there');
select col_type_is('public', 'orders', 'remark', 'text', 'the column has its new type');

select * from finish();
rollback;
