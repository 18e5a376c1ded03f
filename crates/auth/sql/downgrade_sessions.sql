-- Lowers the user's ($1) sessions that were verified with this factor ($2), but for one ($3), to aal1, and deletes the AMR entries of
-- second factors.
with downgraded as (
  update auth.sessions set aal = 'aal1', factor_id = null, updated_at = now()
  where user_id = $1 and factor_id = $2 and id is distinct from $3::uuid
  returning id
)
delete from auth.mfa_amr_claims
where session_id in (select id from downgraded) and authentication_method in ('totp', 'mfa/phone', 'mfa/webauthn', 'mfa/recovery_code')
