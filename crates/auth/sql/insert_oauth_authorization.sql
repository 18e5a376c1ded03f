insert into auth.oauth_authorizations (
  id, authorization_id, client_id, redirect_uri, scope, state, resource, nonce, code_challenge,
  code_challenge_method, created_at, expires_at
) values (
  gen_random_uuid(), $1::text, $2, $3::text, $4::text, nullif($5::text, ''), nullif($6::text, ''),
  nullif($7::text, ''), $8::text, $9::text::auth.code_challenge_method, $10, $11
)
