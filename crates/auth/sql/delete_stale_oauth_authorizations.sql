-- Deletes authorizations of OAuth clients one day after they expired, whether approved or not: neither the consent page nor
-- the code can be used any more. Until then a late request is answered with the reason instead of "not found".
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.oauth_authorizations where id in (
  select id from auth.oauth_authorizations
  where expires_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
