-- Inserts a pending authorization request; optional parameters arrive as empty strings and are stored as null.
-- $1 authorization id, $2 client, $3 redirect URI, $4 scope, $5 state, $6 resource, $7 nonce, $8 challenge, $9
-- challenge method, $10 now, $11 expiry.
insert into auth.oauth_authorizations (
  id, authorization_id, client_id, redirect_uri, scope, state, resource, nonce, code_challenge,
  code_challenge_method, created_at, expires_at
) values (
  gen_random_uuid(), $1::text, $2, $3::text, $4::text, nullif($5::text, ''), nullif($6::text, ''),
  nullif($7::text, ''), $8::text, $9::text::auth.code_challenge_method, $10, $11
)
