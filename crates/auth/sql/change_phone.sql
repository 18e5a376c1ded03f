-- The pending number becomes the number; an anonymous user becomes a permanent one.
update auth.users
set phone = phone_change,
    phone_confirmed_at = $2,
    phone_change = '',
    phone_change_token = '',
    is_anonymous = false,
    updated_at = $2
where id = $1
