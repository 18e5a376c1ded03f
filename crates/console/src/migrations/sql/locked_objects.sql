-- Objects that another session has locked against all others: PostgreSQL does that with each one before it drops it, also
-- with those that go along by `cascade`. `parents` are the objects with which each goes silently.
with locked as (
  select 'pg_class'::regclass::oid as classid, l.relation as objid
  from pg_locks l
  where l.pid = $1 and l.locktype = 'relation' and l.granted and l.mode = 'AccessExclusiveLock'
    and l.database = (select oid from pg_database where datname = current_database())
  union
  select l.classid, l.objid
  from pg_locks l
  where l.pid = $1 and l.locktype = 'object' and l.granted and l.mode = 'AccessExclusiveLock'
    and l.database = (select oid from pg_database where datname = current_database())
)
select l.classid::text as catalog, l.objid::text as oid, i.type as kind, coalesce(i.identity, i.name) as name,
  coalesce(array(
    select distinct d.refclassid::text || ':' || d.refobjid::text
    from pg_depend d
    where d.classid = l.classid and d.objid = l.objid and d.deptype in ('a', 'i', 'P', 'S')
  ), '{}') as parents
from locked l
cross join lateral pg_identify_object(l.classid, l.objid, 0) i
where i.identity is not null
  and l.classid <> 'pg_attrdef'::regclass
  and i.schema is distinct from 'pg_toast'
order by i.type, name
