-- Sessions that showed this factor have shown nothing any more.
with downgraded as (
  update auth.sessions set aal = 'aal1', factor_id = null, updated_at = now()
  where user_id = $1 and factor_id = $2
  returning id
)
delete from auth.mfa_amr_claims
where session_id in (select id from downgraded) and authentication_method in ('totp', 'mfa/phone', 'mfa/webauthn')
