-- Finds a session and locks its row. $1 session.
-- Skips a locked row: a request that waited inside the database would occupy one of the few connections. The service
-- retries.
select id, user_id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, coalesce(aal::text, 'aal1') as aal,
  refresh_token_hmac_key, coalesce(refresh_token_counter, 0) as refresh_token_counter, oauth_client_id
from auth.sessions where id = $1
for update skip locked
