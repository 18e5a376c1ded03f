insert into auth.identities (
  id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
) values (gen_random_uuid(), $1::text, $2, $3, $4::text, $5, $5, $5)
