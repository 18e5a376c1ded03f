-- Marks an address as confirmed in the user's row and metadata, if it still is the user's address. $1 user, $2 now, $3
-- the address that was proven, in lowercase.
-- Identities stay as they are: `verify_identities.sql` marks them after a link was opened.
update auth.users
set email_confirmed_at = $2,
    confirmation_token = '',
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}',
    updated_at = $2
where id = $1 and lower(email) = $3::text
