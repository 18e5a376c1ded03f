select
  coalesce(t.revoked, false) as revoked,
  coalesce(t.updated_at, t.created_at) as updated_at,
  (select a.token from auth.refresh_tokens a
    where a.session_id = t.session_id and a.revoked is not true and a.parent = t.token
    order by a.id desc limit 1) as active_child,
  exists (select from auth.refresh_tokens a
    where a.session_id = t.session_id and a.revoked is not true) as has_active
from auth.refresh_tokens t where t.token = $1::text
