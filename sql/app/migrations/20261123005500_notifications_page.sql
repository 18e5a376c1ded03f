-- The page of all notifications, at an address that nobody can take as username.

create or replace function private.signed_in_page_title(path text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select case
    when path = '/create-outfit' then 'Create Outfit'
    when path = '/notifications' then 'Notifications'
    when path = '/profile' then 'My Profile'
    when path = '/profile/edit' then 'Settings'
    when path = '/profile-settings' then 'Profile Settings'
    when path = '/admin' or path like '/admin/%' then 'Admin'
  end
$$;
