-- Tables in exposed schemas that the change has made or altered, and that every holder of a key reaches as far as grants go.
select format('%I.%I', n.nspname, c.relname) as name
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.xmin = pg_current_xact_id()::xid
  and c.relkind in ('r', 'p') and not c.relrowsecurity
  and n.nspname = any ($1)
order by 1
