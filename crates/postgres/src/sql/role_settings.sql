-- Settings of the roles of which the connection's role is a direct member. A setting for one database beats the
-- role's general one. Left out: what the connection's role may not set itself.
with member_of as (
  select r.oid, r.rolname
  from pg_catalog.pg_auth_members m
  join pg_catalog.pg_roles r on r.oid = m.roleid
  where m.member = (select oid from pg_catalog.pg_roles where rolname = current_user)
),
entries as (
  select distinct on (m.rolname, split_part(entry, '=', 1))
    m.rolname::text as role,
    split_part(entry, '=', 1) as name,
    substr(entry, strpos(entry, '=') + 1) as value
  from member_of m
  join pg_catalog.pg_db_role_setting s on s.setrole = m.oid
  cross join lateral unnest(s.setconfig) entry
  where s.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
    -- One that was made in a database of another encoding need not be UTF-8.
    and encode(textsend(entry), 'hex') ~ '^([0-7].|((c[2-9a-f]|d.)|(e0[ab]|ed[89]|e[1-9a-cef][89ab]).|(f0[9ab]|f[1-3][89ab]|f48).[89ab].)[89ab].)*$'
  order by m.rolname, split_part(entry, '=', 1), s.setdatabase desc
)
select e.role, e.name, e.value
from entries e
left join pg_catalog.pg_settings p on lower(p.name) = lower(e.name)
where p.context = 'user'
   or (p.name is null and strpos(e.name, '.') > 0)
   or (p.name is not null and has_parameter_privilege(current_user, p.name, 'set'))
order by e.role, e.name;
