-- supabase_vault: secrets that are stored encrypted (docs/extensions.md, docs/decisions.md "Vault").
--
-- Whoever owns the schema could rename it and put functions of its own in its place, which the functions below would then call
-- with a superuser's rights. So a schema that somebody else has made is taken over, if nothing is in it yet.
do $$
begin
  if exists (
    select from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
    where n.nspname = 'vault' and not r.rolsuper and (
      n.nspacl is not null or exists (
        select from pg_catalog.pg_depend as d
        where d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.refobjid = n.oid
          and d.classid <> 'pg_catalog.pg_extension'::pg_catalog.regclass
      )
    )
  ) then
    raise exception 'the schema "vault" must be empty or belong to a superuser';
  end if;
end
$$;
alter schema vault owner to current_user;

-- The functions below are bound to the library of pgcrypto and not to the functions of the extension pgcrypto: `postgres`
-- may drop that extension and put functions of its own in their place, which would then be handed the key.

create function vault._hmac(data bytea, key bytea, type text) returns bytea
  language c immutable strict parallel safe as '$libdir/pgcrypto', 'pg_hmac';
create function vault._encrypt_cbc(data bytea, key bytea, iv bytea, type text) returns bytea
  language c immutable strict parallel safe as '$libdir/pgcrypto', 'pg_encrypt_iv';
create function vault._decrypt_cbc(data bytea, key bytea, iv bytea, type text) returns bytea
  language c immutable strict parallel safe as '$libdir/pgcrypto', 'pg_decrypt_iv';
create function vault._random_bytes(length integer) returns bytea
  language c strict parallel safe as '$libdir/pgcrypto', 'pg_random_bytes';

-- Where the root key is on the database's machine; empty for the embedded cluster, which has it beside its data directory.
create table vault._key_file (
  is_only boolean primary key default true check (is_only),
  path text not null
);
-- The path leads to a file that a superuser reads, so only a superuser sets it, whatever rights another role has on tables. The platform
-- schema makes the function after it has created this extension for the first time.
do $$
begin
  if pg_catalog.to_regprocedure('_selvedge.refuse_change()') is not null then
    create trigger selvedge_refuse_change before insert or update or delete on vault._key_file
      for each row execute function _selvedge.refuse_change();
    alter table vault._key_file enable always trigger selvedge_refuse_change;
  end if;
end
$$;

-- Reads the root key. Only the owner may call this.
create function vault._root_key() returns bytea
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  path text := coalesce((select file.path from vault._key_file as file), '../vault.key');
  content text := pg_read_file(path, 0, 1024, true);
  root_key bytea;
begin
  if content is null then
    raise object_not_in_prerequisite_state using
      message = 'the vault has no key',
      hint = 'Set [selvedge] vault_key_file to a file on the database''s machine with 64 hexadecimal digits, '
        'and run `selvedge migrate up`.';
  end if;
  if content !~ '^\s*[0-9A-Fa-f]{64}\s*$' then
    raise object_not_in_prerequisite_state using
      message = 'the key of the vault is not 64 hexadecimal digits';
  end if;
  root_key := decode(btrim(content, E' \t\r\n'), 'hex');
  return root_key;
end
$$;

-- 64 bytes for one context and key id: the first half authenticates, the second half encrypts.
create function vault._derive_keys(key_id bigint, context bytea) returns bytea
  language sql stable
  set search_path = pg_catalog, pg_temp
  return vault._hmac(int8send(key_id) || context, vault._root_key(), 'sha512'::text);

-- AEAD_AES_256_CBC_HMAC_SHA_512 (RFC 7518 §5.2.5): the ciphertext followed by the first 32 bytes of the HMAC over additional
-- data, initialization vector, ciphertext and the number of bits of the additional data.
create function vault._seal(keys bytea, iv bytea, additional bytea, message bytea) returns bytea
  language plpgsql immutable strict
  set search_path = pg_catalog, pg_temp
as $$
declare
  ciphertext bytea := vault._encrypt_cbc(message, substring(keys from 33 for 32), iv, 'aes-cbc/pad:pkcs'::text);
  authenticated bytea := additional || iv || ciphertext || int8send(octet_length(additional) * 8::bigint);
begin
  return ciphertext || substring(vault._hmac(authenticated, substring(keys from 1 for 32), 'sha512'::text) from 1 for 32);
end
$$;

-- The message of a sealed text, or null when key, vector, additional data or text are not those of the sealing.
create function vault._open(keys bytea, iv bytea, additional bytea, sealed bytea) returns bytea
  language plpgsql immutable strict
  set search_path = pg_catalog, pg_temp
as $$
declare
  mac_key bytea := substring(keys from 1 for 32);
  length integer := octet_length(sealed) - 32;
  ciphertext bytea;
  expected bytea;
begin
  if length < 16 then
    return null;
  end if;
  ciphertext := substring(sealed from 1 for length);
  expected := substring(
    vault._hmac(additional || iv || ciphertext || int8send(octet_length(additional) * 8::bigint), mac_key, 'sha512'::text)
    from 1 for 32
  );
  -- Digests of both tags are compared, so that the time of a comparison tells nothing about the expected tag.
  if vault._hmac(expected, mac_key, 'sha256'::text) <> vault._hmac(substring(sealed from length + 1), mac_key, 'sha256'::text) then
    return null;
  end if;
  return vault._decrypt_cbc(ciphertext, substring(keys from 33 for 32), iv, 'aes-cbc/pad:pkcs'::text);
end
$$;

-- Additional data with the nonce; its length goes first, so that no two pairs give the same bytes.
create function vault._bind_nonce(additional bytea, nonce bytea) returns bytea
  language sql immutable
  set search_path = pg_catalog, pg_temp
  return int4send(coalesce(octet_length(nonce), 0)) || coalesce(nonce, ''::bytea) || coalesce(additional, ''::bytea);

-- The initialization vector is a digest of message, additional data and nonce. A secret that is changed under its old nonce
-- therefore gets another vector; equal inputs give equal texts, as in the original.
create function vault._crypto_aead_det_encrypt(
  message bytea, additional bytea, key_id bigint, context bytea default 'pgsodium'::bytea, nonce bytea default null
) returns bytea
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  keys bytea;
  bound bytea := vault._bind_nonce(additional, nonce);
  iv bytea;
begin
  if message is null then
    return null;
  end if;
  keys := vault._derive_keys(key_id, context);
  iv := substring(vault._hmac(int4send(octet_length(bound)) || bound || message, keys, 'sha512'::text) from 1 for 16);
  return iv || vault._seal(keys, iv, bound, message);
end
$$;

create function vault._crypto_aead_det_decrypt(
  message bytea, additional bytea, key_id bigint, context bytea default 'pgsodium'::bytea, nonce bytea default null
) returns bytea
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  opened bytea;
begin
  if message is null then
    return null;
  end if;
  opened := vault._open(
    vault._derive_keys(key_id, context), substring(message from 1 for 16), vault._bind_nonce(additional, nonce),
    substring(message from 17)
  );
  if opened is null then
    raise data_corrupted using
      message = 'the secret cannot be decrypted',
      detail = 'Its text was changed, or it was encrypted with another key.';
  end if;
  return opened;
end
$$;

create function vault._crypto_aead_det_noncegen() returns bytea
  language sql volatile
  set search_path = pg_catalog, pg_temp
  return vault._random_bytes(16);

create table vault.secrets (
  id uuid primary key default gen_random_uuid(),
  name text,
  description text not null default '',
  secret text not null,
  key_id uuid,
  nonce bytea default vault._crypto_aead_det_noncegen(),
  created_at timestamptz not null default current_timestamp,
  updated_at timestamptz not null default current_timestamp
);
comment on table vault.secrets is 'Secrets in encrypted form; vault.decrypted_secrets shows them in clear.';
create unique index secrets_name_idx on vault.secrets (name) where name is not null;

create view vault.decrypted_secrets as
select
  s.id,
  s.name,
  s.description,
  s.secret,
  convert_from(
    vault._crypto_aead_det_decrypt(
      message := decode(s.secret, 'base64'), additional := convert_to(s.id::text, 'utf8'), key_id := 0::bigint,
      context := 'pgsodium'::bytea, nonce := s.nonce
    ),
    'utf8'
  ) as decrypted_secret,
  s.key_id,
  s.nonce,
  s.created_at,
  s.updated_at
from vault.secrets as s;

-- Unlike a plain INSERT followed by an UPDATE, this never writes the clear text to the table or its log.
create function vault.create_secret(
  new_secret text, new_name text default null, new_description text default '', new_key_id uuid default null
) returns uuid
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  new_id uuid := gen_random_uuid();
  new_nonce bytea := vault._crypto_aead_det_noncegen();
begin
  insert into vault.secrets (id, secret, name, description, nonce)
  values (
    new_id,
    encode(
      vault._crypto_aead_det_encrypt(
        message := convert_to(new_secret, 'utf8'), additional := convert_to(new_id::text, 'utf8'), key_id := 0::bigint,
        nonce := new_nonce
      ),
      'base64'
    ),
    new_name, new_description, new_nonce
  );
  return new_id;
end
$$;

create function vault.update_secret(
  secret_id uuid, new_secret text default null, new_name text default null, new_description text default null,
  new_key_id uuid default null
) returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  update vault.secrets as s
  set
    secret = coalesce(
      encode(
        vault._crypto_aead_det_encrypt(
          message := convert_to(new_secret, 'utf8'), additional := convert_to(s.id::text, 'utf8'), key_id := 0::bigint,
          nonce := s.nonce
        ),
        'base64'
      ),
      s.secret
    ),
    name = coalesce(new_name, s.name),
    description = coalesce(new_description, s.description),
    updated_at = now()
  where s.id = secret_id
$$;

revoke all on all functions in schema vault from public;

grant usage on schema vault to postgres with grant option;
grant select on vault._key_file to postgres;
-- Without REFERENCES: a foreign key is checked with the rights of the owner of this table, by casts of the referencing type.
grant select, delete, truncate on vault.secrets, vault.decrypted_secrets to postgres with grant option;
grant execute on function
  vault.create_secret, vault.update_secret, vault._crypto_aead_det_decrypt
  to postgres with grant option;
grant usage on schema vault to service_role;
grant select, delete on vault.secrets, vault.decrypted_secrets to service_role;
grant execute on function vault.create_secret, vault.update_secret, vault._crypto_aead_det_decrypt to service_role;

select pg_catalog.pg_extension_config_dump('vault.secrets', '');
