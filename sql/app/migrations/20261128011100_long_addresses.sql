-- Addresses of pictures may have 2048 characters, which are up to 8 kB, and an index holds values of 2.7 kB at most: a long one made
-- the server fail. Indexes hold a hash of the file, and an address that is longer than any file's names none.

create or replace function private.file_at(url text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  -- The whole address, from its first character to its last. Its host does not count, because rows may hold absolute addresses
  -- of this server. Browsers take `\` for `/` and resolve `..` before they send a request, so an address with either names
  -- another file than it seems to, and names none here.
  select file.path
  from (
    select private.decode_url(coalesce(
      substring(
        url from
        '^(?:https?://[^/?#\\\s]+)?/storage/v1/(?:object|render/image)/(?:public|authenticated|sign)/([^?#\\\s]+)(?:\?[^#\\\s]*)?$'),
      -- Training photos are also named by their path within the bucket.
      'profile-avatars/' || substring(url from '^/?(?:profile-avatars/)?(training-images/[^?#\\\s]+)(?:\?[^#\\\s]*)?$')))
  ) as file (path)
  where url !~* '%(2f|5c)' and file.path !~ '[\\[:cntrl:]]'
    and file.path !~ '(^|/)\.{0,2}(/|$)' and strpos(file.path, '/') > 1
    -- Names of objects have at most 1024 bytes, names of buckets 100.
    and octet_length(file.path) <= 1125
$$;

create function private.picture_key(url text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select md5(coalesce(private.file_at(url), url))
$$;
comment on function private.picture_key(text) is
  'Tells pictures apart: the same for all addresses of one file, and short enough for an index.';

drop index if exists public.items_image_file_idx, public.combines_main_image_file_idx, public.profiles_avatar_file_idx;
drop index public.items_image_idx, public.combines_main_image_idx;
create index items_image_idx on public.items (private.picture_key(image));
create index combines_main_image_idx on public.combines (private.picture_key(main_image));
create index profiles_avatar_idx on public.profiles (private.picture_key(avatar_url));

create or replace function public.picture_is_used(url text) returns boolean
  language plpgsql
  stable
  -- The caller's policies apply: administrators see every row of these tables.
  set search_path = ''
as $$
declare
  key constant text := private.picture_key(url);
begin
  perform private.require_admin();
  return exists (select 1 from public.items as i where private.picture_key(i.image) = key)
      or exists (select 1 from public.combines as c where private.picture_key(c.main_image) = key)
      or exists (select 1 from public.brands as b where private.picture_key(b.logo) = key)
      or exists (select 1 from public.categories as c where private.picture_key(c.icon) = key)
      or exists (select 1 from public.styles as s where private.picture_key(s.image) = key)
      or exists (select 1 from public.outfit_styles as s where private.picture_key(s.image) = key)
      or exists (select 1 from public.profiles as p where private.picture_key(p.avatar_url) = key);
end
$$;
