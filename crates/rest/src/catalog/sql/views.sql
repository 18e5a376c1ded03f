-- The rewrite rules of views in the exposed and the extra schemas ($1): their target lists show from which column of which
-- relation each view column comes.
select c.oid as oid, r.ev_action::text as rule
from pg_catalog.pg_class c
join pg_catalog.pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
where c.relkind in ('v', 'm')
  -- by their dependencies on the schemas, for which there is an index: pg_class would have to be read as a whole
  and c.oid = any (array(
    select d.objid
    from pg_catalog.pg_namespace s
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
      and d.classid = 'pg_catalog.pg_class'::regclass
    where s.nspname::text = any ($1)));
