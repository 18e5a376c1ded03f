with object as (
  select case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass as name,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's'::"char" else 'r'::"char" end, c.relowner)) as acl
  from pg_class c where $1::text = 'table' and c.oid = $2::text::oid
  union all
  select case p.prokind when 'p' then 'procedure ' else 'function ' end
      || format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
    coalesce(p.proacl, acldefault('f', p.proowner))
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where $1::text = 'function' and p.oid = $2::text::oid
  union all
  select format('schema %I', n.nspname), coalesce(n.nspacl, acldefault('n', n.nspowner))
  from pg_namespace n where $1::text = 'schema' and n.oid = $2::text::oid
)
select string_agg(format('grant %s on %s to %s%s;', rights, name,
    case when $3::text::oid = 0 then 'public' else quote_ident(pg_get_userbyid($3::text::oid)) end,
    case when is_grantable then ' with grant option' end), E'\n' order by is_grantable)
from (
  select o.name, g.is_grantable, string_agg(lower(g.privilege_type), ', ' order by g.privilege_type) as rights
  from object o cross join lateral aclexplode(o.acl) g
  where g.grantee = $3::text::oid
  group by o.name, g.is_grantable
) granted
