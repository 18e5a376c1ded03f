-- The version is compared before anything else: triggers fire in the order of their names, and a form that began with an older row got
-- the refusal of another trigger, about values that the person had never seen, in place of the newer row.

alter trigger brands_check_version on public.brands rename to brands_a_check_version;
alter trigger categories_check_version on public.categories rename to categories_a_check_version;
alter trigger subcategories_check_version on public.subcategories rename to subcategories_a_check_version;
alter trigger colors_check_version on public.colors rename to colors_a_check_version;
alter trigger styles_check_version on public.styles rename to styles_a_check_version;
alter trigger outfit_styles_check_version on public.outfit_styles rename to outfit_styles_a_check_version;
alter trigger items_check_version on public.items rename to items_a_check_version;
alter trigger combines_check_version on public.combines rename to combines_a_check_version;
alter trigger profiles_check_version on public.profiles rename to profiles_a_check_version;
alter trigger site_settings_check_version on public.site_settings rename to site_settings_a_check_version;
