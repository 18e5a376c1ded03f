-- Settings of the project's roles, and those of the database that the project has made up. The name of a role is null for the
-- database's. Parameter: $1 names of the project's roles.
select r.rolname::text, split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
from pg_db_role_setting as s
  left join pg_roles as r on r.oid = s.setrole
  cross join unnest(s.setconfig) as entry
where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
  and (
    r.rolname = any ($1::text[])
    or (s.setrole = 0 and s.setdatabase <> 0 and entry like '%.%=%' and entry not like 'app.settings.jwt%')
  )
order by 1, 2
