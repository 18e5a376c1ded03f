-- What the later files need: trigram search, and a schema for functions that the API does not expose (it
-- exposes `public` only).

create extension if not exists pg_trgm with schema extensions;

create schema if not exists private;
comment on schema private is 'Trigger and policy helpers of the site; not exposed by the API.';
grant usage on schema private to anon, authenticated, service_role;

create function private.set_updated_at() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end
$$;
comment on function private.set_updated_at() is
  'Before-update trigger: the server, not the client, says when a row was changed.';

create function private.blank_to_null() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- jsonb_populate_record keeps the value in `new` of every column that the JSON object does not name.
  return jsonb_populate_record(new, (
    select jsonb_object_agg(field.key, nullif(btrim(field.value), ''))
    from jsonb_each_text(to_jsonb(new)) as field
    where field.key = any (tg_argv)
  ));
end
$$;
comment on function private.blank_to_null() is
  'Before-write trigger: forms send an empty text where nothing was typed. The columns named as arguments are trimmed, and blank becomes null.';
