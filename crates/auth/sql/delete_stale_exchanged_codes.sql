-- Deletes codes that would have expired: nobody can use one any more.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_exchanged_oauth_codes where code_hash in (
  select code_hash from _selvedge.selvedge_exchanged_oauth_codes
  where expires_at < now()
  limit 1000
  for update skip locked
)
