-- Reads identities; the caller appends the condition.
select
  id, user_id, provider, provider_id, coalesce(email, '') as email,
  coalesce(identity_data ->> 'email_verified', '') = 'true' as is_email_verified
from auth.identities
