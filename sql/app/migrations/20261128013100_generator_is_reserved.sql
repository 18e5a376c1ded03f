-- The API has a path that begins with `generator`, so nobody can take that as username. A name that somebody has already stays valid; the
-- check runs when a username is written.

create or replace function public.reserved_usernames() returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  -- A profile lives at /{username}: these first segments belong to the site or to the API.
  select array[
    'about', 'admin', 'api', 'assets', 'auth', 'bookmarks', 'brand', 'brands', 'create', 'create-outfit', 'dashboard',
    'discovery', 'edit', 'explore', 'favicon.ico', 'favicon.svg', 'functions', 'generator', 'graphql', 'health', 'help', 'index.html',
    'items', 'likes', 'login', 'logout', 'look', 'manifest.webmanifest', 'metrics', 'moderator', 'notifications', 'null',
    'outfits', 'pg', 'privacy', 'product', 'profile', 'profile-settings', 'realtime', 'reset', 'rest', 'robots.txt', 'root',
    'search', 'settings', 'signup', 'sitemap.xml', 'static', 'storage', 'support', 'terms', 'top', 'undefined', 'www'
  ]
$$;
