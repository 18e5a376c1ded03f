-- Everything that would be dropped or changed along with an object. Rules and defaults are named by what they belong to:
-- a view hangs on its tables through its rule, a column through its default.
with direct as (
  select d.classid, d.objid, d.objsubid, d.deptype
  from pg_depend d
  where d.refclassid = $1::text::regclass and d.refobjid = $2::text::oid
    and d.deptype in ('n', 'a', 'i', 'P', 'S')
    and not (d.classid = d.refclassid and d.objid = d.refobjid)
  -- Objects that depend on a relation's row type depend on the relation.
  union
  select d.classid, d.objid, d.objsubid, d.deptype
  from pg_depend d
  join pg_type t on d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid
  where $1::text = 'pg_class' and t.typrelid = $2::text::oid and d.deptype = 'n'
  union
  -- Deptype 'a' means a granted privilege.
  select d.classid, d.objid, d.objsubid, case d.deptype when 'a' then 'g'::"char" else d.deptype end
  from pg_shdepend d
  where $1::text = 'pg_authid' and d.refclassid = 'pg_authid'::regclass and d.refobjid = $2::text::oid
    and d.dbid = (select oid from pg_database where datname = current_database())
), owners as (
  select
    case when r.oid is not null then 'pg_class'::regclass when e.oid is not null then 'pg_class'::regclass
      else d.classid end as classid,
    coalesce(r.ev_class, e.adrelid, d.objid) as objid,
    coalesce(case when r.oid is not null then 0 end, e.adnum, d.objsubid)::int4 as objsubid,
    min(case d.deptype when 'n' then 'normal' when 'a' then 'automatic' when 'i' then 'internal'
      when 'o' then 'owner' when 'r' then 'policy' when 'g' then 'privilege' else 'partition' end) as how
  from direct d
  left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
  left join pg_attrdef e on d.classid = 'pg_attrdef'::regclass and e.oid = d.objid
  group by 1, 2, 3
)
select i.type as kind, coalesce(i.identity, i.name) as name, o.objid::text as oid, o.how
from owners o
cross join lateral pg_identify_object(o.classid, o.objid, o.objsubid) i
where not (o.classid = $1::text::regclass and o.objid = $2::text::oid and o.objsubid = 0)
  -- Row types, array types and TOAST tables are not listed, because they belong to another object.
  and not (o.classid = 'pg_type'::regclass and o.how = 'internal')
  and not (o.classid = 'pg_class'::regclass and i.schema = 'pg_toast')
  and i.identity is not null
order by 1, 2
