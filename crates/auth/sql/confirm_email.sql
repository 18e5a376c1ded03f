-- The address is proven: user and metadata say so. What the identity knows stays: only a redeemed link speaks for it.
update auth.users
set email_confirmed_at = $2,
    confirmation_token = '',
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}',
    updated_at = $2
where id = $1
