-- Metadata is there at the INSERT, because projects' triggers read it from NEW; the role comes by the UPDATE that follows.
insert into auth.users (
  instance_id, id, aud, role, email, encrypted_password, raw_app_meta_data, raw_user_meta_data, is_anonymous,
  created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change, invited_at, phone
) values (
  '00000000-0000-0000-0000-000000000000', $1, $2, '', nullif($3::text, ''), $4::text, $5, $6, $7, $8, $8, '', '', '', '', $9,
  nullif($10::text, '')
)
