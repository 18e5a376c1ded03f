insert into auth.flow_state (
  id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, authentication_method,
  created_at, updated_at
) values (
  gen_random_uuid(), $1, gen_random_uuid()::text, $2::text::auth.code_challenge_method, $3::text,
  case $4::text when 'email/signup' then 'email' else $4::text end, $4::text, $5, $5
)
