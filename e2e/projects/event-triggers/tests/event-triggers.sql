begin;
select plan(6);

select is((select relrowsecurity from pg_class where oid = 'public.messages'::regclass), true, 'tables are secured');
select is((select relrowsecurity from pg_class where oid = 'internal.jobs'::regclass), false, 'but not elsewhere');
create table public.made_by_test (id int);
select is((select relrowsecurity from pg_class where oid = 'public.made_by_test'::regclass), true);
drop table public.made_by_test;
select results_eq('select name from dropped', array['public.made_by_test'], 'drops are logged');
select is((select evtowner::regrole::text from pg_event_trigger where evtname = 'ensure_rls'), 'postgres');
alter event trigger ensure_rls disable;
create table public.unsecured (id int);
select is((select relrowsecurity from pg_class where oid = 'public.unsecured'::regclass), false, 'switched off');

select * from finish();
rollback;
