-- Deletes unfinished PKCE flows and sign-ins with providers; their codes are valid for minutes only.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.flow_state where id in (
  select id from auth.flow_state
  where created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
