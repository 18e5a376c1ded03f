-- A privilege on a relation applies to each of its columns. The caller sees privileges of roles of which it is a member,
-- and none of the console's logins.
select
  c.oid || '.' || a.attnum as column_id,
  n.nspname as relation_schema,
  c.relname as relation_name,
  a.attname as column_name,
  acl.privileges
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
cross join lateral (
  select json_agg(json_build_object(
    'grantor', pg_get_userbyid(granted.grantor),
    'grantee', case granted.grantee when 0 then 'PUBLIC' else pg_get_userbyid(granted.grantee) end,
    'privilege_type', granted.privilege_type,
    'is_grantable', granted.is_grantable
  ) order by pg_get_userbyid(granted.grantee), granted.privilege_type) as privileges
  from (
    select * from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner)))
    union
    select * from aclexplode(a.attacl)
  ) granted
  where granted.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
    and (granted.grantee = 0 or pg_get_userbyid(granted.grantee) !~ '^selvedge_(console_(reader(_[0-9]+)?|operator|service|members)|replication|user_counts)$')
    and (granted.grantee = 0 or pg_has_role(granted.grantee, 'usage') or pg_has_role(granted.grantor, 'usage'))
) acl
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and acl.privileges is not null
