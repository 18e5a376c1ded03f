select v.nspname::text, v.relname::text, 'view', '',
  format('The materialized view %s can be read through the API.', v.quoted),
  format('revoke select on %s from anon, authenticated', v.quoted)
from api_relations v
where v.relkind = 'm'
