-- What determines the access of role $2 to relation $1, apart from policies and columns. The functions has_…_privilege()
-- include privileges of PUBLIC and of roles that $2 inherits.
select
  n.nspname,
  c.relname,
  c.relkind::text,
  c.relrowsecurity,
  c.relforcerowsecurity,
  r.rolsuper or r.rolbypassrls as bypasses_rls,
  pg_has_role(r.oid, c.relowner, 'usage') as is_owner,
  has_schema_privilege(r.oid, n.oid, 'usage') as may_use_schema,
  has_table_privilege(r.oid, c.oid, 'delete') as may_delete,
  has_any_column_privilege(r.oid, c.oid, 'insert') as may_insert_anything,
  array(
    select a.attname::text
    from pg_index i
    cross join unnest(i.indkey) with ordinality as k (attnum, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where i.indrelid = c.oid and i.indisprimary
    order by k.place
  ) as key,
  exists (
    select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled in ('O', 'A')
  ) as has_triggers,
  -- Bits of pg_trigger.tgtype: 1 for each row, 2 before, 4 insert, 16 update.
  exists (
    select from pg_trigger t
    where t.tgrelid = c.oid and not t.tgisinternal and t.tgenabled in ('O', 'A')
      and t.tgtype & 3 = 3 and t.tgtype & 20 <> 0
  ) as has_row_changing_triggers,
  -- Where each right comes from. A role that owns the table has its rights without a grant.
  array(
    select format(
      '%s granted to %s',
      lower(string_agg(g.privilege_type, ', ' order by g.privilege_type)),
      case when g.grantee = 0 then 'public' else g.grantee::regrole::text end
    )
    from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) as g
    where g.grantee = 0 or pg_has_role(r.oid, g.grantee, 'usage')
    group by g.grantee
    order by g.grantee
  ) as grants
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
cross join pg_roles r
where c.oid = $1 and r.rolname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
