-- Relations of the exposed schemas ($1), or those with the oids $2. Partitions have no endpoints.
-- The relations are found by their dependencies on the schemas, for which there is an index: among thousands of other schemas
-- pg_class would have to be read as a whole.
select
  c.oid as oid,
  n.nspname::text as schema,
  c.relname::text as name,
  d.description as comment,
  c.relkind in ('v', 'm') as is_view,
  -- the bits are 1 << CMD_UPDATE (4), CMD_INSERT (8) and CMD_DELETE (16); `true` includes INSTEAD OF triggers
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 8 = 8 as insertable,
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 4 = 4 as updatable,
  c.relkind in ('r', 'p') or c.relkind in ('v', 'f')
    and pg_catalog.pg_relation_is_updatable(c.oid, true) & 16 = 16 as deletable,
  -- 6: the bits of BEFORE (2) and INSERT (4); such a trigger or a rule may drop the row
  c.relkind = 'r' and not c.relhasrules and not exists (
    select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and t.tgtype & 6 = 6) as inserts_plainly
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join pg_catalog.pg_description d
  on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_catalog.pg_class'::regclass
where c.relkind in ('r', 'v', 'm', 'f', 'p')
  and c.oid = any (array(
    select d.objid
    from pg_catalog.pg_namespace s
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
      and d.classid = 'pg_catalog.pg_class'::regclass
    where s.nspname = any ($1) and ($2 is null or d.objid = any ($2))))
  and n.nspname not in ('pg_catalog', 'information_schema')
  and not c.relispartition
order by n.nspname, c.relname;
