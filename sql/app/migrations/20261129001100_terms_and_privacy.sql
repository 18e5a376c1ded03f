-- The pages with the terms and about privacy. Both words are reserved, so nobody has them as username.

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
    when path = '/robots.txt' then jsonb_build_object('body', format(
      E'User-agent: *\nAllow: /\nSitemap: %s/sitemap.xml\n', current_setting('request.origin', true)))
    when private.signed_in_page_title(path) is not null then jsonb_build_object(
      'title', private.signed_in_page_title(path) || ' · Lookbook', 'canonical', path)
    -- A word of the site without a page: nobody can have it as username, so it is not a missing user.
    when private.is_reserved_username(split_part(path, '/', 2)) and split_part(path, '/', 3) = ''
      then private.page_not_found('Page not found')
  end
$$;
