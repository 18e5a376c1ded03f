-- How often the codes of Auth were tried, and when something was used last. The tables are in schema `_selvedge` and not in
-- `auth`, which projects dump and browse; only Auth reads and writes them. They refer to rows of `auth` without foreign
-- keys, because projects truncate those tables; Auth removes rows that are left over.

create table _selvedge.one_time_codes (
  -- The row of auth.one_time_tokens or auth.mfa_challenges that the code belongs to.
  secret_id uuid not null,
  -- HMAC with a key that the database does not have.
  code_hash bytea not null,
  attempts smallint not null default 0,
  created_at timestamptz not null,
  constraint one_time_codes_pkey primary key (secret_id)
);
comment on table _selvedge.one_time_codes is
  'Codes that people type, hashed, and how often each was tried. A pending token without a row here has expired: it is one of an older version, whose links could be guessed.';

create table _selvedge.factor_attempts (
  factor_id uuid not null,
  -- From then on all attempts are free again; each wrong one moves it on.
  full_at timestamptz not null,
  -- The step of the last TOTP code that was accepted; codes of this step and before are not accepted again.
  last_step bigint,
  constraint factor_attempts_pkey primary key (factor_id)
);
comment on table _selvedge.factor_attempts is
  'Wrong codes of second factors, and the last step of each TOTP factor.';

create table _selvedge.text_message_pauses (
  -- HMAC of purpose and phone number.
  phone_hash bytea not null,
  sent_at timestamptz not null,
  constraint text_message_pauses_pkey primary key (phone_hash)
);
comment on table _selvedge.text_message_pauses is
  'When a text message of a kind was sent to a number last, whoever has asked for it.';

grant select, insert, update, delete
  on _selvedge.one_time_codes, _selvedge.factor_attempts, _selvedge.text_message_pauses to supabase_auth_admin;
