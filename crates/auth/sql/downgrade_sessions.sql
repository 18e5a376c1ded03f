-- Sessions that showed this factor last have not shown it any more. Another kind of factor that they have shown still counts.
with shown as (
  select id from auth.sessions where user_id = $1 and factor_id = $2
), forgotten as (
  delete from auth.mfa_amr_claims
  where session_id in (select id from shown) and authentication_method = $3::text
)
update auth.sessions s
set factor_id = null,
    updated_at = now(),
    aal = case when exists (
      select from auth.mfa_amr_claims a
      where a.session_id = s.id
        and a.authentication_method in ('totp', 'mfa/phone', 'mfa/webauthn')
        and a.authentication_method <> $3::text
    ) then s.aal else 'aal1' end
where s.id in (select id from shown)
