-- Files that no row shows: what a closed browser left between an upload and the saving of its form, and what could not be deleted
-- together with its row.

create function private.decode_url(encoded text) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  if position('%' in encoded) = 0 then
    return encoded;
  end if;
  return convert_from((
    select string_agg(
      case when part.text[1] ~ '^%[0-9a-fA-F]{2}$' then decode(substr(part.text[1], 2), 'hex')
        else convert_to(part.text[1], 'UTF8') end,
      '' order by part.place)
    from regexp_matches(encoded, '%[0-9a-fA-F]{2}|%|[^%]+', 'g') with ordinality as part (text, place)), 'UTF8');
exception
  -- Not UTF-8, so it is no name of a file.
  when character_not_in_repertoire or untranslatable_character then
    return encoded;
end
$$;
comment on function private.decode_url(text) is
  'Takes percent-encoding out of a path.';

create function private.file_at(url text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  -- A part of the address counts whatever its host is: rows may hold absolute addresses of this server.
  select private.decode_url(coalesce(
    substring(url from '/storage/v1/(?:object|render/image)/(?:public|authenticated|sign)/([^?#]+)'),
    -- Training photos are also named by their path within the bucket.
    'profile-avatars/' || substring(url from '^/?(?:profile-avatars/)?(training-images/[^?#]+)')))
$$;
comment on function private.file_at(text) is
  'Bucket and name of the stored file at an address, as bucket/name; null for addresses elsewhere.';

create function private.shown_files() returns setof text
  language sql
  stable
  set search_path = ''
as $$
  select private.file_at(picture.url)
  from (
    select image from public.items
    union all select main_image from public.combines
    union all select logo from public.brands
    union all select icon from public.categories
    union all select image from public.styles
    union all select image from public.outfit_styles
    union all select avatar_url from public.profiles
    union all select image_url from public.user_training_images
  ) as picture (url)
  where picture.url is not null
$$;
comment on function private.shown_files() is
  'Every file that a row shows, as bucket/name; null for pictures elsewhere.';

create function private.orphan_age(bucket text) returns interval
  language sql
  immutable
  set search_path = ''
as $$
  -- The draft of an outfit is kept in the browser with the address of its picture until it is submitted.
  select case when bucket = 'user-outfit-images' then interval '30 days' else interval '1 day' end
$$;
comment on function private.orphan_age(text) is
  'How old a file must be to count as an orphan: a younger one may belong to a form that is still open.';

create function public.storage_orphans(min_age interval default null, max_results int default 1000)
  returns table (bucket text, path text, bytes bigint, created_at timestamptz, total bigint, total_bytes bigint)
  language plpgsql
  stable
  -- Security definer: it compares with the rows of everybody.
  security definer
  set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.require_admin();
  return query
    with orphan as (
      select o.bucket_id, o.name, coalesce((o.metadata ->> 'size')::bigint, 0) as size, o.created_at
      from storage.objects as o
      -- Other buckets, such as those of an extension of the site, are not known here.
      where o.bucket_id in (
          'images', 'brand-logos', 'category-icons', 'combine-images', 'avatars', 'user-outfit-images', 'profile-avatars')
        and o.created_at < now() - coalesce(min_age, private.orphan_age(o.bucket_id))
        and not exists (
          select 1 from private.shown_files() as shown (file) where shown.file = o.bucket_id || '/' || o.name))
    select orphan.bucket_id, orphan.name, orphan.size, orphan.created_at,
      count(*) over (), (sum(orphan.size) over ())::bigint
    from orphan
    order by orphan.created_at, orphan.bucket_id, orphan.name
    limit least(greatest(max_results, 0), 1000);
end
$$;
comment on function public.storage_orphans(interval, int) is
  'Administrators only: files that no row shows, oldest first, with the number and size of all. Without min_age, files older than a day, and pictures of drafts older than 30 days.';

revoke execute on function public.storage_orphans(interval, int) from public, anon;
grant execute on function public.storage_orphans(interval, int) to authenticated;
