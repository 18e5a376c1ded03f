-- Pages behind the sign-in have an address that nobody can take as username. To the server they were missing pages, and it
-- answered 404 on a reload.

create function private.signed_in_page_title(path text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select case
    when path = '/create-outfit' then 'Create Outfit'
    when path = '/profile' then 'My Profile'
    when path = '/profile/edit' then 'Settings'
    when path = '/profile-settings' then 'Profile Settings'
    when path = '/admin' or path like '/admin/%' then 'Admin'
  end
$$;
comment on function private.signed_in_page_title(text) is
  'The title of a page that only signed-in people see; null for all other paths.';

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
    when path = '/robots.txt' then jsonb_build_object('body', format(
      E'User-agent: *\nAllow: /\nSitemap: %s/sitemap.xml\n', current_setting('request.origin', true)))
    when private.signed_in_page_title(path) is not null then jsonb_build_object(
      'title', private.signed_in_page_title(path) || ' · Lookbook', 'canonical', path)
    -- A word of the site without a page: nobody can have it as username, so it is not a missing user.
    when private.is_reserved_username(split_part(path, '/', 2)) and split_part(path, '/', 3) = ''
      then private.page_not_found('Page not found')
  end
$$;
