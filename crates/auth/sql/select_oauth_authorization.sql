-- Reads authorization requests; the caller appends the condition. Parameters that the client did not send are empty
-- strings.
select
  id, authorization_id, client_id, user_id, redirect_uri, scope, coalesce(state, '') as state,
  coalesce(resource, '') as resource, coalesce(nonce, '') as nonce, code_challenge,
  code_challenge_method::text as code_challenge_method, status::text as status, expires_at
from auth.oauth_authorizations
