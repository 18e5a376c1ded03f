select p.nspname::text, p.relname::text, 'policy', p.polname::text,
  format('The policy %I on %s refers to user metadata.', p.polname, p.quoted), null::text
from project_policies p
where concat(p.using_text, ' ', p.check_text) ~ '(user_metadata|raw_user_meta_data)'
