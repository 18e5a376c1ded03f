-- Inserts an identity. $1 the user's id at the provider, $2 user, $3 identity data, $4 provider, $5 now.
insert into auth.identities (
  id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
) values (gen_random_uuid(), $1::text, $2, $3, $4::text, $5, $5, $5)
