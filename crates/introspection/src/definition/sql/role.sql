-- Passwords stay where they are: what recreates a role sets none.
select concat_ws(E'\n',
  format('create role %I with %s;', r.rolname, concat_ws(' ',
    case when r.rolsuper then 'superuser' else 'nosuperuser' end,
    case when r.rolinherit then 'inherit' else 'noinherit' end,
    case when r.rolcreaterole then 'createrole' else 'nocreaterole' end,
    case when r.rolcreatedb then 'createdb' else 'nocreatedb' end,
    case when r.rolcanlogin then 'login' else 'nologin' end,
    case when r.rolreplication then 'replication' else 'noreplication' end,
    case when r.rolbypassrls then 'bypassrls' else 'nobypassrls' end,
    case when r.rolconnlimit >= 0 then 'connection limit ' || r.rolconnlimit end,
    case when r.rolvaliduntil is not null then format('valid until %L', r.rolvaliduntil) end)),
  (select string_agg(format('grant %I to %I%s;', g.rolname, r.rolname, case when m.admin_option then ' with admin option' end),
      E'\n' order by g.rolname)
    from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid),
  (select format('comment on role %I is %L;', r.rolname, description)
    from shobj_description(r.oid, 'pg_authid') as description where description is not null))
from pg_roles r
where r.oid = $1::text::oid
