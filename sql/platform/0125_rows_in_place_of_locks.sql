-- Rows in place of advisory locks, which every role that can call a function may take, and so keep the server from its work.

-- The row that a sweep of the storage locks, as the server's login.
insert into _selvedge.internal_locks (name) values ('storage sweep') on conflict do nothing;
grant usage on schema _selvedge to authenticator;
grant select, update on _selvedge.internal_locks to authenticator;

-- The session that runs a storage job of the console, by its process and the time at which it began. It counts as long as that session
-- lives, so that another node goes on with the job of a node that has ended.
alter table selvedge_console.storage_jobs add column runner_pid integer, add column runner_started timestamptz;
comment on column selvedge_console.storage_jobs.runner_pid is 'Process of the session that runs the job.';
comment on column selvedge_console.storage_jobs.runner_started is 'When the session that runs the job began.';
