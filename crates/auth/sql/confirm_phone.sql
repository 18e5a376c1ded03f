-- Marks the number as confirmed; an anonymous user becomes permanent. $1 user, $2 now.
-- Compat: GoTrue changes neither metadata nor identity here.
update auth.users
set phone_confirmed_at = $2,
    confirmation_token = '',
    is_anonymous = false,
    updated_at = $2
where id = $1
