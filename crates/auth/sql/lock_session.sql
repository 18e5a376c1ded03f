-- Skips a locked row instead of queueing for it: those who wait shall wait in the service, not hold connections.
select id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, coalesce(aal::text, 'aal1') as aal
from auth.sessions where id = $1
for update skip locked
