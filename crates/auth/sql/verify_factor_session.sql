-- Adds the AMR entry of a second factor, raises the session to aal2 and records the factor. $1 session, $2 factor, $3
-- AMR method, $4 now.
with proof as (
  insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
  values (gen_random_uuid(), $1, $4, $4, $3::text)
  on conflict (session_id, authentication_method) do update set updated_at = excluded.updated_at
)
update auth.sessions set aal = 'aal2', factor_id = $2, updated_at = $4 where id = $1
