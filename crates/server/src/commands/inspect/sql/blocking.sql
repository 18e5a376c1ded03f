-- Statements that wait for a lock, and those that hold it.
select
  waiting.pid as blocked_pid,
  holder.query as blocking_statement,
  (now() - holder.query_start)::text as blocking_duration,
  holder.pid as blocking_pid,
  waiting.query as blocked_statement,
  (now() - waiting.query_start)::text as blocked_duration
from pg_catalog.pg_stat_activity waiting
cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocker (pid)
join pg_catalog.pg_stat_activity holder on holder.pid = blocker.pid
order by waiting.query_start
