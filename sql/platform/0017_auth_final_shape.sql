-- Parts of Supabase's own auth migrations that the earlier files lack: limits of custom providers, an index, comments,
-- and the register of those migrations, so that another auth server has none to apply to this database.

-- Dumps of other projects may contain rows of this register, so existing rows are kept.
create function _selvedge.skip_known_version() returns trigger
  language plpgsql
  as $$
begin
  if exists (select from auth.schema_migrations where version = new.version) then
    return null;
  end if;
  return new;
end
$$;
revoke execute on function _selvedge.skip_known_version() from public;
create trigger skip_known_version before insert on auth.schema_migrations
  for each row execute function _selvedge.skip_known_version();

set local role supabase_auth_admin;

alter table auth.schema_migrations enable row level security;

insert into auth.schema_migrations (version) values
  ('00'), ('20171026211738'), ('20171026211808'), ('20171026211834'), ('20180103212743'), ('20180108183307'),
  ('20180119214651'), ('20180125194653'), ('20210710035447'), ('20210722035447'), ('20210730183235'),
  ('20210909172000'), ('20210927181326'), ('20211122151130'), ('20211124214934'), ('20211202183645'),
  ('20220114185221'), ('20220114185340'), ('20220224000811'), ('20220323170000'), ('20220429102000'),
  ('20220531120530'), ('20220614074223'), ('20220811173540'), ('20221003041349'), ('20221003041400'),
  ('20221011041400'), ('20221020193600'), ('20221021073300'), ('20221021082433'), ('20221027105023'),
  ('20221114143122'), ('20221114143410'), ('20221125140132'), ('20221208132122'), ('20221215195500'),
  ('20221215195800'), ('20221215195900'), ('20230116124310'), ('20230116124412'), ('20230131181311'),
  ('20230322519590'), ('20230402418590'), ('20230411005111'), ('20230508135423'), ('20230523124323'),
  ('20230818113222'), ('20230914180801'), ('20231027141322'), ('20231114161723'), ('20231117164230'),
  ('20240115144230'), ('20240214120130'), ('20240306115329'), ('20240314092811'), ('20240427152123'),
  ('20240612123726'), ('20240729123726'), ('20240802193726'), ('20240806073726'), ('20241009103726'),
  ('20250717082212'), ('20250731150234'), ('20250804100000'), ('20250901200500'), ('20250903112500'),
  ('20250904133000'), ('20250925093508'), ('20251007112900'), ('20251104100000'), ('20251111201300'),
  ('20251201000000'), ('20260115000000'), ('20260121000000'), ('20260219120000'), ('20260302000000'),
  ('20260625000000');

alter table auth.custom_oauth_providers
  drop constraint custom_oauth_providers_issuer_https,
  drop constraint custom_oauth_providers_discovery_url_https,
  add constraint custom_oauth_providers_oidc_requires_issuer check (provider_type != 'oidc' or issuer is not null),
  add constraint custom_oauth_providers_oidc_issuer_https
    check (provider_type != 'oidc' or issuer is null or issuer like 'https://%'),
  add constraint custom_oauth_providers_oidc_discovery_url_https
    check (provider_type != 'oidc' or discovery_url is null or discovery_url like 'https://%'),
  add constraint custom_oauth_providers_oauth2_requires_endpoints check (
    provider_type != 'oauth2'
    or (authorization_url is not null and token_url is not null and userinfo_url is not null)
  ),
  add constraint custom_oauth_providers_identifier_format check (identifier ~ '^[a-z0-9][a-z0-9:-]{0,48}[a-z0-9]$'),
  add constraint custom_oauth_providers_name_length check (char_length(name) >= 1 and char_length(name) <= 100),
  add constraint custom_oauth_providers_client_id_length
    check (char_length(client_id) >= 1 and char_length(client_id) <= 512),
  add constraint custom_oauth_providers_issuer_length
    check (issuer is null or (char_length(issuer) >= 1 and char_length(issuer) <= 2048)),
  add constraint custom_oauth_providers_discovery_url_length
    check (discovery_url is null or char_length(discovery_url) <= 2048),
  add constraint custom_oauth_providers_authorization_url_length
    check (authorization_url is null or char_length(authorization_url) <= 2048),
  add constraint custom_oauth_providers_token_url_length check (token_url is null or char_length(token_url) <= 2048),
  add constraint custom_oauth_providers_userinfo_url_length
    check (userinfo_url is null or char_length(userinfo_url) <= 2048),
  add constraint custom_oauth_providers_jwks_uri_length check (jwks_uri is null or char_length(jwks_uri) <= 2048);
create index custom_oauth_providers_identifier_idx on auth.custom_oauth_providers (identifier);

comment on index auth.identities_email_idx is 'Auth: Ensures indexed queries on the email column';
comment on index auth.users_email_partial_key is
  'Auth: A partial unique index that applies only when is_sso_user is false';
comment on column auth.mfa_factors.last_webauthn_challenge_data is
  'Stores the latest WebAuthn challenge data including attestation/assertion for customer verification';
comment on column auth.sessions.refresh_token_hmac_key is
  'Holds a HMAC-SHA256 key used to sign refresh tokens for this session.';
comment on column auth.sessions.refresh_token_counter is
  'Holds the ID (counter) of the last issued refresh token.';
comment on column auth.sso_providers.resource_id is
  'Auth: Uniquely identifies a SSO provider according to a user-chosen resource ID (case insensitive), useful in infrastructure as code.';
