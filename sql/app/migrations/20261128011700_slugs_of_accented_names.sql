-- "Chloé" became "chlo": letters with accents are their plain letters in an address.

create function private.plain_letters(name text) returns text
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  -- An accent is a sign of its own in this form. The letters below have none.
  select replace(replace(replace(replace(
    translate(
      regexp_replace(normalize(lower(name), nfkd), '[\u0300-\u036f]', '', 'g'),
      'øłđðı', 'olddi'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;
comment on function private.plain_letters(text) is 'The text in lower case, with Latin letters without their accents.';

create or replace function private.set_slug() returns trigger
  language plpgsql
  -- Security definer: the slug may be in use by a row that the writer cannot see.
  security definer
  set search_path = ''
as $$
declare
  fallback constant text := tg_argv[0];
  base  text;
  taken boolean;
begin
  new.slug := btrim(coalesce(new.slug, ''));
  if new.slug <> '' then
    return new; -- the constraints judge what people type
  end if;

  base := btrim(left(regexp_replace(private.plain_letters(new.name), '[^a-z0-9]+', '-', 'g'), 200), '-');
  if base is null or base = '' then
    base := fallback || '-' || left(new.id::text, 8);
  elsif private.is_uuid(base) then
    base := fallback || '-' || base;
  end if;
  -- If two rows with one name are inserted concurrently, the second waits and then sees the first. One lock
  -- per table and not per name, or a bulk insert would fill the server's lock table.
  perform pg_advisory_xact_lock(hashtextextended('slugs of ' || tg_table_name, 0));
  execute format('select exists (select 1 from public.%I where slug = $1 and id <> $2)', tg_table_name)
    into taken using base, new.id;
  new.slug := case when taken then base || '-' || left(new.id::text, 8) else base end;
  return new;
end
$$;

