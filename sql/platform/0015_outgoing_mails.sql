-- Mails that Auth has promised to send and no SMTP server has taken yet. They are written in the transaction that makes them
-- necessary, so that neither a dead mail server nor a killed process loses one. Rows hold codes and links: nobody but Auth reads
-- them, and the table is not in schema `auth`, which projects dump and browse, but in our own.

grant usage on schema _selvedge to supabase_auth_admin;

create table _selvedge.outgoing_mails (
  id bigint generated always as identity,
  recipient text not null,
  subject text not null,
  html text not null,
  body text not null,
  created_at timestamptz not null default now(),
  -- A node that takes a mail moves this on, so that another one takes over if the first dies.
  next_try_at timestamptz not null default now(),
  -- A mail whose code has expired helps nobody.
  expires_at timestamptz not null,
  tries int not null default 0,
  last_error text,
  constraint outgoing_mails_pkey primary key (id)
);
comment on table _selvedge.outgoing_mails is 'Mails on their way to the SMTP server.';
create index outgoing_mails_next_try_at_idx on _selvedge.outgoing_mails (next_try_at);
grant select, insert, update, delete on _selvedge.outgoing_mails to supabase_auth_admin;
