begin;
select plan(3);

select is((select count(*) from pg_publication_tables where pubname = 'supabase_realtime' and tablename = 'messages'), 1::bigint);
select lives_ok($$ insert into messages values (1, 'hall', 'hello') $$, 'a row is announced');
select is((select topic from realtime.messages order by inserted_at desc limit 1), 'room:hall', 'to its room');

select * from finish();
rollback;
