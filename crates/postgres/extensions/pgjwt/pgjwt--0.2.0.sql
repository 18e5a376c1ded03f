-- pgjwt: JSON Web Tokens signed by HMAC (docs/extensions.md). pgcrypto is in the schema `extensions`, as the platform
-- schema puts it there.

create function @extschema@.url_encode(data bytea) returns text
  language sql immutable
  return translate(encode(data, 'base64'), E'+/=\n', '-_');

create function @extschema@.url_decode(data text) returns bytea
  language sql immutable
  return decode(rpad(translate(data, '-_', '+/'), (ceil(length(data) / 4.0) * 4)::int, '='), 'base64');

-- An algorithm that is not HS256, HS384 or HS512 becomes an empty name, which hmac() refuses.
create function @extschema@.algorithm_sign(signables text, secret text, algorithm text) returns text
  language sql immutable
  return @extschema@.url_encode(extensions.hmac(
    convert_to(signables, 'utf8'), convert_to(secret, 'utf8'),
    case algorithm when 'HS256' then 'sha256' when 'HS384' then 'sha384' when 'HS512' then 'sha512' else '' end
  ));

create function @extschema@.sign(payload json, secret text, algorithm text default 'HS256') returns text
  language sql immutable
as $$
  select signables || '.' || @extschema@.algorithm_sign(signables, secret, algorithm)
  from (
    select @extschema@.url_encode(convert_to(format('{"alg":"%s","typ":"JWT"}', algorithm), 'utf8'))
      || '.' || @extschema@.url_encode(convert_to(payload::text, 'utf8')) as signables
  ) as token
$$;

create function @extschema@.try_cast_double(inp text) returns double precision
  language plpgsql immutable
as $$
begin
  return inp::double precision;
exception when others then
  return null;
end
$$;

-- `valid` is true when the signature fits and the token is neither expired nor too early. A claim that is no number counts
-- as absent.
create function @extschema@.verify(token text, secret text, algorithm text default 'HS256')
  returns table (header json, payload json, valid boolean)
  language sql stable
as $$
  select
    parts.header,
    parts.payload,
    parts.signature_ok
      and coalesce(to_timestamp(@extschema@.try_cast_double(parts.payload ->> 'nbf')) <= now(), true)
      and coalesce(to_timestamp(@extschema@.try_cast_double(parts.payload ->> 'exp')) > now(), true)
  from (
    select
      convert_from(@extschema@.url_decode(part[1]), 'utf8')::json as header,
      convert_from(@extschema@.url_decode(part[2]), 'utf8')::json as payload,
      part[3] = @extschema@.algorithm_sign(part[1] || '.' || part[2], secret, algorithm) as signature_ok
    from regexp_split_to_array(token, '\.') as part
  ) as parts
$$;
