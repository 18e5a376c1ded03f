-- Deletes sessions three days after `not_after`, or one day after a time limit has ended them. $1 timebox, $2
-- inactivity limit, both in seconds, null for no limit.
-- Until then a refresh is answered with the reason instead of "not found". `refreshed_at` is a timestamp without time
-- zone, in UTC.
delete from auth.sessions where id in (
  select id from auth.sessions
  where not_after < now() - interval '72 hours'
    or ($1::float8 is not null and created_at < now() - interval '24 hours' - make_interval(secs => $1::float8))
    or ($2::float8 is not null
      and coalesce(refreshed_at at time zone 'utc', created_at)
        < now() - interval '24 hours' - make_interval(secs => $2::float8))
  limit 1000
  for update skip locked
)
