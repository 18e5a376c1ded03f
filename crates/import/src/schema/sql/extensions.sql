-- Extensions of the source: name, schema, and whether an object outside of the extension depends on it.
with used as (
  select distinct member.refobjid as extension
  from pg_depend as member
    join pg_depend as d on d.refclassid = member.classid and d.refobjid = member.objid and d.deptype = 'n'
    -- Rules, constraints and defaults are no members of an extension themselves, so their relation's membership is looked up.
    left join pg_rewrite as rule on d.classid = 'pg_rewrite'::regclass and rule.oid = d.objid
    left join pg_constraint as con on d.classid = 'pg_constraint'::regclass and con.oid = d.objid
    left join pg_attrdef as def on d.classid = 'pg_attrdef'::regclass and def.oid = d.objid
  where member.refclassid = 'pg_extension'::regclass and member.deptype = 'e'
    and d.classid in (
      'pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_rewrite'::regclass, 'pg_constraint'::regclass,
      'pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass
    )
    and not exists (
      select from pg_depend as own
      where own.deptype = 'e' and (
        (own.classid = d.classid and own.objid = d.objid)
        or (own.classid = 'pg_class'::regclass
          and own.objid = coalesce(rule.ev_class, nullif(con.conrelid, 0), def.adrelid))
      )
    )
)
select e.extname::text, n.nspname::text, exists (select from used where used.extension = e.oid)
from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace
where e.extname <> 'plpgsql'
order by e.extname
