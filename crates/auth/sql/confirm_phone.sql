-- The number is proven: user, metadata and identity say so. Who has a number is anonymous no longer.
with identity as (
  update auth.identities
  set identity_data = identity_data || '{"phone_verified": true}', updated_at = $2
  where user_id = $1 and provider = 'phone'
)
update auth.users
set phone_confirmed_at = $2,
    confirmation_token = '',
    is_anonymous = false,
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"phone_verified": true}',
    updated_at = $2
where id = $1
