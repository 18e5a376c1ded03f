-- A fresh sign-in is one that a found token cannot make by itself. With a token alone somebody can add a second factor or a passkey, and
-- set a password where there is none; the current password is asked for by the auth service ([selvedge.auth] in config.toml).

create or replace function private.signed_in_at() returns timestamptz
  language sql
  stable
  -- Security definer: sessions are not readable by the API.
  security definer
  set search_path = ''
as $$
  -- Renewing a token is no sign-in, and an ended session is none either.
  select max(claim.updated_at)
  from auth.sessions as s
  join auth.mfa_amr_claims as claim on claim.session_id = s.id
  where s.id = (auth.jwt() ->> 'session_id')::uuid and s.user_id = auth.uid()
    and case claim.authentication_method
      -- Accounts of identity providers have no password that was asked for when it was replaced.
      when 'password' then exists (
        select from auth.identities as i where i.user_id = s.user_id and i.provider in ('email', 'phone'))
      else claim.authentication_method in (
        'oauth', 'sso/saml', 'otp', 'magiclink', 'recovery', 'invite', 'email/signup', 'web3')
    end
$$;
comment on function private.signed_in_at() is
  'When the caller last proved who they are, in the session of this request, by something that a token cannot change; null without that.';
