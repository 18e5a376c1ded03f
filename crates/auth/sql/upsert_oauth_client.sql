-- Inserts an OAuth client, or updates the one with its id; its type, registration type and time of creation do not
-- change. Optional columns arrive as empty strings and are stored as null.
insert into auth.oauth_clients (
  id, client_secret_hash, registration_type, redirect_uris, grant_types, client_name, client_uri, logo_uri,
  client_type, token_endpoint_auth_method, created_at, updated_at
) values (
  $1, nullif($2::text, ''), $3::text::auth.oauth_registration_type, $4::text, $5::text, nullif($6::text, ''),
  nullif($7::text, ''), nullif($8::text, ''), $9::text::auth.oauth_client_type, $10::text, $11, $12
)
on conflict (id) do update
set client_secret_hash = excluded.client_secret_hash, redirect_uris = excluded.redirect_uris,
    grant_types = excluded.grant_types, client_name = excluded.client_name, client_uri = excluded.client_uri,
    logo_uri = excluded.logo_uri, token_endpoint_auth_method = excluded.token_endpoint_auth_method,
    updated_at = excluded.updated_at
