-- Pages carry the name of the site from the settings. The functions that describe pages write the product's name; here it is
-- replaced, and what differs from the built site is sent along for its script.

alter function public.page_meta(text) rename to describe_page;
alter function public.describe_page(text) set schema private;
comment on function private.describe_page(text) is
  'The page at a path as public.page_meta returns it, with the product''s own name.';

create function private.name_page(title text, site_name text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select case
    when title like '% · Lookbook' then left(title, -char_length('Lookbook')) || site_name
    when title like 'Lookbook · %' then site_name || substr(title, char_length('Lookbook') + 1)
    else title
  end
$$;
comment on function private.name_page(text, text) is
  'The title of a page with the name of the site in place of the product''s.';

create function public.page_meta(path text) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  page jsonb := private.describe_page(path);
  settings public.site_settings;
begin
  select * into settings from public.site_settings;
  -- Generated files have a body and no title.
  if not page ? 'title' or (settings.site_name, settings.registration_open) is not distinct from ('Lookbook', true) then
    return page;
  end if;
  return page || jsonb_build_object(
    'title', private.name_page(page ->> 'title', settings.site_name),
    'data', coalesce(page -> 'data', '{}') || jsonb_build_object(
      'site', jsonb_build_object('name', settings.site_name, 'registration_open', settings.registration_open)));
end
$$;
comment on function public.page_meta(text) is
  'Title, description, picture, canonical address, type, status, preloads and first rows of the page at a path, named as the settings say; the whole body of robots.txt and sitemap.xml.';
