-- The console: queries that people have saved, where it serves several of them. On a laptop snippets are files of the project.
-- Only the console's own login may write them. Viewers cannot read those of others; admins read the whole database.

create table selvedge_console.snippets (
  account text not null references selvedge_console.accounts on update cascade on delete cascade,
  name text not null check (length(name) between 1 and 100),
  text text not null check (octet_length(text) <= 1048576),
  updated_at timestamptz not null default now(),
  primary key (account, name)
);

alter table selvedge_console.snippets owner to supabase_admin;
grant select, insert, update, delete on selvedge_console.snippets to selvedge_console_service;
