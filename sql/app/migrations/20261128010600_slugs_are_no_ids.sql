-- A page is found by its slug or by its id. A slug in the form of an id took the address of another outfit.

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

  base := btrim(left(regexp_replace(lower(new.name), '[^a-z0-9]+', '-', 'g'), 200), '-');
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

update public.combines as c set slug = 'outfit-' || c.slug where private.is_uuid(c.slug);
update public.items as i set slug = 'item-' || i.slug where private.is_uuid(i.slug);
alter table public.combines add constraint combines_slug_no_id check (not private.is_uuid(slug));
alter table public.items add constraint items_slug_no_id check (not private.is_uuid(slug));
