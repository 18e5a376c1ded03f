-- The pages of shared collections, unlisted outfits and the first steps, at addresses that nobody can take as username; and collections, liked styles,
-- blocks and reports in what people take along.

create or replace function public.reserved_usernames() returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select array[
    'about', 'admin', 'api', 'assets', 'auth', 'bookmarks', 'brand', 'brands', 'collections', 'create', 'create-outfit', 'dashboard',
    'discovery', 'edit', 'explore', 'favicon.ico', 'favicon.svg', 'functions', 'generator', 'graphql', 'health', 'help', 'icons', 'index.html',
    'items', 'likes', 'login', 'logout', 'look', 'manifest.webmanifest', 'metrics', 'moderator', 'notifications', 'null',
    'outfits', 'pg', 'privacy', 'product', 'profile', 'profile-settings', 'realtime', 'reset', 'rest', 'robots.txt', 'root',
    'search', 'settings', 'signup', 'sitemap.xml', 'static', 'storage', 'support', 'sw.js', 'terms', 'top', 'undefined', 'welcome', 'www'
  ]
$$;

create or replace function private.signed_in_page_title(path text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select case
    when path = '/create-outfit' then 'Create Outfit'
    when path = '/notifications' then 'Notifications'
    when path = '/profile' then 'My Profile'
    when path = '/profile/edit' then 'Settings'
    when path = '/profile-settings' then 'Profile Settings'
    when path = '/welcome' then 'Welcome'
    when path = '/admin' or path like '/admin/%' then 'Admin'
  end
$$;

create or replace function private.static_page_meta(path text) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select case
    when path = '/auth' then jsonb_build_object('title', 'Sign In · Lookbook', 'canonical', '/auth')
    when path = '/discovery' then private.describe_home() || jsonb_build_object(
      'title', 'Discovery · Lookbook',
      'description', 'Search outfits and items, and narrow them down by gender, category, brand, style, color and price.',
      'canonical', '/discovery')
    when path = '/terms' then jsonb_build_object(
      'title', 'Terms · Lookbook', 'description', 'What you may publish here, and what happens to it.', 'canonical', '/terms')
    when path = '/privacy' then jsonb_build_object(
      'title', 'Privacy · Lookbook', 'description', 'What is kept about you, who sees it, and how you take it along or delete it.',
      'canonical', '/privacy')
    -- A shared collection is for those who have its link: no preview tells its name.
    when path like '/collections/%' then case
      when private.is_uuid(split_part(path, '/', 3)) and split_part(path, '/', 4) = ''
        and exists (select from public.shared_collection(split_part(path, '/', 3)::uuid))
        then jsonb_build_object('title', 'Collection · Lookbook')
      else private.page_not_found('Collection not found') end
    -- An unlisted outfit is for those who have its link: no preview shows it.
    when path like '/look/%' and private.is_uuid(split_part(path, '/', 3)) and split_part(path, '/', 4) = ''
      and exists (select from public.unlisted_outfit(split_part(path, '/', 3)::uuid))
      then jsonb_build_object('title', 'Outfit · Lookbook')
    when path = '/robots.txt' then jsonb_build_object('body', format(
      E'User-agent: *\nAllow: /\nSitemap: %s/sitemap.xml\n', current_setting('request.origin', true)))
    when private.signed_in_page_title(path) is not null then jsonb_build_object(
      'title', private.signed_in_page_title(path) || ' · Lookbook', 'canonical', path)
    -- A word of the site without a page: nobody can have it as username, so it is not a missing user.
    when private.is_reserved_username(split_part(path, '/', 2)) and split_part(path, '/', 3) = ''
      then private.page_not_found('Page not found')
  end
$$;

create or replace function public.export_my_data() returns jsonb
  language plpgsql
  stable
  set search_path = ''
  -- The caller's policies apply, and every list names its owner: administrators see more rows than their own.
as $$
declare
  me constant uuid := auth.uid();
begin
  if me is null then
    raise exception 'Sign in to export your data.' using errcode = 'insufficient_privilege';
  end if;
  return jsonb_build_object(
    'exported_at', now(),
    'account', jsonb_build_object('id', me, 'email', auth.jwt() ->> 'email', 'phone', auth.jwt() ->> 'phone'),
    'profile', (select to_jsonb(p) from public.profiles as p where p.id = me),
    'outfits', (
      select coalesce(jsonb_agg(to_jsonb(c) order by c.created_at, c.id), '[]')
      from public.combines as c where c.user_id = me),
    'likes', (
      select coalesce(jsonb_agg(to_jsonb(l) order by l.created_at, l.id), '[]')
      from public.likes as l where l.user_id = me),
    'bookmarks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.id), '[]')
      from public.bookmarks as b where b.user_id = me),
    'follows', (
      -- Whom the user follows, and who follows the user: both are about the user.
      select coalesce(jsonb_agg(to_jsonb(f) order by f.created_at, f.follower_id, f.followed_id), '[]')
      from public.follows as f where me in (f.follower_id, f.followed_id)),
    'collections', (
      select coalesce(jsonb_agg(
        to_jsonb(c) || jsonb_build_object('outfits', (
          select coalesce(jsonb_agg(o.combine_id order by o.created_at, o.combine_id), '[]')
          from public.collected_outfits as o where o.collection_id = c.id))
        order by c.created_at, c.id), '[]')
      from public.collections as c where c.user_id = me),
    'liked_styles', (
      select coalesce(jsonb_agg(to_jsonb(s) order by s.created_at, s.style_id), '[]')
      from public.liked_styles as s where s.user_id = me),
    'blocks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.blocked_id), '[]')
      from public.blocks as b where b.blocker_id = me),
    'reports', (
      -- Without who has decided about them.
      select coalesce(jsonb_agg(to_jsonb(r) - 'decided_by' order by r.created_at, r.id), '[]')
      from public.reports as r where r.reporter_id = me),
    'training_images', (
      select coalesce(jsonb_agg(to_jsonb(t) order by t.image_order), '[]')
      from public.user_training_images as t where t.user_id = me),
    'notifications', (
      select coalesce(jsonb_agg(to_jsonb(n) order by n.created_at, n.id), '[]')
      from public.notifications as n where n.user_id = me),
    'generated_pictures', (
      -- The columns that their owner may read; the others say how the server works.
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'id', g.id, 'combine_id', g.combine_id, 'title', g.title, 'status', g.status, 'error', g.error,
          'bucket', g.result_bucket, 'name', g.result_name, 'is_preview', g.result_is_preview,
          'created_at', g.created_at, 'finished_at', g.finished_at)
        order by g.created_at, g.id), '[]')
      from public.generated_pictures as g where g.user_id = me),
    'files', (
      select coalesce(jsonb_agg(
        jsonb_build_object('bucket', o.bucket_id, 'name', o.name) order by o.bucket_id, o.name), '[]')
      from storage.objects as o where private.is_own_object(o.bucket_id, o.name)));
end
$$;
