-- Inserts the SAML part of an SSO provider, or updates the one with its entity id. $1 SSO provider, $2 entity id, $3
-- metadata document, $4 its URL, $5 attribute mapping, $6 name id format, $7 now.
insert into auth.saml_providers (
  id, sso_provider_id, entity_id, metadata_xml, metadata_url, attribute_mapping, name_id_format, created_at, updated_at
) values (gen_random_uuid(), $1, $2::text, $3::text, $4::text, $5, $6::text, $7, $7)
on conflict (entity_id) do update
set metadata_xml = excluded.metadata_xml, metadata_url = excluded.metadata_url,
    attribute_mapping = excluded.attribute_mapping, name_id_format = excluded.name_id_format, updated_at = $7
