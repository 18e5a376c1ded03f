-- Reads a refresh token ($1) and the state of its session's other tokens. The caller holds the lock of the session.
-- `revoked` may be null, which counts as active.
select
  coalesce(t.revoked, false) as revoked,
  coalesce(t.updated_at, t.created_at) as updated_at,
  -- The newest active token that replaced this one.
  (select a.token from auth.refresh_tokens a
    where a.session_id = t.session_id and a.revoked is not true and a.parent = t.token
    order by a.id desc limit 1) as active_child,
  -- Whether the session has any active token. Without one it was revoked as a whole.
  exists (select from auth.refresh_tokens a
    where a.session_id = t.session_id and a.revoked is not true) as has_active
from auth.refresh_tokens t where t.token = $1::text
