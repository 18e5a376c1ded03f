-- The platform's tables without rows in a fresh database, by their SQL names. Only for a database without code of a project: planning a
-- query evaluates expressions of indexes. The console's are the work of people, and not the project's. What the database has written into the
-- marks of stores stays, because without it the database would count as a copy of itself, and no bytes would be removed from its bucket any more.
select c.oid::regclass::text
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_(toast|temp)'
  and n.nspname not in ('pg_catalog', 'information_schema', 'selvedge_console')
  and not (n.nspname = '_selvedge' and c.relname = 'selvedge_object_stores')
  and (xpath('/row/x/text()', query_to_xml(format('select exists (select from %s) as x', c.oid::regclass), true, true, '')))[1]::text = 'false'
order by 1
