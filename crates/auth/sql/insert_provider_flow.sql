-- Inserts the flow of a sign-in with a provider. Only a PKCE flow gets a code.
-- $1 state, $2 challenge method, $3 challenge, $4 provider, $5 invitation, $6 redirect target, $7 row of
-- oauth_client_states, $8 user who links the identity, $9 whether the address is optional, $10 now, $11 session that links
-- the identity.
with session as (
  insert into _selvedge.selvedge_flow_sessions (flow_state_id, session_id, created_at)
  select $1, $11, $10 where $11::uuid is not null
)
insert into auth.flow_state (
  id, auth_code, code_challenge_method, code_challenge, provider_type, authentication_method, invite_token, referrer,
  oauth_client_state_id, linking_target_id, email_optional, created_at, updated_at
) values (
  $1, case when $3::text is not null then gen_random_uuid()::text end, $2::text::auth.code_challenge_method, $3::text,
  $4::text, 'oauth', nullif($5::text, ''), $6::text, $7, $8, $9, $10, $10
)
