-- The owner has all rights from the start; those of others, on the table and on single columns, are granted again.
select string_agg(format('grant %s on table %s to %s%s;', rights, $1::text::oid::regclass,
    case when grantee = 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
    case when is_grantable then ' with grant option' end), E'\n' order by position, grantee, rights)
from (
  select 0 as position, g.grantee, g.is_grantable, string_agg(lower(g.privilege_type), ', ' order by g.privilege_type) as rights
  from pg_class c cross join lateral aclexplode(c.relacl) g
  where c.oid = $1::text::oid and g.grantee <> c.relowner
  group by g.grantee, g.is_grantable
  union all
  select a.attnum, g.grantee, g.is_grantable,
    string_agg(format('%s (%I)', lower(g.privilege_type), a.attname), ', ' order by g.privilege_type)
  from pg_attribute a cross join lateral aclexplode(a.attacl) g
  where a.attrelid = $1::text::oid and not a.attisdropped
  group by a.attnum, g.grantee, g.is_grantable
) granted
