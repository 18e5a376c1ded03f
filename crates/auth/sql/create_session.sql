-- Inserts a session with its AMR entry and first refresh token, and records the sign-in in the user's row.
-- $1 session, $2 user, $3 now, $4 user agent, $5 address of the client, $6 AMR method, $7 refresh token, $8 key for
-- counter tokens, $9 end of the session.
-- All parts are one statement: foreign keys are checked at its end, so the order in which PostgreSQL runs them does not
-- matter.
with session as (
  insert into auth.sessions (
    id, user_id, aal, created_at, updated_at, user_agent, ip, refresh_token_hmac_key, refresh_token_counter,
    not_after
  ) values (
    $1, $2, 'aal1', $3, $3, $4::text, $5::text::inet, $8::text, case when $8::text is null then null else 0 end, $9
  )
),
proof as (
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values (gen_random_uuid(), $1, $3, $3, $6::text)
),
-- A session with a key uses counter tokens, which have no rows.
token as (
  insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
  select '00000000-0000-0000-0000-000000000000', $7::text, $2::uuid::text, false, $3, $3, null, $1
  where $8::text is null
)
update auth.users set last_sign_in_at = $3, updated_at = $3 where id = $2
