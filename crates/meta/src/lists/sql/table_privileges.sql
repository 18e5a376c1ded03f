-- A relation without an ACL has the default privileges, which belong to its owner. Logins of the console are left out.
select
  c.oid::int8 as relation_id,
  n.nspname as schema,
  c.relname as name,
  case c.relkind
    when 'r' then 'table'
    when 'v' then 'view'
    when 'm' then 'materialized_view'
    when 'f' then 'foreign_table'
    else 'partitioned_table'
  end as kind,
  (
    select coalesce(json_agg(json_build_object(
      'grantor', pg_get_userbyid(acl.grantor),
      'grantee', case acl.grantee when 0 then 'PUBLIC' else pg_get_userbyid(acl.grantee) end,
      'privilege_type', acl.privilege_type,
      'is_grantable', acl.is_grantable
    ) order by pg_get_userbyid(acl.grantee), acl.privilege_type), '[]')
    from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) acl
    where acl.grantee = 0 or pg_get_userbyid(acl.grantee) !~ '^selvedge_(console_(reader(_[0-9]+)?|operator|service|members)|replication|user_counts)$'
  ) as privileges
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not pg_is_other_temp_schema(n.oid)
  and (
    pg_has_role(c.relowner, 'usage')
    or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')
    or has_any_column_privilege(c.oid, 'select, insert, update, references')
  )
