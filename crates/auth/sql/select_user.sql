-- Reads users with their identities and factors as JSON; the caller appends the condition.
-- Columns of text are read as empty strings when they are null: projects insert users by hand (AUTH-089). Times in JSON
-- have the form of API responses: RFC 3339 in UTC with microseconds.
select
  u.id,
  coalesce(u.aud, '') as aud,
  coalesce(u.role, '') as role,
  coalesce(u.email, '') as email,
  coalesce(u.phone, '') as phone,
  coalesce(u.encrypted_password, '') as encrypted_password,
  u.email_confirmed_at, u.phone_confirmed_at, u.confirmed_at, u.invited_at,
  coalesce(u.confirmation_token, '') as confirmation_token, u.confirmation_sent_at,
  coalesce(u.recovery_token, '') as recovery_token, u.recovery_sent_at,
  coalesce(u.email_change, '') as email_change,
  coalesce(u.email_change_token_new, '') as email_change_token_new,
  coalesce(u.email_change_token_current, '') as email_change_token_current,
  u.email_change_sent_at,
  coalesce(u.email_change_confirm_status, 0::smallint) as email_change_confirm_status,
  coalesce(u.phone_change, '') as phone_change,
  coalesce(u.phone_change_token, '') as phone_change_token, u.phone_change_sent_at,
  coalesce(u.reauthentication_token, '') as reauthentication_token, u.reauthentication_sent_at,
  u.last_sign_in_at,
  coalesce(u.raw_app_meta_data, '{}') as raw_app_meta_data,
  coalesce(u.raw_user_meta_data, '{}') as raw_user_meta_data,
  u.created_at, u.updated_at, u.banned_until, u.deleted_at, u.is_sso_user, u.is_anonymous,
  coalesce((
    select json_agg(json_build_object(
      'identity_id', i.id,
      'id', i.provider_id,
      'user_id', i.user_id,
      'identity_data', i.identity_data,
      'provider', i.provider,
      'last_sign_in_at', to_char(i.last_sign_in_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'created_at', to_char(i.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'updated_at', to_char(i.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'email', i.email
    ) order by i.created_at, i.provider, i.id)
    from auth.identities i where i.user_id = u.id
  ), '[]') as identities,
  coalesce((
    select json_agg(json_build_object(
      'id', f.id,
      'created_at', to_char(f.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'updated_at', to_char(f.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'status', f.status,
      'friendly_name', f.friendly_name,
      'factor_type', f.factor_type,
      'is_exhausted', f.factor_type::text = 'recovery_code' and not exists (
        select from auth.mfa_recovery_code_sets s
        join auth.mfa_recovery_codes c on c.mfa_recovery_code_set_id = s.id
        where s.mfa_factor_id = f.id and c.consumed_at is null),
      'phone', coalesce(f.phone, ''),
      'last_challenged_at', to_char(f.last_challenged_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'web_authn_aaguid', f.web_authn_aaguid,
      'last_webauthn_challenge_data', f.last_webauthn_challenge_data
    ) order by f.created_at, f.id)
    from auth.mfa_factors f where f.user_id = u.id
  ), '[]') as factors
from auth.users u
