-- Primary, unique and foreign keys. Left out are foreign keys that a partition inherited (conparentid), because the parent's
-- key stands for them, and schemas whose names begin with one of $2, unless they are in $1.
select
  k.conname::text as name,
  k.contype::text as kind,
  k.conrelid as relation,
  k.conkey as columns,
  nullif(k.confrelid, 0) as foreign_relation,
  coalesce(k.confkey, '{}') as foreign_columns
from pg_catalog.pg_constraint k
where k.contype in ('p', 'u', 'f')
  and k.conrelid <> 0
  and (k.contype <> 'f' or k.conparentid = 0)
  -- tables by their dependencies on the schemas, for which there is an index; those of pg_catalog have none
  and k.conrelid = any (array(
    select d.objid
    from pg_catalog.pg_namespace s
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
      and d.classid = 'pg_catalog.pg_class'::regclass
    where s.nspname::text = any ($1)
      or not exists (select from unnest($2::text[]) prefix where s.nspname::text ^@ prefix)))
order by k.conrelid, k.conname;
