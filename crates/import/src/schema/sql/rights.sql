-- Who may do what with the project's objects, one row each: kind, object, grantee, privilege, whether it may be granted on.
-- Rights of an object's owner are left out, as it has all of them.
-- Parameters: $1 schemas of the project; $2 roles that both databases have, with an empty name for everybody.
with acls as (
  select 'schema' as kind, format('%I', n.nspname) as object, n.nspowner as owner,
    coalesce(n.nspacl, acldefault('n', n.nspowner)) as acl
  from pg_namespace as n
  where n.nspname = any ($1::text[])
  union all
  select case c.relkind when 'S' then 'sequence' else 'table' end, format('%I.%I', n.nspname, c.relname), c.relowner,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = any ($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    and not exists (select from pg_depend as d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  union all
  select 'column', format('%I.%I.%I', n.nspname, c.relname, a.attname), c.relowner, a.attacl
  from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = any ($1::text[]) and a.attacl is not null and a.attnum > 0 and not a.attisdropped
    and not exists (select from pg_depend as d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  union all
  select 'function', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), p.proowner,
    coalesce(p.proacl, acldefault('f', p.proowner))
  from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
  where n.nspname = any ($1::text[])
    and not exists (select from pg_depend as d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  union all
  select 'type', format('%I.%I', n.nspname, t.typname), t.typowner, coalesce(t.typacl, acldefault('T', t.typowner))
  from pg_type as t join pg_namespace as n on n.oid = t.typnamespace
  where n.nspname = any ($1::text[]) and t.typtype in ('d', 'e', 'r', 'c') and t.typelem = 0
    and (t.typrelid = 0 or exists (select from pg_class as c where c.oid = t.typrelid and c.relkind = 'c'))
    and not exists (select from pg_depend as d where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
  union all
  -- The owner of default privileges is the role that creates the objects.
  select 'default privileges of ' || r.rolname || ' for ' || a.defaclobjtype::text, coalesce(quote_ident(n.nspname), ''),
    a.defaclrole, a.defaclacl
  from pg_default_acl as a join pg_roles as r on r.oid = a.defaclrole
    left join pg_namespace as n on n.oid = a.defaclnamespace
  where (n.nspname = any ($1::text[]) or a.defaclnamespace = 0) and (r.rolname = 'postgres' or r.rolname = any ($2::text[]))
)
select acls.kind, acls.object, coalesce(g.rolname::text, ''), entry.privilege_type, bool_or(entry.is_grantable)
from acls cross join lateral aclexplode(acls.acl) as entry
  left join pg_roles as g on g.oid = entry.grantee
where entry.grantee <> acls.owner
  -- Schema public is there before the import, with the rights of the platform's own roles.
  and not (acls.kind = 'schema' and acls.object = 'public'
    and coalesce(g.rolname::text, '') ~ '^(supabase_|dashboard_user$|authenticator$|pgbouncer$)')
  and coalesce(g.rolname::text, '') = any ($2::text[])
  -- PostgreSQL 17 has this right and older versions do not.
  and entry.privilege_type <> 'MAINTAIN'
group by 1, 2, 3, 4
order by 1, 2, 3, 4
