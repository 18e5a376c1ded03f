-- The tables after the change, seen by the session that has made it. Those that it has dropped are missing.
select c.oid::text as oid, pg_relation_filenode(c.oid)::text as filenode,
  pg_stat_get_xact_tuples_returned(c.oid) as rows_read
from pg_class c
where c.oid = any ($1::text[]::oid[])
