-- Every sign-in is a session of its own, with its proof (AMR), its first refresh token, and a note at the user. A session whose
-- tokens are counters has a key instead of token rows.
with session as (
  insert into auth.sessions (
    id, user_id, aal, created_at, updated_at, user_agent, ip, refresh_token_hmac_key, refresh_token_counter
  ) values (
    $1, $2, 'aal1', $3, $3, $4::text, $5::text::inet, $8::text, case when $8::text is null then null else 0 end
  )
),
proof as (
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values (gen_random_uuid(), $1, $3, $3, $6::text)
),
token as (
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select '00000000-0000-0000-0000-000000000000', $7::text, $2::uuid::text, false, $3, $3, null, $1
  where $8::text is null
)
update auth.users set last_sign_in_at = $3, updated_at = $3 where id = $2
