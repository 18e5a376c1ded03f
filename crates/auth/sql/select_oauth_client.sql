-- Reads OAuth clients; the caller appends the condition.
select
  id, coalesce(client_secret_hash, '') as client_secret_hash, registration_type::text as registration_type,
  redirect_uris, grant_types, coalesce(client_name, '') as client_name, coalesce(client_uri, '') as client_uri,
  coalesce(logo_uri, '') as logo_uri, client_type::text as client_type, token_endpoint_auth_method,
  created_at, updated_at
from auth.oauth_clients
