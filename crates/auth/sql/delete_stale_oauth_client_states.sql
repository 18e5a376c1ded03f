-- Deletes the PKCE verifiers of sign-ins with providers that were not finished; they are valid for minutes only.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.oauth_client_states where id in (
  select id from auth.oauth_client_states
  where created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
