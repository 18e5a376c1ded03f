-- Inserts the phone identity of a user, or replaces its number; other members of the identity data stay. $1 user, $2
-- number, $3 whether it is verified, $4 now.
insert into auth.identities (
  id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
) values (
  gen_random_uuid(), $1::uuid::text, $1,
  jsonb_build_object('sub', $1::uuid::text, 'phone', $2::text, 'email_verified', false, 'phone_verified', $3::boolean),
  'phone', $4, $4, $4
)
on conflict (provider_id, provider) do update
set identity_data = auth.identities.identity_data || jsonb_build_object('phone', $2::text, 'phone_verified', $3::boolean),
    updated_at = $4
