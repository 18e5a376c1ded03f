update auth.identities
set identity_data = '{}',
    provider_id = translate(
      rtrim(encode(sha256((user_id::text || provider || ':' || provider_id)::bytea), 'base64'), '='), '+/' || chr(10), '-_')
where user_id = $1
