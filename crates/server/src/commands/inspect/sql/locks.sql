-- Statements that hold an exclusive lock.
select
  a.pid,
  coalesce(c.relname::text, 'null') as relname,
  coalesce(l.transactionid::text, 'null') as transactionid,
  l.granted,
  a.query as stmt,
  (now() - a.query_start)::text as age
from pg_catalog.pg_locks l
join pg_catalog.pg_stat_activity a on a.pid = l.pid
left join pg_catalog.pg_class c on c.oid = l.relation
where l.mode = 'ExclusiveLock'
  -- Without this right of pg_monitor there is neither a text nor a time to show.
  and a.query is distinct from '<insufficient privilege>'
order by a.query_start
