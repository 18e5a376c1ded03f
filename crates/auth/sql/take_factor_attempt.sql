-- Counts an attempt for a second factor ($1). Each moves the time from which on all are free by $2 seconds; none is accepted
-- that would move it further than $3 attempts ahead. Returns no row then.
insert into _selvedge.factor_attempts as known (factor_id, full_at)
values ($1, now() + make_interval(secs => $2::integer))
on conflict (factor_id) do update
set full_at = greatest(known.full_at, now()) + make_interval(secs => $2::integer)
where greatest(known.full_at, now()) + make_interval(secs => $2::integer)
  <= now() + make_interval(secs => $2::integer * $3::integer)
returning factor_id
