-- Marks each identity with an address as verified, after the user has opened a link that was sent there. $1 user, $2 now,
-- $3 the address, in lowercase. The identity of a phone number has no address of its own.
update auth.identities
set identity_data = identity_data || '{"email_verified": true}', updated_at = $2
where user_id = $1 and email = $3::text and provider <> 'phone'
