delete from auth.webauthn_challenges where id in (
  select id from auth.webauthn_challenges
  where expires_at < now()
  limit 1000
  for update skip locked
)
