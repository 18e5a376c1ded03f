-- Removes the personal data from the identities of a deleted user ($1). The ids at the providers become hashes:
-- base64url of SHA-256, without padding.
update auth.identities
set identity_data = '{}',
    provider_id = translate(
      -- `translate` replaces `+` and `/` by `-` and `_`, and deletes line feeds, which `encode` inserts into long
      -- texts.
      rtrim(encode(sha256((user_id::text || provider || ':' || provider_id)::bytea), 'base64'), '='), '+/' || chr(10), '-_')
where user_id = $1
