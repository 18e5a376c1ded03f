-- Makes an address the user's address that the user has proven elsewhere, and deletes tokens that were sent to the old one.
-- $1 user, $2 address, empty for none, $3 whether it counts as confirmed, $4 now.
update auth.users
set email = nullif($2::text, ''),
    email_confirmed_at = case when $3::boolean then coalesce(email_confirmed_at, $4) end,
    raw_user_meta_data = case
      when $3::boolean then raw_user_meta_data
      else coalesce(raw_user_meta_data, '{}') || '{"email_verified": false}'
    end,
    confirmation_token = '', recovery_token = '', reauthentication_token = '',
    email_change = '', email_change_token_new = '', email_change_token_current = '', email_change_confirm_status = 0,
    phone_change = '', phone_change_token = '',
    updated_at = $4
where id = $1
