-- The retailer's number as text, so that the admin area finds an item by a part of it: PostgREST's filters cannot cast.

create function public.product_number(item public.items) returns text
  language sql
  immutable
  -- Without a search_path of its own, so that PostgreSQL inlines it; it names nothing that a search_path could change.
as $$
  select item.product_id::text
$$;
comment on function public.product_number(public.items) is 'The retailer''s number as text, for searches by a part of it.';
