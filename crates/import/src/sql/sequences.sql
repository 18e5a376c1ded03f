-- Sequences of the project, and those of the platform from which copied rows have their ids.
-- Parameter: $1 schemas of the project.
select n.nspname::text, c.relname::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.relkind = 'S' and (
  n.nspname || '.' || c.relname = 'auth.refresh_tokens_id_seq'
  or n.nspname = 'pgmq'
  or (n.nspname = any ($1::text[]) and not exists (
    select from pg_depend as d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
  ))
)
order by 1, 2
