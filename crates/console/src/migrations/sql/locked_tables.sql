-- Tables that another session has locked more strongly than for reading, each with its strongest lock. Only relations that
-- are committed are seen here, so those that the other session has made are left out.
select distinct on (c.oid)
  c.oid::text as oid,
  format('%I.%I', n.nspname, c.relname) as name,
  l.mode,
  pg_relation_filenode(c.oid)::text as filenode,
  c.reltuples::float8 as estimate,
  c.relkind in ('r', 'p', 'm') as has_rows
from pg_locks l
join pg_class c on c.oid = l.relation
join pg_namespace n on n.oid = c.relnamespace
where l.pid = $1 and l.locktype = 'relation' and l.granted
  and l.database = (select oid from pg_database where datname = current_database())
  and c.relkind in ('r', 'p', 'm', 'v', 'f')
  and n.nspname not in (
    'pg_catalog', 'information_schema', 'pg_toast', 'supabase_migrations', 'selvedge_console', '_selvedge')
  and l.mode in (
    'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
    'AccessExclusiveLock')
order by c.oid, array_position(array[
  'AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock', 'ShareUpdateExclusiveLock',
  'RowExclusiveLock'], l.mode)
