-- Makes the pending address the user's address; an anonymous user becomes permanent. $1 user, $2 now.
-- Compat: `email` in `raw_user_meta_data` keeps the address of the sign-up, as in GoTrue.
update auth.users
set email = email_change,
    email_confirmed_at = $2,
    email_change = '',
    email_change_token_new = '',
    email_change_token_current = '',
    email_change_confirm_status = 0,
    is_anonymous = false,
    -- `email_verified` is set only for a user who had no confirmed address before.
    raw_user_meta_data = case
      when email_confirmed_at is null then coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}'
      else raw_user_meta_data
    end,
    updated_at = $2
where id = $1
