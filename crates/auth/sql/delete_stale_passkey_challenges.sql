-- Deletes WebAuthn ceremonies of passkeys that were not finished in time.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.webauthn_challenges where id in (
  select id from auth.webauthn_challenges
  where expires_at < now()
  limit 1000
  for update skip locked
)
