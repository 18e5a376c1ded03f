begin;
select plan(6);

insert into room_members values ('room:1', '00000000-0000-4000-8000-00000000000a');
select policies_are('realtime', 'messages', array['members listen', 'members speak']);
select isnt_empty(
  $$ select from pg_publication_tables where pubname = 'supabase_realtime' and tablename = 'room_members' $$
);

set local role authenticated;
set local request.jwt.claims = '{"sub": "00000000-0000-4000-8000-00000000000a"}';
set local realtime.topic = 'room:1';
select is(realtime.topic(), 'room:1');
select lives_ok(
  $$ insert into realtime.messages (topic, extension, payload, event, private)
     values ('room:1', 'broadcast', '{"text": "hello"}', 'said', true) $$, 'members speak'
);
select isnt_empty($$ select from realtime.messages where topic = 'room:1' $$, 'members listen');

set local request.jwt.claims = '{"sub": "00000000-0000-4000-8000-00000000000b"}';
select is_empty($$ select from realtime.messages $$, 'others hear nothing');
reset role;

select * from finish();
rollback;
