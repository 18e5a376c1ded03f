-- Inserts the SAML part of an SSO provider ($1), or updates it. $2 entity id, $3 metadata document, $4 its URL, $5
-- attribute mapping, $6 name id format, $7 now.
-- The table has no unique key for the SSO provider, so the row is looked for first. A row of another provider with the same
-- entity id is never touched: the insert then violates the unique key of the entity id.
with updated as (
  update auth.saml_providers
  set metadata_xml = $3::text, metadata_url = $4::text, attribute_mapping = $5, name_id_format = $6::text, updated_at = $7
  where sso_provider_id = $1
  returning id
)
insert into auth.saml_providers (
  id, sso_provider_id, entity_id, metadata_xml, metadata_url, attribute_mapping, name_id_format, created_at, updated_at
)
select gen_random_uuid(), $1, $2::text, $3::text, $4::text, $5, $6::text, $7, $7
where not exists (select from updated)
