-- The rights of each grantee on each object. Default rights of a new object are those of its owner and PUBLIC.
with objects as (
  select 'table' as kind, c.oid, n.nspname as schema, c.relname::text as name,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r'::"char" end, c.relowner)) as acl,
    c.relowner as owner
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all
  select 'function', p.oid, n.nspname, p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
    coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where not exists (select from pg_depend d
    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  union all
  select 'schema', n.oid, n.nspname, n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner)), n.nspowner
  from pg_namespace n
)
select
  o.kind || '.' || o.oid || '.' || g.grantee as oid, o.schema::text as schema, o.name::text as name, null::text as table_name,
  jsonb_build_object(
    'kind', o.kind,
    'grantee', case when g.grantee = 0 then 'PUBLIC' else pg_get_userbyid(g.grantee) end,
    'owner', g.grantee = o.owner,
    'privileges', jsonb_agg(lower(g.privilege_type) order by g.privilege_type),
    'grantable', coalesce(jsonb_agg(lower(g.privilege_type) order by g.privilege_type) filter (where g.is_grantable), '[]')
  )::text as details
from objects o
cross join lateral aclexplode(o.acl) g
where o.schema !~ '^pg_' and o.schema <> 'information_schema'
  and ($1::text is null or o.schema = $1)
group by o.kind, o.oid, o.schema, o.name, o.owner, g.grantee
order by o.schema, o.kind, o.name, g.grantee
