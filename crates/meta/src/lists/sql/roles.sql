-- pg_roles hides passwords, so `password` is a row of asterisks.
select
  r.oid::int8 as id,
  r.rolname as name,
  r.rolsuper as is_superuser,
  r.rolcreatedb as can_create_db,
  r.rolcreaterole as can_create_role,
  r.rolinherit as inherit_role,
  r.rolcanlogin as can_login,
  r.rolreplication as is_replication_role,
  r.rolbypassrls as can_bypass_rls,
  (select count(*) from pg_stat_activity a where a.usesysid = r.oid) as active_connections,
  case when r.rolconnlimit = -1 then current_setting('max_connections')::int8 else r.rolconnlimit end as connection_limit,
  r.rolpassword as password,
  r.rolvaliduntil::text as valid_until,
  (
    select json_object_agg(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1))
    from unnest(r.rolconfig) as setting
  ) as config
from pg_roles r
