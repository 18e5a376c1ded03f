-- Reads the flow of a sign-in with a provider by its state ($1); the caller may append `for update`.
select
  id, provider_type, code_challenge is not null as is_pkce, coalesce(auth_code, '') as auth_code, user_id,
  coalesce(created_at, 'epoch') as created_at, coalesce(invite_token, '') as invite_token,
  coalesce(referrer, '') as referrer, oauth_client_state_id, linking_target_id, email_optional,
  (select s.session_id from _selvedge.selvedge_flow_sessions s where s.flow_state_id = f.id) as session_id
from auth.flow_state f where id = $1 and authentication_method = 'oauth'
