begin;
select plan(7);

insert into teams (id, name) values
  ('10000000-0000-4000-8000-000000000001', 'red'), ('10000000-0000-4000-8000-000000000002', 'blue');
insert into members values
  ('10000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-00000000000a', 'owner'),
  ('10000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-00000000000b', 'owner');

set local role authenticated;
set local request.jwt.claims = '{"sub": "00000000-0000-4000-8000-00000000000a"}';
select results_eq('select name from teams', array['red']);
select results_eq('select role from members', array['owner']);
select throws_ok(
  $$ insert into members values ('10000000-0000-4000-8000-000000000002', auth.uid(), 'member') $$, '42501', null,
  'nobody adds themselves to a team'
);

reset role;
select has_role('team_auditor');
select is((select rolbypassrls from pg_roles where rolname = 'team_auditor'), true, 'auditors bypass row-level security');
grant team_auditor to postgres;
set local role team_auditor;
select is((select count(*)::int from teams), 2, 'auditors see every team');
select throws_ok($$ delete from teams $$, '42501', 'permission denied for table teams');
reset role;

select * from finish();
rollback;
