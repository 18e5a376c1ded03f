-- Deletes second factors that were never verified.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.mfa_factors where id in (
  select id from auth.mfa_factors
  where status = 'unverified' and created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
