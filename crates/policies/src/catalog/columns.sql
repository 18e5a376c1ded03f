-- The columns of the relation $1, with the rights of the role $2 to each.
select
  a.attname::text,
  format_type(a.atttypid, a.atttypmod),
  a.attgenerated <> '' as is_generated,
  pg_get_expr(d.adbin, d.adrelid) as default_expression,
  -- The sequence behind an identity column or a default of nextval(), whose next number is looked at and not taken.
  coalesce(
    (select s.objid::regclass::text
     from pg_depend s
     join pg_class q on q.oid = s.objid and q.relkind = 'S'
     where s.classid = 'pg_class'::regclass and s.refclassid = 'pg_class'::regclass
       and s.refobjid = a.attrelid and s.refobjsubid = a.attnum and s.deptype = 'i'
     limit 1),
    (select s.refobjid::regclass::text
     from pg_depend s
     join pg_class q on q.oid = s.refobjid and q.relkind = 'S'
     where s.classid = 'pg_attrdef'::regclass and s.objid = d.oid and s.refclassid = 'pg_class'::regclass
     limit 1)
  ) as sequence,
  has_column_privilege(r.oid, a.attrelid, a.attnum, 'select') as may_select,
  has_column_privilege(r.oid, a.attrelid, a.attnum, 'insert') as may_insert,
  has_column_privilege(r.oid, a.attrelid, a.attnum, 'update') as may_update
from pg_attribute a
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
cross join pg_roles r
where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped and r.rolname = $2
order by a.attnum
