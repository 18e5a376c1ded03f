-- Marks the address as confirmed in the user's row and metadata. $1 user, $2 now.
-- Identities stay as they are: `verify_identities.sql` marks them after a link was opened.
update auth.users
set email_confirmed_at = $2,
    confirmation_token = '',
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}',
    updated_at = $2
where id = $1
