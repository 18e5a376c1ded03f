-- The number is proven. Compat: metadata and identity do not tell. Who has a number is anonymous no longer.
update auth.users
set phone_confirmed_at = $2,
    confirmation_token = '',
    is_anonymous = false,
    updated_at = $2
where id = $1
