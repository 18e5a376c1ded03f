-- Discovery begins with the same outfits as the dashboard, so its page comes with the same rows and preloads.

create or replace function private.static_page_meta(path text) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select case path
    when '/auth' then jsonb_build_object('title', 'Sign In · Lookbook', 'canonical', '/auth')
    when '/discovery' then private.describe_home() || jsonb_build_object(
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
