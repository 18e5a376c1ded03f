select 'pgmq', q.relname::text, 'table', '',
  format('The queue %s can be reached through the exposed schema pgmq_public without row-level security.', q.relname),
  format('alter table pgmq.%I enable row level security', q.relname)
from pg_class q
join pg_namespace s on s.oid = q.relnamespace
where s.nspname = 'pgmq' and q.relkind in ('r', 'p') and q.relname ~ '^q_' and not q.relrowsecurity
  and 'pgmq_public' = any($1::text[])
