begin;
select plan(2);

insert into bookings (room, during) values (1, '[2026-01-01 10:00+00, 2026-01-01 11:00+00)');
select throws_ok($$ insert into bookings (room, during) values (1, '[2026-01-01 10:30+00, 2026-01-01 12:00+00)') $$,
  '23P01', null, 'a room is booked once at a time');
select lives_ok($$ insert into bookings (room, during) values (1, '[2026-01-01 11:00+00, 2026-01-01 12:00+00)') $$,
  'the next hour is free');

select * from finish();
rollback;
