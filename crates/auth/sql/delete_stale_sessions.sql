-- Sessions past their end; a day (or three) of grace, so that clients still hear why they may not refresh.
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
