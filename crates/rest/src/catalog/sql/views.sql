-- The rewrite rules of views in the exposed and the extra schemas ($1): their target lists show from which column of which
-- relation each view column comes.
select c.oid as oid, r.ev_action::text as rule
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
where c.relkind in ('v', 'm') and n.nspname = any ($1);
