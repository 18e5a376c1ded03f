-- Names that the site's router and its built files occupy, in one list that the tests compare with both; and the heads of the
-- pages that are at such a name.

create function public.reserved_usernames() returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select array[
    'about', 'admin', 'api', 'assets', 'auth', 'bookmarks', 'brand', 'brands', 'create', 'create-outfit', 'dashboard',
    'discovery', 'edit', 'explore', 'favicon.ico', 'favicon.svg', 'functions', 'graphql', 'health', 'help', 'index.html',
    'items', 'likes', 'login', 'logout', 'look', 'manifest.webmanifest', 'metrics', 'moderator', 'notifications', 'null',
    'outfits', 'pg', 'privacy', 'product', 'profile', 'profile-settings', 'realtime', 'reset', 'rest', 'robots.txt', 'root',
    'search', 'settings', 'signup', 'sitemap.xml', 'static', 'storage', 'support', 'terms', 'top', 'undefined', 'www'
  ]
$$;
comment on function public.reserved_usernames() is
  'First path segments that belong to the site or the API, in lower case: nobody can take one as username.';

create or replace function private.is_reserved_username(candidate text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select lower(candidate) = any (public.reserved_usernames())
$$;

create function private.static_page_meta(path text) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select case path
    when '/auth' then jsonb_build_object('title', 'Sign In · Lookbook', 'canonical', '/auth')
    when '/discovery' then jsonb_build_object(
      'title', 'Discovery · Lookbook',
      'description', 'Search outfits and items, and narrow them down by gender, category, brand, style, color and price.',
      'canonical', '/discovery')
    when '/robots.txt' then jsonb_build_object('body', format(
      E'User-agent: *\nAllow: /\nSitemap: %s/sitemap.xml\n', current_setting('request.origin', true)))
    -- A word of the site without a page: nobody can have it as username, so it is not a missing user.
    else case when private.is_reserved_username(split_part(path, '/', 2)) and split_part(path, '/', 3) = ''
      then private.page_not_found('Page not found') end
  end
$$;
comment on function private.static_page_meta(path text) is
  'The head of a page whose address holds no name; the 404 of a reserved word without a page; null for all other paths.';

create or replace function private.sitemap() returns text
  language sql
  stable
  set search_path = ''
as $$
  select '<?xml version="1.0" encoding="UTF-8"?>'
    || '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    || coalesce(string_agg('<url><loc>' || coalesce(current_setting('request.origin', true), '') || page.path || '</loc></url>', ''), '')
    || '</urlset>'
  from (
    select '/' as path
    union all
    select '/discovery'
    union all
    -- Slugs and usernames hold no character that XML or an address would need escaped. A sitemap may have 50 000 entries.
    (select '/look/' || slug from public.combines where status = 'approved' order by created_at desc limit 40000)
    union all
    (select '/' || username from public.profiles where username is not null order by created_at desc limit 9000)
  ) as page
$$;

create or replace function public.page_meta(path text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  -- '/look/camel-hour' → {look,camel-hour}
  segments constant text[] := string_to_array(btrim(path, '/'), '/');
  static constant jsonb := private.static_page_meta(path);
  outfit public.combines;
  profile public.profiles;
begin
  case
    when path = '/' then
      return jsonb_build_object(
        'title', 'Lookbook · Pre-made outfits for you',
        'description', 'Discover curated outfit combinations, save your favorites.',
        'canonical', '/',
        'image', (select main_image from public.combines
                  where status = 'approved' and main_image is not null
                  order by created_at desc limit 1));

    when path = '/sitemap.xml' then
      return jsonb_build_object('body', private.sitemap());

    when static is not null then
      return static;

    when segments[1] = 'look' and cardinality(segments) = 2 then
      -- The approved ones only: nothing else may appear in a preview, even if a policy should once show more to visitors.
      -- Two lookups by index: one condition with `or` on a cast id would read the whole table.
      select * into outfit from public.combines where status = 'approved' and slug = segments[2];
      if outfit.id is null and segments[2] ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        select * into outfit from public.combines where status = 'approved' and id = segments[2]::uuid;
      end if;
      if outfit.id is null then
        return private.page_not_found('Outfit not found');
      end if;
      return jsonb_build_object(
        'title', outfit.name || ' · Lookbook',
        'description', left(coalesce(outfit.meta_description, outfit.description), 300),
        'image', outfit.main_image,
        'canonical', '/look/' || outfit.slug,
        'type', 'article');

    when cardinality(segments) = 1 then
      select * into profile from public.profiles where lower(username) = lower(segments[1]);
      if profile.id is null then
        return private.page_not_found('User Not Found');
      end if;
      return jsonb_build_object(
        'title', coalesce(profile.full_name, '@' || profile.username) || ' · Lookbook',
        'description', left(coalesce(profile.bio, 'Outfits by @' || profile.username), 300),
        'image', profile.avatar_url,
        'canonical', '/' || profile.username,
        'type', 'profile');

    else
      return private.page_not_found('Page not found');
  end case;
end
$$;
