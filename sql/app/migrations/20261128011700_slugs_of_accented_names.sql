-- "Chloé" became "chlo": letters with accents are their plain letters in an address.

create function private.plain_letters(name text) returns text
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  -- An accent is a sign of its own in this form. The letters below have none.
  select replace(replace(replace(replace(
    translate(
      regexp_replace(normalize(lower(name), nfkd), '[\u0300-\u036f]', '', 'g'),
      'øłđðı', 'olddi'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;
comment on function private.plain_letters(text) is 'The text in lower case, with Latin letters without their accents.';
