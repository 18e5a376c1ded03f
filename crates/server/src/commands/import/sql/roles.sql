-- Statements that create the project's roles, grant their memberships, and set the settings of roles and database.
-- Parameter: $1 names of the platform's roles, which are left out.
with own as (
  select * from pg_roles
  where not rolsuper and rolname <> all ($1::text[])
    and rolname !~ '^(pg_|supabase_|selvedge_|pgsodium_|pgtle_|cli_login_)'
), settings as (
  select s.setdatabase, r.rolname, split_part(entry, '=', 1) as name, substr(entry, strpos(entry, '=') + 1) as value
  from pg_db_role_setting as s
    left join own as r on r.oid = s.setrole
    cross join unnest(s.setconfig) as entry
  where (s.setrole = 0 or r.oid is not null)
    and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
)
select kind, role, statement from (
  select 1 as position, 'role' as kind, rolname::text as role, concat_ws(' ',
    format('create role %I', rolname),
    case when rolcanlogin then 'login' else 'nologin' end,
    case when rolinherit then 'inherit' else 'noinherit' end,
    case when rolcreaterole then 'createrole' end,
    case when rolcreatedb then 'createdb' end,
    case when rolreplication then 'replication' end,
    case when rolbypassrls then 'bypassrls' end,
    case when rolconnlimit <> -1 then format('connection limit %s', rolconnlimit) end,
    case when rolvaliduntil is not null then format('valid until %L', rolvaliduntil) end
  ) as statement
  from own
  union all
  select 2, 'membership', member.rolname::text, format(
    'grant %I to %I%s', granted.rolname, member.rolname, case when m.admin_option then ' with admin option' else '' end
  )
  from pg_auth_members as m
    join pg_roles as granted on granted.oid = m.roleid
    join pg_roles as member on member.oid = m.member
  where (granted.oid in (select oid from own) or member.oid in (select oid from own))
    and not granted.rolsuper and not member.rolsuper
  union all
  -- Values of list settings such as search_path are stored with their quotes; other values are quoted here.
  select 3, 'setting', coalesce(rolname, ''), format(
    'alter %s set %s to %s',
    case when rolname is null then format('database %I', current_database()) else format('role %I', rolname) end,
    name,
    case when name in ('search_path', 'temp_tablespaces', 'session_preload_libraries', 'local_preload_libraries')
      then value else quote_literal(value) end
  )
  from settings
  where rolname is not null or (setdatabase <> 0 and name like '%.%' and name not like 'app.settings.jwt%')
) as statements
order by position, role, statement
