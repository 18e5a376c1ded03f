select
  r.oid::text as oid, null::text as schema, r.rolname::text as name, null::text as table_name,
  jsonb_build_object(
    'superuser', r.rolsuper, 'inherit', r.rolinherit, 'create_role', r.rolcreaterole, 'create_db', r.rolcreatedb,
    'login', r.rolcanlogin, 'replication', r.rolreplication, 'bypassrls', r.rolbypassrls,
    'connection_limit', r.rolconnlimit, 'valid_until', r.rolvaliduntil,
    'member_of', coalesce((select jsonb_agg(g.rolname order by g.rolname)
      from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid), '[]'),
    'comment', shobj_description(r.oid, 'pg_authid')
  )::text as details
from pg_roles r
where r.rolname !~ '^pg_' and ($1::text is null or true)
order by r.rolname
