select p.nspname::text, p.relname::text, 'table', format('%s %s', role.name, command.name),
  format('The table %s has %s permissive policies for %s of %s: %s.', p.quoted, count(*), command.name, role.name,
    string_agg(p.polname, ', ' order by p.polname)),
  null::text
from project_policies p
cross join (values ('r'::"char", 'select'), ('a', 'insert'), ('w', 'update'), ('d', 'delete')) as command (letter, name)
cross join lateral (
  select case when r = 0 then 'public' else r::regrole::text end as name from unnest(p.polroles) as r
) as role
where p.polpermissive and p.polcmd in ('*', command.letter)
group by p.nspname, p.relname, p.quoted, role.name, command.name
having count(*) > 1
