-- Inserts a custom provider, or updates the one with its id; identifier, type and time of creation do not change. The
-- parameters have the order of the columns, except that $24 is also the time of the discovery document ($18).
insert into auth.custom_oauth_providers (
  id, provider_type, identifier, name, client_id, client_secret, acceptable_client_ids, scopes, pkce_enabled,
  attribute_mapping, custom_claims_allowlist, authorization_params, enabled, email_optional, issuer, discovery_url,
  skip_nonce_check, cached_discovery, discovery_cached_at, authorization_url, token_url, userinfo_url, jwks_uri,
  created_at, updated_at
) values (
  $1, $2::text, $3::text, $4::text, $5::text, $6::text, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
  case when $18::jsonb is not null then $24::timestamptz end, $19, $20, $21, $22, $23, $24
)
on conflict (id) do update
set name = excluded.name, client_id = excluded.client_id, client_secret = excluded.client_secret,
    acceptable_client_ids = excluded.acceptable_client_ids, scopes = excluded.scopes,
    pkce_enabled = excluded.pkce_enabled, attribute_mapping = excluded.attribute_mapping,
    custom_claims_allowlist = excluded.custom_claims_allowlist,
    authorization_params = excluded.authorization_params, enabled = excluded.enabled,
    email_optional = excluded.email_optional, issuer = excluded.issuer, discovery_url = excluded.discovery_url,
    skip_nonce_check = excluded.skip_nonce_check, cached_discovery = excluded.cached_discovery,
    discovery_cached_at = excluded.discovery_cached_at, authorization_url = excluded.authorization_url,
    token_url = excluded.token_url, userinfo_url = excluded.userinfo_url, jwks_uri = excluded.jwks_uri,
    updated_at = excluded.updated_at
