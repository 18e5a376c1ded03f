-- The advisors: findings that somebody has muted, for all accounts of the project.

create table selvedge_console.muted_findings (
  key text primary key check (length(key) between 1 and 1000),
  account text,
  muted_at timestamptz not null default now()
);

alter table selvedge_console.muted_findings owner to supabase_admin;
grant select, insert, delete on selvedge_console.muted_findings to selvedge_console_service, postgres;
