-- Skips a locked row instead of queueing for it: those who wait shall wait in the service, not hold connections.
select id, user_id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, coalesce(aal::text, 'aal1') as aal,
  refresh_token_hmac_key, coalesce(refresh_token_counter, 0) as refresh_token_counter
from auth.sessions where id = $1
for update skip locked
