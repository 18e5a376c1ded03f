-- Forgets attempts that count no longer, and after 90 days that somebody has been right from a network. Anybody can write two rows for each
-- address that they name, so more are deleted at once than of other kinds.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_counted_attempts where subject_hash in (
  select known.subject_hash from _selvedge.selvedge_counted_attempts known
  where known.full_at < now() and (known.succeeded_at is null or known.succeeded_at < now() - interval '90 days')
  limit 20000
  for update skip locked
)
