-- The pending address becomes the address; an anonymous user becomes a permanent one. Compat: `email` in the metadata is what the
-- user said at the sign-up, and stays.
update auth.users
set email = email_change,
    email_confirmed_at = $2,
    email_change = '',
    email_change_token_new = '',
    email_change_token_current = '',
    email_change_confirm_status = 0,
    is_anonymous = false,
    raw_user_meta_data = case
      when email_confirmed_at is null then coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}'
      else raw_user_meta_data
    end,
    updated_at = $2
where id = $1
