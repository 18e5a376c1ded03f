-- The pending address becomes the address; an anonymous user becomes a permanent one.
update auth.users
set email = email_change,
    email_confirmed_at = $2,
    email_change = '',
    email_change_token_new = '',
    email_change_token_current = '',
    email_change_confirm_status = 0,
    is_anonymous = false,
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}')
      || jsonb_build_object('sub', id, 'email', email_change, 'email_verified', true, 'phone_verified', false),
    updated_at = $2
where id = $1
