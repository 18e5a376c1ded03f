-- The privileges in this database, one line each, in the format of image_rights.txt.
select concat_ws(' ', 'member', member::regrole, roleid::regrole, max(case when admin_option then 'admin' end))
from pg_auth_members
where member::regrole::text !~ '^pg_'
group by member, roleid
union all
select concat_ws(' ', 'setting', rolname, replace(setting, ', ', '/'))
from pg_roles, unnest(rolconfig) as setting
union all
select concat_ws(' ', 'schema', nspname, lower(privilege_type), grantee::regrole, case when is_grantable then 'grantable' end)
from pg_namespace, aclexplode(nspacl)
where nspname in ('public', 'auth', 'extensions', 'graphql', 'graphql_public', 'realtime', 'storage', 'supabase_functions', 'vault')
  and grantee not in (0, nspowner)
union all
select concat_ws(' ', 'default', defaclnamespace::regnamespace, defaclrole::regrole, kind, grantee::regrole,
  case
    when count(*) = (select count(*) from aclexplode(acldefault(lower(defaclobjtype)::"char", 10)) where grantee = 10) then 'all'
    else string_agg(lower(privilege_type), '/' order by privilege_type)
  end,
  case when bool_and(is_grantable) then 'grantable' end)
from pg_default_acl, aclexplode(defaclacl),
  lateral (select case defaclobjtype when 'r' then 'tables' when 'f' then 'functions' when 'S' then 'sequences' end) as kinds (kind)
where grantee <> 0
group by defaclnamespace, defaclrole, defaclobjtype, kind, grantee
union all
select distinct concat_ws(' ', 'function', pronamespace::regnamespace || '.' || proname, grantee::regrole)
from pg_proc, aclexplode(proacl)
where pronamespace = 'pg_catalog'::regnamespace and grantee::regrole::text !~ '^(pg_|-|supabase_admin)'
