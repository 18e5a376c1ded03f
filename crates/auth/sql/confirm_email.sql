-- The address is proven: user, metadata and identity say so.
with identity as (
  update auth.identities
  set identity_data = identity_data || '{"email_verified": true}', updated_at = $2
  where user_id = $1 and provider = 'email'
)
update auth.users
set email_confirmed_at = $2,
    confirmation_token = '',
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || '{"email_verified": true}',
    updated_at = $2
where id = $1
