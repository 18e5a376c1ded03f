-- What sign-in by SAML must remember beside the tables of the original. Both tables are in schema `_selvedge` and not in
-- `auth`, which projects dump and browse; only Auth reads and writes them.

create table _selvedge.saml_used_assertions (
  sso_provider_id uuid not null,
  -- SHA-256 of the assertion's id, because the id may be of any length.
  assertion_hash bytea not null,
  -- From then on the assertion is refused for its age, so that the row can go.
  expires_at timestamptz not null,
  constraint saml_used_assertions_pkey primary key (sso_provider_id, assertion_hash)
);
comment on table _selvedge.saml_used_assertions is
  'Assertions that have signed somebody in. All nodes look here, so that none can be used twice.';
create index saml_used_assertions_expires_at_idx on _selvedge.saml_used_assertions (expires_at);

create table _selvedge.saml_session_ends (
  flow_state_id uuid not null,
  not_after timestamptz not null,
  created_at timestamptz not null,
  constraint saml_session_ends_pkey primary key (flow_state_id)
);
comment on table _selvedge.saml_session_ends is
  'When the session of a PKCE flow must end, from the assertion until the code is exchanged.';

grant select, insert, update, delete on _selvedge.saml_used_assertions, _selvedge.saml_session_ends
  to supabase_auth_admin;
