begin;
select plan(6);

set local role authenticated;
select is(enqueue_mail('ana@example.com'), 1::bigint, 'users enqueue by the function');
select throws_ok($$ select pgmq.send('mails', '{}') $$, '42501');
reset role;
select is((select message ->> 'to' from pgmq.read('mails', 30, 1)), 'ana@example.com');
select is(pgmq.archive('mails', 1), true);
select results_eq(
  'select jobname, schedule, username from cron.job', $$ values ('clean-up', '0 3 * * *', 'postgres') $$
);
select is(cron.unschedule('clean-up'), true);

select * from finish();
rollback;
