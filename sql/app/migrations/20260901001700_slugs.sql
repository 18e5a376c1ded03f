-- Items and outfits always have a slug; forms may leave it out.

create function private.set_slug() returns trigger
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
    return new; -- the unique constraint judges what people type
  end if;

  base := btrim(left(regexp_replace(lower(new.name), '[^a-z0-9]+', '-', 'g'), 200), '-');
  if base is null or base = '' then
    base := fallback || '-' || left(new.id::text, 8);
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
comment on function private.set_slug() is
  'Before-write trigger (fallback word): makes a slug from the name where none is given, with eight characters of the id when the plain one is taken.';

create trigger items_set_slug
  before insert or update of slug on public.items
  for each row execute function private.set_slug('item');
create trigger combines_set_slug
  before insert or update of slug on public.combines
  for each row execute function private.set_slug('outfit');
