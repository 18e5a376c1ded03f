-- The project's roles and what they may do. Values are sent as they are: the target forms the statements and quotes them.
-- Parameter: $1 names of the platform's roles, which are left out.
select rolname::text, rolcanlogin, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolconnlimit,
  rolvaliduntil::text
from pg_roles
where not rolsuper and rolname <> all ($1::text[])
  and rolname !~ '^(pg_|supabase_|selvedge_|pgsodium_|pgtle_|cli_login_)'
order by 1
