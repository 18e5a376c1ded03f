-- Inserts the flow of a sign-in by SAML and the relay state that the identity provider sends back. Only a PKCE flow gets a
-- code. $1 flow, $2 challenge method, $3 challenge, $4 redirect target, $5 relay state, $6 provider, $7 id of the request,
-- $8 the current time.
with flow as (
  insert into auth.flow_state (
    id, auth_code, code_challenge_method, code_challenge, provider_type, authentication_method, referrer,
    created_at, updated_at
  ) values (
    $1, case when $3::text is not null then gen_random_uuid()::text end, $2::text::auth.code_challenge_method, $3::text,
    'sso/saml', 'sso/saml', nullif($4::text, ''), $8, $8
  )
)
insert into auth.saml_relay_states (id, sso_provider_id, request_id, redirect_to, flow_state_id, created_at, updated_at)
values ($5, $6, $7::text, $4::text, $1, $8, $8)
