-- What is on the card that messengers show for a shared link: name, creator and whole pictures. The server draws it. Pages that are found by
-- their link alone say so to crawlers.

create function private.page_card(page jsonb, site_name text) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  select jsonb_build_object('wordmark', site_name) || case
    when data ? 'outfit' then jsonb_build_object(
      'heading', data -> 'outfit' ->> 'name',
      'line', 'by ' || coalesce(data #>> '{outfit,creator,full_name}', '@' || (data #>> '{outfit,creator,username}')),
      'pictures', jsonb_build_array(data -> 'outfit' -> 'main_image'))
    when data ? 'item' then jsonb_build_object(
      'heading', data -> 'item' ->> 'name',
      'line', data #>> '{item,brand,name}',
      'pictures', jsonb_build_array(data -> 'item' -> 'image'))
    when data ? 'profile' then jsonb_build_object(
      'heading', coalesce(data #>> '{profile,full_name}', '@' || (data #>> '{profile,username}')),
      'line', '@' || (data #>> '{profile,username}'),
      'pictures', coalesce(
        (select jsonb_agg(picture) from jsonb_path_query(data, '$.creator_outfits[*].main_image ? (@ != null)') as picture),
        jsonb_build_array(data -> 'profile' -> 'avatar_url')))
    when data ? 'brand' then jsonb_build_object(
      'heading', data -> 'brand' ->> 'name',
      'line', data -> 'brand' ->> 'description',
      'pictures', coalesce(
        (select jsonb_agg(picture) from jsonb_path_query(data, '$.brand_items[*].image ? (@ != null)') as picture), '[]'))
    when data ? 'newest_outfits' then jsonb_build_object(
      'heading', regexp_replace(page ->> 'title', '^Lookbook · | · Lookbook$', ''),
      'line', page ->> 'description',
      'pictures', coalesce(
        (select jsonb_agg(picture) from jsonb_path_query(data, '$.newest_outfits[*].main_image ? (@ != null)') as picture), '[]'))
  end
  from (select coalesce(page -> 'data', '{}')) as page_data (data)
$$;
comment on function private.page_card(jsonb, text) is
  'Heading, line, wordmark and pictures of a page''s card, from its rows; null for a page without pictures. Of the pictures the first four count.';

create or replace function public.page_meta(path text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  page jsonb := private.describe_page(path);
  settings public.site_settings;
  card jsonb;
begin
  select * into settings from public.site_settings;
  -- Generated files have a body and no title.
  if not page ? 'title' then
    return page;
  end if;
  card := private.page_card(page, coalesce(settings.site_name, 'Lookbook'));
  if (settings.site_name, settings.registration_open) is distinct from ('Lookbook', true) then
    page := page || jsonb_build_object(
      'title', private.name_page(page ->> 'title', settings.site_name),
      'data', coalesce(page -> 'data', '{}') || jsonb_build_object(
        'site', jsonb_build_object('name', settings.site_name, 'registration_open', settings.registration_open)));
  end if;
  return page || case
    when page ? 'status' then '{}'
    -- A page without an address of its own is for those who have its link: a shared collection, an unlisted outfit.
    when not page ? 'canonical' then '{"noindex": true}'
    when card is null then '{}'
    else jsonb_build_object('card', card)
  end;
end
$$;
comment on function public.page_meta(text) is
  'Title, description, picture, card, canonical address, type, status, preloads and first rows of the page at a path, named as the settings say, and whether crawlers leave it out; the whole body of robots.txt and sitemap.xml.';
