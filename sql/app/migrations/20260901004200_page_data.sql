-- The pages of items and brands, and with every page what a browser needs first: `preload` (the pictures in view) and `data`
-- (the rows of the page's first queries). Without them a browser would load the page, then the script, then the rows, then the
-- pictures, one after the other. Rows have the columns that the site's own queries select (frontend/src/app/page-data.ts).

create function private.is_uuid(value text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select value ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;
comment on function private.is_uuid(text) is
  'True for the text form of a UUID, which can be cast without an error.';

create function private.outfit_row(outfit public.combines) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select jsonb_build_object(
    'id', outfit.id, 'slug', outfit.slug, 'name', outfit.name, 'description', outfit.description,
    'main_image', outfit.main_image, 'main_image_color', outfit.main_image_color, 'image_alt', outfit.image_alt,
    'gender', outfit.gender, 'item_ids', outfit.item_ids, 'outfit_styles', outfit.outfit_styles,
    'colors', outfit.colors, 'status', outfit.status, 'created_at', outfit.created_at,
    'creator', (
      select jsonb_build_object(
        'id', p.id, 'username', p.username, 'full_name', p.full_name, 'avatar_url', p.avatar_url)
      from public.profiles as p where p.id = outfit.user_id))
$$;
comment on function private.outfit_row(public.combines) is
  'An outfit as the site''s lists select it, with its creator.';

create function private.item_row(item public.items) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select jsonb_build_object(
    'id', item.id, 'slug', item.slug, 'name', item.name, 'description', item.description, 'image', item.image,
    'image_color', item.image_color, 'price', item.price, 'gender', item.gender, 'colors', item.colors,
    'source_url', item.source_url,
    'brand', (select jsonb_build_object('id', b.id, 'name', b.name) from public.brands as b where b.id = item.brand_id),
    'category', (
      select jsonb_build_object('id', c.id, 'name', c.name) from public.categories as c where c.id = item.category),
    'subcategory', (
      select jsonb_build_object('id', s.id, 'name', s.name) from public.subcategories as s
      where s.id = item.subcategory_id))
$$;
comment on function private.item_row(public.items) is
  'An item as the site''s lists select it, with the names of brand, category and subcategory.';

create function private.brand_row(brand public.brands) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  select jsonb_build_object('id', brand.id, 'name', brand.name, 'logo', brand.logo, 'description', brand.description)
$$;
comment on function private.brand_row(public.brands) is
  'A brand as its page selects it.';

create function private.picture_preload(url text, source_width int, sizes text) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  -- The same candidates in the same order as lib/images.ts: any difference, and the browser loads the picture twice.
  select case
    when url ~* '^/storage/v1/object/public/[^?#]+\.(webp|png|jpe?g|gif)$' then jsonb_build_object(
      'href', url,
      'imagesrcset', (
        select string_agg(
          format('%s?width=%s %sw', replace(url, '/storage/v1/object/', '/storage/v1/render/image/'), width, width),
          ', ' order by width)
        from (
          select distinct least(width, source_width) as width from unnest(array[240, 480, 720, 1200]) as width
        ) as widths),
      'imagesizes', sizes)
    when url is not null then jsonb_build_object('href', url)
  end
$$;
comment on function private.picture_preload(text, int, text) is
  'A preload of a picture of this width in pixels, shown in the given sizes; null without a picture.';

create function private.preload_page_picture(url text, source_width int) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  -- The sizes are those of the large picture on the pages of outfits and items (components/gallery.tsx).
  select coalesce(jsonb_agg(preload || '{"fetchpriority": "high"}'), '[]')
  from private.picture_preload(
    url, source_width, '(min-width: 1280px) 608px, (min-width: 768px) 50vw, 100vw') as preload
  where preload is not null
$$;
comment on function private.preload_page_picture(text, int) is
  'The preload of the large picture of a page, in a list; an empty list without a picture.';

create function private.list_preload(urls text[], source_width int) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  -- The sizes are those of cards in the site's grids (features/outfits/components/outfit-grid.tsx).
  select coalesce(jsonb_agg(preload || '{"fetchpriority": "high"}'), '[]')
  from unnest(urls) with ordinality as picture (url, place)
  cross join lateral private.picture_preload(
    picture.url, source_width,
    '(min-width: 1536px) 17vw, (min-width: 1280px) 20vw, (min-width: 768px) 28vw, 46vw') as preload
  where picture.place <= 4 and preload is not null
$$;
comment on function private.list_preload(text[], int) is
  'Preloads of the first four pictures of a list, those in view when the page opens.';

create function private.vocabulary() returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select jsonb_build_object(
    'outfit_styles', (
      select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name) order by s.name), '[]')
      from public.outfit_styles as s),
    'colors', (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', c.id, 'name', c.name, 'hex_code', c.hex_code) order by c.name), '[]')
      from public.colors as c))
$$;
comment on function private.vocabulary() is
  'Names of outfit styles and colors, which rows hold by id.';

create function private.describe_home() returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  outfits public.combines[] := array(
    select c from public.combines as c
    where c.status = 'approved' order by c.created_at desc, c.id limit 24);
begin
  return jsonb_build_object(
    'title', 'Lookbook · Pre-made outfits for you',
    'description', 'Discover curated outfit combinations, save your favorites.',
    'canonical', '/',
    'image', (select o.main_image from unnest(outfits) as o where o.main_image is not null limit 1),
    'preload', private.list_preload(array(select o.main_image from unnest(outfits) as o), 1200),
    'data', private.vocabulary() || jsonb_build_object(
      'newest_outfits',
      (select coalesce(jsonb_agg(private.outfit_row(o)), '[]') from unnest(outfits) as o)));
end
$$;
comment on function private.describe_home() is
  'Head and first rows of the dashboard: the first page of approved outfits.';

create function private.describe_outfit(slug_or_id text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  outfit public.combines;
begin
  -- The approved ones only: nothing else may appear in a preview, even if a policy should once show more to visitors.
  -- Two lookups by index: one condition with `or` on a cast id would read the whole table.
  select * into outfit from public.combines as c where c.status = 'approved' and c.slug = slug_or_id;
  if outfit.id is null and private.is_uuid(slug_or_id) then
    select * into outfit from public.combines as c where c.status = 'approved' and c.id = slug_or_id::uuid;
  end if;
  if outfit.id is null then
    return private.page_not_found('Outfit not found');
  end if;
  return jsonb_build_object(
    'title', outfit.name || ' · Lookbook',
    'description', left(coalesce(outfit.meta_description, outfit.description), 300),
    'image', outfit.main_image,
    'canonical', '/look/' || outfit.slug,
    'type', 'article',
    'preload', private.preload_page_picture(outfit.main_image, 1200),
    'data', private.vocabulary() || jsonb_build_object(
      'outfit', private.outfit_row(outfit),
      'outfit_items', (
        select coalesce(
          jsonb_agg(
            -- The list beside the picture shows less than an item's own page.
            private.item_row(i) - array['description', 'gender', 'colors', 'category', 'subcategory']
            order by array_position(outfit.item_ids, i.id)),
          '[]')
        from public.items as i where i.id = any (outfit.item_ids))));
end
$$;
comment on function private.describe_outfit(text) is
  'Head and rows of an outfit''s page.';

create function private.describe_item(slug_or_id text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  item public.items;
  brand public.brands;
begin
  select * into item from public.items as i where i.slug = slug_or_id;
  if item.id is null and private.is_uuid(slug_or_id) then
    select * into item from public.items as i where i.id = slug_or_id::uuid;
  end if;
  if item.id is null then
    return private.page_not_found('Item not found');
  end if;
  select * into brand from public.brands as b where b.id = item.brand_id;
  return jsonb_build_object(
    'title', item.name || ' by ' || brand.name || ' · Lookbook',
    'description', left(coalesce(item.meta_description, item.description), 300),
    'image', item.image,
    'canonical', '/product/' || item.slug,
    'type', 'product',
    'preload', private.preload_page_picture(item.image, 900),
    'data', private.vocabulary() || jsonb_build_object(
      'item', private.item_row(item),
      'brand', private.brand_row(brand),
      'item_outfits', (
        select coalesce(jsonb_agg(private.outfit_row(o)), '[]')
        from unnest(array(select o from public.outfits_with_item(item.id) as o limit 24)) as o)));
end
$$;
comment on function private.describe_item(text) is
  'Head and rows of an item''s page.';

create function private.describe_brand(id text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  brand public.brands;
  items public.items[];
begin
  if private.is_uuid(id) then
    select * into brand from public.brands as b where b.id = describe_brand.id::uuid;
  end if;
  if brand.id is null then
    return private.page_not_found('Brand not found');
  end if;
  items := array(
    select i from public.items as i where i.brand_id = brand.id order by i.created_at desc, i.id limit 24);
  return jsonb_build_object(
    'title', brand.name || ' · Lookbook',
    'description', left(coalesce(brand.meta_description, brand.description), 300),
    'image', (select i.image from unnest(items) as i where i.image is not null limit 1),
    'canonical', '/brands/' || brand.id,
    'preload', private.list_preload(array(select i.image from unnest(items) as i), 900),
    'data', jsonb_build_object(
      'brand', private.brand_row(brand),
      'brand_items', (select coalesce(jsonb_agg(private.item_row(i)), '[]') from unnest(items) as i)));
end
$$;
comment on function private.describe_brand(text) is
  'Head and rows of a brand''s page: the first page of its items.';

create function private.describe_profile(username text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  profile public.profiles;
  outfits public.combines[];
begin
  select * into profile from public.profiles as p where lower(p.username) = lower(describe_profile.username);
  if profile.id is null then
    return private.page_not_found('User Not Found');
  end if;
  outfits := array(
    select c from public.combines as c
    where c.status = 'approved' and c.user_id = profile.id order by c.created_at desc, c.id limit 24);
  return jsonb_build_object(
    'title', coalesce(profile.full_name, '@' || profile.username) || ' · Lookbook',
    'description', left(coalesce(profile.bio, 'Outfits by @' || profile.username), 300),
    'image', profile.avatar_url,
    'canonical', '/' || profile.username,
    'type', 'profile',
    'preload', private.list_preload(array(select o.main_image from unnest(outfits) as o), 1200),
    'data', private.vocabulary() || jsonb_build_object(
      'profile', jsonb_build_object(
        'id', profile.id, 'username', profile.username, 'full_name', profile.full_name,
        'avatar_url', profile.avatar_url, 'bio', profile.bio, 'instagram_url', profile.instagram_url,
        'twitter_url', profile.twitter_url, 'website_url', profile.website_url, 'created_at', profile.created_at),
      'creator_outfits', (select coalesce(jsonb_agg(private.outfit_row(o)), '[]') from unnest(outfits) as o)));
end
$$;
comment on function private.describe_profile(text) is
  'Head and rows of a creator''s page: the first page of approved outfits.';

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
    -- Slugs, ids and usernames hold no character that XML or an address would need escaped. A sitemap may have 50 000 entries.
    (select '/look/' || slug from public.combines where status = 'approved' order by created_at desc limit 25000)
    union all
    (select '/product/' || slug from public.items order by created_at desc limit 15000)
    union all
    (select '/brands/' || id from public.brands order by created_at desc limit 1000)
    union all
    (select '/' || username from public.profiles where username is not null order by created_at desc limit 8000)
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
begin
  return case
    when path = '/sitemap.xml' then jsonb_build_object('body', private.sitemap())
    when path = '/' then private.describe_home()
    when static is not null then static
    when cardinality(segments) = 1 then private.describe_profile(segments[1])
    when cardinality(segments) <> 2 then private.page_not_found('Page not found')
    when segments[1] = 'look' then private.describe_outfit(segments[2])
    when segments[1] = 'product' then private.describe_item(segments[2])
    when segments[1] = 'brands' then private.describe_brand(segments[2])
    else private.page_not_found('Page not found')
  end;
end
$$;
comment on function public.page_meta(text) is
  'Title, description, picture, canonical address, type, status, preloads and first rows of the page at a path; the whole body of robots.txt and sitemap.xml.';
