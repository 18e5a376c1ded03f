-- Inserts a user. The metadata is part of the INSERT, because triggers of projects read it from NEW; the role is set by
-- a later UPDATE, as in GoTrue.
-- The empty tokens are not null, because GoTrue cannot read null there. $1 id, $2 audience, $3 address, $4 password
-- hash, $5 app metadata, $6 user metadata, $7 anonymous, $8 now, $9 time of the invitation, $10 phone number,
-- $11 whether the user signs in by SSO, and then never has a password.
insert into auth.users (
  instance_id, id, aud, role, email, encrypted_password, raw_app_meta_data, raw_user_meta_data, is_anonymous,
  created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change, invited_at, phone,
  is_sso_user
) values (
  '00000000-0000-0000-0000-000000000000', $1, $2, '', nullif($3::text, ''), case when not $11 then $4::text end, $5, $6, $7, $8, $8, '', '', '', '', $9,
  nullif($10::text, ''), $11
)
