-- Counts an attempt ($1). Each moves the time from which on all are free by $2 seconds; none is accepted that would move it
-- further than $3 attempts ahead. Returns whether an attempt was right before, and no row for one that is refused.
insert into _selvedge.selvedge_counted_attempts as known (subject_hash, full_at)
values ($1, now() + make_interval(secs => $2::integer))
on conflict (subject_hash) do update
set full_at = greatest(known.full_at, now()) + make_interval(secs => $2::integer)
where greatest(known.full_at, now()) + make_interval(secs => $2::integer)
  <= now() + make_interval(secs => $2::integer * $3::integer)
returning succeeded_at is not null as was_right
