-- Makes a number the user's number, and forgets a pending one; an anonymous user becomes permanent. $1 user, $2 now, $3
-- number.
update auth.users
set phone = $3::text,
    phone_confirmed_at = $2,
    phone_change = '',
    phone_change_token = '',
    is_anonymous = false,
    updated_at = $2
where id = $1
