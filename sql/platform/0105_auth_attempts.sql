-- Guesses are counted per network of the guesser, too: whoever sends wrong codes for somebody else's address must not use up
-- the attempts of its owner. The tables are those of 0093 and likewise have no foreign keys.

alter table _selvedge.one_time_codes
  -- {"<hash of a network>": attempts}; at most as many as `attempts` counts.
  add column attempts_by_network jsonb not null default '{}';

create table _selvedge.counted_attempts (
  -- HMAC of what is guessed, and of the network that guesses; without a network it counts those of all.
  subject_hash bytea not null,
  -- From then on all attempts are free again; each attempt moves it on.
  full_at timestamptz not null,
  -- When an attempt was right last. A network from which somebody has been right is not stopped by what others do.
  succeeded_at timestamptz,
  constraint counted_attempts_pkey primary key (subject_hash)
);
comment on table _selvedge.counted_attempts is
  'Attempts at second factors, and at codes that have no row: those that a provider of text messages checks, and test codes.';

grant select, insert, update, delete on _selvedge.counted_attempts to supabase_auth_admin;

create table _selvedge.vouched_passwords (
  user_id uuid not null,
  created_at timestamptz not null,
  constraint vouched_passwords_pkey primary key (user_id)
);
comment on table _selvedge.vouched_passwords is
  'Unconfirmed users whose password an administrator has set. It is kept when the address is proven, also where somebody else '
  'has tried to register it.';

grant select, insert, update, delete on _selvedge.vouched_passwords to supabase_auth_admin;
