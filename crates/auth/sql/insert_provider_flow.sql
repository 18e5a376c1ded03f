insert into auth.flow_state (
  id, auth_code, code_challenge_method, code_challenge, provider_type, authentication_method, invite_token, referrer,
  oauth_client_state_id, linking_target_id, email_optional, created_at, updated_at
) values (
  $1, case when $3::text is not null then gen_random_uuid()::text end, $2::text::auth.code_challenge_method, $3::text,
  $4::text, 'oauth', nullif($5::text, ''), $6::text, $7, $8, $9, $10, $10
)
