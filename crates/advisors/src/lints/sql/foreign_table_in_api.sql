select t.nspname::text, t.relname::text, 'table', '',
  format('The foreign table %s can be read through the API.', t.quoted),
  format('revoke select on %s from anon, authenticated', t.quoted)
from api_relations t
where t.relkind = 'f'
