-- Inserts a PKCE flow by e-mail, with its code. $1 user, $2 challenge method, $3 challenge, $4 method of the flow, $5
-- now.
-- The provider of a sign-up is stored as `email`; for all other flows it equals the method.
insert into auth.flow_state (
  id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, authentication_method,
  created_at, updated_at
) values (
  gen_random_uuid(), $1, gen_random_uuid()::text, $2::text::auth.code_challenge_method, $3::text,
  case $4::text when 'email/signup' then 'email' else $4::text end, $4::text, $5, $5
)
