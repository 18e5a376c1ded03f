select p.nspname::text, p.relname::text, 'policy', p.polname::text,
  format('The policy %I on %s calls a function about the caller for each row.', p.polname, p.quoted), null::text
from project_policies p
where regexp_replace(
    concat(p.using_text, ' ', p.check_text),
    'select\s+\(*(auth\.(uid|jwt|role|email)\(|current_setting\()', '', 'gi'
  ) ~* '(auth\.(uid|jwt|role|email)\(|current_setting\()'
