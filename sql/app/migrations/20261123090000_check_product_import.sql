-- What the import from a retailer (`[selvedge.import]` in config.toml) asks before it fetches anything.

-- The page of a product without what a shop adds to its address: the same product is found whichever link an
-- administrator has copied.
create function private.source_page(source_url text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select split_part(split_part(source_url, '#', 1), '?', 1)
$$;
comment on function private.source_page(text) is 'An address without query and fragment.';

create index items_source_page_idx on public.items (private.source_page(source_url)) where source_url is not null;

create function public.check_product_import(source_url text, product_id bigint, brand text default null) returns jsonb
  language plpgsql
  stable
  -- The caller's policies apply: items and brands are public.
  set search_path = ''
as $$
#variable_conflict use_variable
begin
  perform private.require_admin();
  return jsonb_build_object(
    'item_id', (
      select i.id from public.items as i
      where i.product_id = product_id or private.source_page(i.source_url) = private.source_page(source_url)
      limit 1),
    'brand_id', (
      select b.id from public.brands as b
      where lower(btrim(b.name)) = lower(btrim(brand))
      order by b.created_at
      limit 1));
end
$$;
comment on function public.check_product_import(text, bigint, text) is
  'Administrators only: the item with this address or retailer''s number, and the brand of this name, whatever its case; null where there is none.';

revoke execute on function public.check_product_import(text, bigint, text) from public, anon;
grant execute on function public.check_product_import(text, bigint, text) to authenticated;
