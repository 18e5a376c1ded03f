-- Connections and settings of each role.
select
  r.rolname as role_name,
  count(a.pid) as active_connections,
  -- -1 means no limit of the role's own.
  coalesce(nullif(r.rolconnlimit, -1), current_setting('max_connections')::int) as connection_limit,
  array_to_string(r.rolconfig, ',') as custom_config
from pg_catalog.pg_roles r
left join pg_catalog.pg_stat_activity a on a.usesysid = r.oid
group by r.rolname, r.rolconnlimit, r.rolconfig
order by r.rolname desc
