-- More names that belong to the site: pages to come, and files of the built site. A name that somebody has already stays valid;
-- the check runs when a username is written.

create or replace function private.is_reserved_username(candidate text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select lower(candidate) = any (array[
    'about', 'admin', 'api', 'assets', 'auth', 'bookmarks', 'brand', 'brands', 'create', 'create-outfit', 'dashboard',
    'discovery', 'edit', 'explore', 'favicon.ico', 'favicon.svg', 'functions', 'graphql', 'health', 'help', 'index.html',
    'items', 'likes', 'login', 'logout', 'look', 'manifest.webmanifest', 'metrics', 'moderator', 'notifications', 'null',
    'outfits', 'pg', 'privacy', 'product', 'profile', 'profile-settings', 'realtime', 'reset', 'rest', 'robots.txt', 'root',
    'search', 'settings', 'signup', 'sitemap.xml', 'static', 'storage', 'support', 'terms', 'top', 'undefined', 'www'
  ])
$$;
