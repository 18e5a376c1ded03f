-- Marks each identity with the user's address as verified, after the user has opened a link that was sent there. $1
-- user, $2 now.
update auth.identities i
set identity_data = i.identity_data || '{"email_verified": true}', updated_at = $2
from auth.users u
where u.id = $1 and i.user_id = u.id and u.email <> '' and i.email = lower(u.email)
