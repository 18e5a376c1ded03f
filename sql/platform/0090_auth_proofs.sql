-- What Auth must remember beside the tables of the original, so that an address is proven and a change is asked for where it
-- takes effect. The tables are in schema `_selvedge` and not in `auth`, which projects dump and browse; only Auth reads and
-- writes them. They have no foreign keys: stale rows are without effect and are cleaned up.

create table _selvedge.flow_sessions (
  flow_state_id uuid not null,
  session_id uuid not null,
  created_at timestamptz not null,
  constraint flow_sessions_pkey primary key (flow_state_id)
);
comment on table _selvedge.flow_sessions is
  'The session that has begun to link an identity. It must still exist when the provider sends the browser back.';

grant select, insert, update, delete on _selvedge.flow_sessions to supabase_auth_admin;

create table _selvedge.contested_accounts (
  user_id uuid not null,
  created_at timestamptz not null,
  constraint contested_accounts_pkey primary key (user_id)
);
comment on table _selvedge.contested_accounts is
  'Unconfirmed users whose address somebody has registered twice with different credentials. Whoever proves the address gets '
  'the account without them, because nobody can tell whose they are.';

grant select, insert, update, delete on _selvedge.contested_accounts to supabase_auth_admin;
