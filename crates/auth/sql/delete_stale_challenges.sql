-- Deletes challenges of second factors; they are valid for minutes only.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.mfa_challenges where id in (
  select id from auth.mfa_challenges
  where created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
