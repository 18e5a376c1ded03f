delete from auth.mfa_challenges where id in (
  select id from auth.mfa_challenges
  where created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
