begin;
select plan(3);

select is(has_table_privilege('anon', 'public.shown', 'select'), true, 'what is granted is read');
select is(has_table_privilege('anon', 'public.shown', 'insert'), false, 'and not written');
select has_pk('public', 'hidden', 'the other table is there');

select * from finish();
rollback;
