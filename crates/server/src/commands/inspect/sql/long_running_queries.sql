-- Statements that have been running for more than five minutes.
select a.pid, (now() - a.query_start)::text as duration, a.query
from pg_catalog.pg_stat_activity a
where a.state <> 'idle' and a.query <> '' and a.query_start < now() - interval '5 minutes'
order by a.query_start
