-- The head of each page, for crawlers and link previews: `[selvedge] page_meta` in config.toml. The server calls it as anon,
-- so row-level security decides what it can see: a pending or rejected outfit is not found, like one that does not exist.

create function private.page_not_found(title text) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  select jsonb_build_object('status', 404, 'title', title || ' · Lookbook')
$$;
comment on function private.page_not_found(text) is
  'The head of a page that does not exist; the site itself shows what is missing.';

create function private.sitemap() returns text
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
    -- Slugs and usernames hold no character that XML or an address would need escaped. A sitemap may have 50 000 entries.
    (select '/look/' || slug from public.combines where status = 'approved' order by created_at desc limit 40000)
    union all
    (select '/' || username from public.profiles where username is not null order by created_at desc limit 9000)
  ) as page
$$;
comment on function private.sitemap() is
  'The addresses of all public pages in the format of sitemaps.org.';

create function public.page_meta(path text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  -- '/look/camel-hour' → {look,camel-hour}
  segments constant text[] := string_to_array(btrim(path, '/'), '/');
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

    when path = '/auth' then
      return jsonb_build_object('title', 'Sign In · Lookbook', 'canonical', '/auth');

    when path = '/robots.txt' then
      return jsonb_build_object('body', format(
        E'User-agent: *\nAllow: /\nSitemap: %s/sitemap.xml\n', current_setting('request.origin', true)));

    when path = '/sitemap.xml' then
      return jsonb_build_object('body', private.sitemap());

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
comment on function public.page_meta(text) is
  'Title, description, picture, canonical address, type and status of the page at a path; the whole body of robots.txt and sitemap.xml.';
