-- Empties the row of a deleted user. The row stays, because foreign keys of projects refer to it. $1 user, $2 and $3
-- hashes of address and number, null for none, $4 now.
update auth.users
set email = $2::text, phone = $3::text, encrypted_password = '', email_change = '', phone_change = '',
    confirmation_token = '', recovery_token = '', email_change_token_new = '', email_change_token_current = '',
    phone_change_token = '', reauthentication_token = '',
    raw_user_meta_data = '{}', raw_app_meta_data = '{}', deleted_at = $4, updated_at = $4
where id = $1
