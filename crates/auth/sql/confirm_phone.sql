-- Marks a number as confirmed, if it still is the user's number; an anonymous user becomes permanent. $1 user, $2 now, $3
-- the number that was proven.
-- Compat: GoTrue changes neither metadata nor identity here.
update auth.users
set phone_confirmed_at = $2,
    confirmation_token = '',
    is_anonymous = false,
    updated_at = $2
where id = $1 and phone = $3::text
