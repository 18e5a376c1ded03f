-- Mails of Auth that no SMTP server has accepted yet. They are written in the transaction that causes them, so that
-- neither an unreachable mail server nor a killed process loses one. Rows contain one-time codes and links, so only
-- Auth may read them, and the table is in schema `_selvedge` and not in `auth`, which projects dump and browse.

grant usage on schema _selvedge to supabase_auth_admin;

create table _selvedge.outgoing_mails (
  id bigint generated always as identity,
  recipient text not null,
  subject text not null,
  html text not null,
  body text not null,
  created_at timestamptz not null default now(),
  -- A node that begins to send a mail sets this to a later time, so that another node retries if the first one dies.
  next_try_at timestamptz not null default now(),
  -- When the code in the mail expires; the mail is not sent after that.
  expires_at timestamptz not null,
  tries int not null default 0,
  last_error text,
  constraint outgoing_mails_pkey primary key (id)
);
comment on table _selvedge.outgoing_mails is 'Mails on their way to the SMTP server.';
create index outgoing_mails_next_try_at_idx on _selvedge.outgoing_mails (next_try_at);
grant select, insert, update, delete on _selvedge.outgoing_mails to supabase_auth_admin;
