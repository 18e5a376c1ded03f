-- Which session an authorization code of the OAuth server was exchanged for, as long as the code would have been valid. A code that comes a
-- second time was stolen, by the first who used it or by the second, and ends the session (RFC 6749 §4.1.2). The table is in
-- schema `_selvedge`, without foreign keys, as those of 0093.

create table _selvedge.exchanged_oauth_codes (
  -- SHA-256 of the code, which is random.
  code_hash bytea not null,
  client_id uuid not null,
  session_id uuid not null,
  expires_at timestamptz not null,
  constraint exchanged_oauth_codes_pkey primary key (code_hash)
);
comment on table _selvedge.exchanged_oauth_codes is 'Authorization codes that were exchanged, hashed, and the session that each has made.';
create index exchanged_oauth_codes_expires_at_idx on _selvedge.exchanged_oauth_codes (expires_at);

grant select, insert, update, delete on _selvedge.exchanged_oauth_codes to supabase_auth_admin;
