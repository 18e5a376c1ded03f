-- JSON Web Tokens in SQL, as the extension pgjwt offers them (gateway.md §10). That extension is
-- written in SQL with pgcrypto, and so is this file, so the migration runner skips `create extension pgjwt`.

create function extensions.url_encode(data bytea) returns text
  language sql immutable
  return translate(encode(data, 'base64'), E'+/=\n', '-_');

create function extensions.url_decode(data text) returns bytea
  language sql immutable
  return decode(
    rpad(translate(data, '-_', '+/'), (ceil(length(data) / 4.0) * 4)::int, '='), 'base64'
  );

create function extensions.algorithm_sign(signables text, secret text, algorithm text) returns text
  language sql immutable
  return extensions.url_encode(extensions.hmac(
    convert_to(signables, 'utf8'), convert_to(secret, 'utf8'),
    case algorithm when 'HS256' then 'sha256' when 'HS384' then 'sha384' when 'HS512' then 'sha512' else '' end
  ));

create function extensions.sign(payload json, secret text, algorithm text default 'HS256') returns text
  language sql immutable
as $$
  select signables || '.' || extensions.algorithm_sign(signables, secret, algorithm)
  from (
    select extensions.url_encode(convert_to(format('{"alg":"%s","typ":"JWT"}', algorithm), 'utf8'))
      || '.' || extensions.url_encode(convert_to(payload::text, 'utf8')) as signables
  ) as token
$$;

-- `valid` says that the signature fits and that the token is neither expired nor too early.
create function extensions.verify(token text, secret text, algorithm text default 'HS256')
  returns table (header json, payload json, valid boolean)
  language sql stable
as $$
  select
    header,
    payload,
    signature_ok
      and coalesce((payload ->> 'nbf')::numeric <= extract(epoch from now()), true)
      and coalesce((payload ->> 'exp')::numeric > extract(epoch from now()), true)
  from (
    select
      convert_from(extensions.url_decode(part[1]), 'utf8')::json as header,
      convert_from(extensions.url_decode(part[2]), 'utf8')::json as payload,
      part[3] = extensions.algorithm_sign(part[1] || '.' || part[2], secret, algorithm) as signature_ok
    from regexp_split_to_array(token, '\.') as part
  ) as parts
$$;

grant execute on all functions in schema extensions to postgres, anon, authenticated, service_role;
