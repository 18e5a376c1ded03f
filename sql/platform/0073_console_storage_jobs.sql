-- The console: storage jobs, which move, copy or delete folders of files. A job's progress is stored in its row, so that it continues
-- there after a crash. Only the console's own login may write the rows; each job has an audit entry.

create table selvedge_console.storage_jobs (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('move', 'copy', 'delete')),
  bucket text not null,
  target_bucket text,
  -- [{"from": "photos/", "to": "archive/photos/"}, …]; names of folders end with a slash, deletions have no "to".
  steps jsonb not null check (jsonb_typeof(steps) = 'array'),
  state text not null default 'waiting'
    check (state in ('waiting', 'running', 'cancelling', 'done', 'cancelled', 'failed')),
  account text,
  level text not null,
  address text not null,
  request_id text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  total bigint,
  done bigint not null default 0,
  failed bigint not null default 0,
  -- Progress: the index of the current step, the last file name processed in it, and the names of the current batch.
  step int not null default 0,
  last_name text not null default '',
  batch text[],
  error text
);
create index storage_jobs_unfinished_idx on selvedge_console.storage_jobs (created_at)
  where state in ('waiting', 'running', 'cancelling');

create table selvedge_console.storage_job_failures (
  job uuid not null references selvedge_console.storage_jobs on delete cascade,
  name text not null,
  message text not null,
  primary key (job, name)
);

alter table selvedge_console.storage_jobs owner to supabase_admin;
alter table selvedge_console.storage_job_failures owner to supabase_admin;
grant select, insert, update, delete on selvedge_console.storage_jobs, selvedge_console.storage_job_failures
  to selvedge_console_service;
