-- A link that was mailed to the user's address has been redeemed: each identity with that address is proven.
update auth.identities i
set identity_data = i.identity_data || '{"email_verified": true}', updated_at = $2
from auth.users u
where u.id = $1 and i.user_id = u.id and u.email <> '' and i.email = lower(u.email)
