-- One reader of the addresses of stored files. Two readers that were not anchored disagreed about one text: where the one saw a file
-- in the caller's folder, the other saw the file of somebody else whose address stood in the query.

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
$$;
comment on function private.file_at(text) is
  'Bucket and name of the stored file at an address, as bucket/name; null for addresses elsewhere, and for those that name no file unambiguously. The only reader of such addresses.';

create or replace function private.is_own_picture(bucket text, user_id uuid, url text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select coalesce(
    starts_with(url, '/storage/v1/object/public/') and url !~ '[?#]'
      and starts_with(private.file_at(url), bucket || '/' || user_id || '/'),
    false)
$$;
comment on function private.is_own_picture(text, uuid, text) is
  'True for the root-relative address of a file in the user''s own folder of a public bucket.';

-- A picture may be named by several addresses: with and without a host, with and without percent-encoding.
create or replace function public.picture_is_used(url text) returns boolean
  language plpgsql
  stable
  -- The caller's policies apply: administrators see every row of these tables.
  set search_path = ''
as $$
declare
  file constant text := private.file_at(url);
begin
  perform private.require_admin();
  return exists (select 1 from public.items as i where i.image = url or private.file_at(i.image) = file)
      or exists (select 1 from public.combines as c where c.main_image = url or private.file_at(c.main_image) = file)
      or exists (select 1 from public.brands as b where b.logo = url or private.file_at(b.logo) = file)
      or exists (select 1 from public.categories as c where c.icon = url or private.file_at(c.icon) = file)
      or exists (select 1 from public.styles as s where s.image = url or private.file_at(s.image) = file)
      or exists (select 1 from public.outfit_styles as s where s.image = url or private.file_at(s.image) = file)
      or exists (select 1 from public.profiles as p where p.avatar_url = url or private.file_at(p.avatar_url) = file);
end
$$;

-- 20261128011100_long_addresses.sql makes the indexes for this function.

-- Addresses that were accepted before and name no own file any more.
update public.profiles as p set avatar_url = null
where p.avatar_url ~ '\\' and starts_with(p.avatar_url, '/');
update public.combines as c set main_image = null
where c.main_image ~ '\\' and starts_with(c.main_image, '/') and not c.created_by_admin;
