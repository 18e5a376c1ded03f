-- Memberships in which at least one side is a role of the project. Parameter: $1 names of the project's roles.
select granted.rolname::text, member.rolname::text, bool_or(m.admin_option)
from pg_auth_members as m
  join pg_roles as granted on granted.oid = m.roleid
  join pg_roles as member on member.oid = m.member
where (granted.rolname = any ($1::text[]) or member.rolname = any ($1::text[]))
  and not granted.rolsuper and not member.rolsuper
group by 1, 2
order by 1, 2
